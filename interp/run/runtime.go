package run

import (
	"context"
	"errors"
	"go/token"
	"io"
	"os"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/display"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// Exports are symbol tables: by "import/path/name", then by identifier.
type Exports = interp.Exports

// Replacement is a function or method that is defined again.
type Replacement = yaegi.Replacement

// Tree returns the tree of a compiled program, for runtime.AddCleanup: positions and function literals of the program are in use as long as it is reachable.
func Tree(p *interp.Program) *yaegi.Node { return yaegi.Tree(p) }

// Host is the session that code runs for. Its methods may be called by any goroutine of a cell.
type Host interface {
	// Checker knows the types of cells.
	Checker() *check.Checker
	// Bound is called when yaegi has made a variable of the session: pointer points to it.
	Bound(name string, pointer reflect.Value)
	// Locate puts a position into an error, if it is one in the text of a cell that may still run, and returns what to call the function there.
	Locate(e *session.Error, at token.Pos) (function string)
	// Directed returns the file and the line that a line directive gives to a position. The file is "" if it gives none, and it is not ok if it does not give a line.
	Directed(at token.Pos) (file string, line int, ok bool)
	// PanicError returns the error of a panic with a value.
	PanicError(value any) *session.Error
}

// Runtime runs the code of cells: it is what lowered code calls, and what starts and stops it. Code of one cell runs at a time, beside the goroutines that
// earlier cells have started.
type Runtime struct {
	host    Host
	yaegi   *yaegi.Interpreter
	natives *natives
	stdin   stdin
	program bool // the cells are a program's, which may end the process
	panics  panicStacks
	callers callStacks
	codes   functionCodes
	mark    *int         // position of the statement that runs
	call    *int         // that of the cell's own statement
	busy    atomic.Int64 // how many cells and goroutines of cells run
	// postponed is how often cells have left something to be done at a later time. What is done is not taken off: who holds a timer may set it again.
	postponed atomic.Int64
	stacks    *watch
	memory    *watch
	own       sync.Map // by the number of each goroutine that runs code of cells and recovers from its panics: the execution

	making sync.Mutex // held by who compiles, or makes steps

	abandoned atomic.Int64                  // 0 if no execution is being stopped, nor was abandoned and has not left
	halting   atomic.Pointer[chan struct{}] // closed when the execution that is stopped last no longer runs interpreted code; nil before the first

	turn    sync.Mutex // held by the cell that runs
	stopped *stopped   // an execution that has not left; guarded by turn

	mu        sync.Mutex
	execution *execution
	ctx       context.Context // ends when interpreted code is to stop
	cancel    func()          // ends it
	late      []*defers       // of functions that were stopped
	calls     []Call          // of abandoned executions, those too that have returned since Calls was called
	values    []reflect.Value // pointers to the values of the last expression
	texts     map[int]string  // of those that describe themselves
	forms     display.Data    // in which the value is shown, other than text
	shown     bool
}

// New returns a runtime whose code may use the packages of package symbols and others, which replace symbols of the same name. Input is the standard
// input of cells; nil is an empty one, and os.Stdin that of a program, which may end the process. Memory is how many bytes the values of cells may take.
func New(host Host, input io.Reader, memory uint64, others Exports) (*Runtime, error) {
	rt := &Runtime{host: host, stdin: newStdin(input), program: input == io.Reader(os.Stdin), panics: panicStacks{by: map[int64][]*Panic{}}}
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.stacks, rt.memory = &watch{rt: rt, limit: newStackLimit()}, &watch{rt: rt, limit: &memoryLimit{most: memory, available: availableMemory}}
	y := interp.New(interp.Options{Stdin: nowhere{}, Stdout: stdout{}, Stderr: foreignPanics{rt}, Unrestricted: true})
	err := errors.Join(checkLogger(), unexported.CheckTrace())
	if err != nil {
		return nil, err
	}
	if rt.yaegi, err = yaegi.Open(y, check.PackageName, mendEqual); err != nil {
		return nil, err
	}
	rt.natives = newNatives(rt.yaegi, func() *check.Packages { return host.Checker().Packages() })
	if err := y.Use(symbols.Tables(rt.overrides(), rt.stdin.symbols(), rt.exports(), others)); err != nil {
		return nil, err
	}
	// The interpreter replaces some symbols of the standard library by its own when it is given the tables; a second
	// time puts ours back.
	for _, symbols := range []Exports{overridesAfterUse(), rt.stdin.symbolsAfterUse()} {
		if err := y.Use(symbols); err != nil {
			return nil, err
		}
	}
	return rt, nil
}

// Yaegi is the interpreter that runs lowered code.
func (rt *Runtime) Yaegi() *yaegi.Interpreter { return rt.yaegi }

// Files is the set of files that positions of interpreted code are in.
func (rt *Runtime) Files() *token.FileSet { return rt.yaegi.FileSet() }

// begin prepares for an execution. Until a statement is marked, its position is that of the first.
func (rt *Runtime) begin(x *execution) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if stmts := x.cell.Stmts; len(stmts) > 0 {
		*rt.mark, *rt.call = int(stmts[0].Pos()), int(stmts[0].Pos())
	}
	rt.execution, rt.values, rt.texts, rt.forms, rt.shown = x, nil, nil, display.Data{}, false
}

// current returns the execution of the cell that runs, or of the last one.
func (rt *Runtime) current() *execution {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.execution
}

// enter notes that the calling goroutine runs code of an execution and recovers from its panics, until leave.
func (rt *Runtime) enter(x *execution) (leave func()) {
	id := goid.Get()
	rt.own.Store(id, x)
	return func() { rt.own.Delete(id) }
}

// started notes that a cell or a goroutine of a cell runs. The caller lowers busy when it has ended.
func (rt *Runtime) started() {
	first := rt.busy.Add(1) == 1
	rt.stacks.arm(first)
	rt.memory.arm(first)
}

// context returns the context that ends when interpreted code is to stop.
func (rt *Runtime) context() context.Context {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.ctx
}

// stopWaits ends the waits of interpreted code, those too that begin before resume is called.
func (rt *Runtime) stopWaits() (resume func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.cancel()
	return func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.ctx, rt.cancel = context.WithCancel(context.Background())
	}
}

// bind remembers where yaegi keeps a variable.
func (rt *Runtime) bind(name string, pointer any) {
	switch name {
	case MarkVar:
		rt.mark = pointer.(*int)
		return
	case CallVar:
		rt.call = pointer.(*int)
		return
	case PanickingVar:
		rt.panics.count = pointer.(*int)
		return
	case BoxVar:
		rt.yaegi.SetBoxes(reflect.TypeOf(pointer).Elem())
		return
	}
	rt.host.Bound(name, reflect.ValueOf(pointer))
}

// ShareMarks makes other memory than that of yaegi's heap hold Position and CallPosition. It is called before any cell runs.
func (rt *Runtime) ShareMarks(mark, call *int) error {
	for _, m := range []struct {
		of *(*int)
		to *int
	}{{&rt.mark, mark}, {&rt.call, call}} {
		*m.to = **m.of
		if !rt.yaegi.Move(*m.of, m.to) {
			return errors.New("interp: the variables that hold positions are not where they are bound")
		}
		*m.of = m.to
	}
	return nil
}

// Position is that of the statement which ran last.
func (rt *Runtime) Position() token.Pos { return token.Pos(*rt.mark) }

// CallPosition is that of the cell's own statement which ran last: another one while a function runs that it has called.
func (rt *Runtime) CallPosition() token.Pos { return token.Pos(*rt.call) }
