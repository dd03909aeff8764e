package interp

import (
	"context"
	"go/token"
	"io"
	"reflect"
	"sync"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/interp/run"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// Exports are symbol tables in the format that `yaegi extract` writes: by "import/path/name", then
// by identifier.
type Exports = contract.Exports

// Options are the arguments of New; the zero value gives a session with the standard library and
// symmem.
type Options struct {
	// Packages are tables in addition to those of the standard library and symmem; they take
	// precedence over symbols of the same name.
	Packages Exports
	// Names are packages that cells may use without an import, by the name that cells use. They are
	// added to display, fmt, math, strings, time and symm.
	Names map[string]string
	// ConvertError turns the error with which a cell panicked into an error of the session. It
	// returns nil for unknown errors.
	ConvertError func(error) *session.Error
	// Input is the standard input of cells; nil is an empty one. If it is os.Stdin, the cells are
	// treated as a program, and a fatal log message ends the process.
	Input io.Reader
	// Memory is the number of bytes that the values of cells may take; 0 means MemoryShare(1).
	Memory uint64
	// Trail, unless nil, is the memory in which the session keeps the positions of running code.
	Trail *session.Trail
	// Showing, unless nil, is called before the value of a cell is shown, which may call its methods, and
	// the function that it returns afterwards.
	Showing func() (shown func())
	// Inspect answers topics that do not concern the interpreter.
	Inspect func(context.Context, session.Query) (session.Answer, error)
}

// Interp is one session's interpreter. It implements session.Evaluator: calls of Eval never
// overlap, and Inspect may be called at any time.
type Interp struct {
	options  Options
	runtime  *run.Runtime
	imported map[string]bool // import paths of packages that yaegi knows

	mu      sync.Mutex // guards the following fields, for Inspect
	checker *check.Checker
	program *lower.Program
	help    *help.Guide
	texts   map[*check.Text]*keptText // texts of cells whose code may still run
	past    pastTexts                 // texts of cells whose code is gone
	// whether the cell that is being compiled can be debugged
	debugged bool
	breaks   map[int][]int // lines with breakpoints, by the number of the cell
	// the latest cell that failed to give a variable a value, by the variable's name
	unmade map[string]unmade
	// storage of variables whose names were defined again, which functions may still use
	retired []*lower.Storage
	freed   bool // functions are gone since the last check whether they use retired storage
	// the statements of the cell that ran last: its work on the device may fail after Eval, with a
	// position in it
	latest *interp.Program
	shown  func() // ends Options.Showing; nil unless a value is being shown
	// whether values of compiled types may hold code of cells, by type: see mayHoldCode
	holders map[reflect.Type]bool
}

// New makes an interpreter with an empty session.
func New(options Options) (*Interp, error) {
	in := &Interp{options: options, imported: map[string]bool{}, texts: map[*check.Text]*keptText{}, breaks: map[int][]int{},
		holders: map[reflect.Type]bool{}, unmade: map[string]unmade{}}
	if err := named.Check(); err != nil {
		return nil, err
	}
	if options.Memory == 0 {
		options.Memory = MemoryShare(1)
	}
	var err error
	if in.runtime, err = run.New(host{in}, options.Input, options.Memory, options.Packages); err != nil {
		return nil, err
	}
	if in.checker, err = check.New(in.runtime.Files(), symbols.Tables(options.Packages), options.Names); err != nil {
		return nil, err
	}
	in.program, in.help = lower.New(in.checker), help.New(in.checker)
	if err := in.declareOwn(); err != nil {
		return nil, err
	}
	if in.options.Trail == nil {
		in.options.Trail = new(session.Trail)
	}
	return in, in.runtime.ShareMarks(&in.options.Trail.Mark, &in.options.Trail.Call)
}

// MemoryShare returns the number of bytes that the values of cells may take if a number of
// processes share the machine: the environment variable GOMEMLIMIT if it is set, or else a third of
// the free memory divided by the number of processes.
func MemoryShare(processes int) uint64 { return limits.MemoryShare(processes) }

// Close ends the code that cells have left running.
func (in *Interp) Close() { in.runtime.Close() }

// The interfaces that a session uses.
var (
	_ session.Evaluator         = (*Interp)(nil)
	_ session.ActivityReporter  = (*Interp)(nil)
	_ session.LateCallReporter  = (*Interp)(nil)
	_ session.DebuggedEvaluator = (*Interp)(nil)
)

// host is the session as seen by the runtime.
type host struct{ in *Interp }

func (h host) Checker() *check.Checker { return h.in.checker }

func (h host) Bound(name string, pointer reflect.Value) {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	h.in.program.Bind(name, pointer)
}

func (h host) Locate(e *session.Error, at token.Pos) (function string) {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	for _, text := range h.in.texts {
		if text.Place(e, at) {
			return text.FunctionAt(at)
		}
	}
	return "a function"
}

func (h host) Directed(at token.Pos) (file string, line int, ok bool) {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	for _, text := range h.in.texts {
		if file, line, ok := text.Directed(at); ok {
			return file, line, true
		}
	}
	return "", 0, false
}

func (h host) Showing() {
	if h.in.options.Showing == nil {
		return
	}
	shown := h.in.options.Showing()
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	h.in.shown = shown
}

// endShowing calls the function that Showing has returned.
func (in *Interp) endShowing() {
	in.mu.Lock()
	shown := in.shown
	in.shown = nil
	in.mu.Unlock()
	if shown != nil {
		shown()
	}
}

func (h host) PanicError(value any) *session.Error { return h.in.errorOfPanic(value) }
