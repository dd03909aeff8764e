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
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/interp/run/standing"
	"github.com/symmrepl/symmrepl/interp/run/trees"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// Host is the session that code runs for. Its methods may be called by any goroutine of a cell.
type Host interface {
	// Checker returns the checker, which has the types of cells.
	Checker() *check.Checker
	// Bound is called when yaegi has created a variable of the session; pointer points to it.
	Bound(name string, pointer reflect.Value)
	// Locate sets the place in an error if the position is in the text of a cell that may still
	// run, and returns a name for the function there.
	Locate(e *session.Error, at token.Pos) (function string)
	// Directed returns the file and the line that a line directive gives to a position. File is ""
	// if no directive applies, and ok is false if the directive gives no line.
	Directed(at token.Pos) (file string, line int, ok bool)
	// PanicError returns the error of a panic with a value.
	PanicError(value any) *session.Error
	// Showing is called when the statements of a cell have ended and its value is about to be shown.
	Showing()
}

// Runtime runs the code of cells: it has the functions that lowered code calls, and starts and
// stops the code. It runs the code of one cell at a time, beside the goroutines that earlier cells
// have started.
type Runtime struct {
	Limits  *limits.Limits
	Natives *native.Types
	Stacks  *stacks.Stacks
	Stops   *standing.Stops
	Trees   *trees.Trees
	host    Host
	yaegi   *yaegi.Interpreter
	stdin   stdin
	program bool         // the cells are a program, which may end the process
	busy    atomic.Int64 // how many cells and goroutines of cells run
	// postponed counts how often cells have scheduled a function for later, with time.AfterFunc and
	// the like. It never decreases, because a cell that holds a timer may reset it.
	postponed atomic.Int64
	// the execution by goroutine number, for goroutines that run code of cells and recover from its
	// panics
	own sync.Map

	// closed when the execution that was stopped last no longer runs interpreted code; nil before
	// the first stop
	halting atomic.Pointer[chan struct{}]

	turn    sync.Mutex // held by the cell that runs
	stopped *stopped   // an execution that was stopped but has not ended; guarded by turn

	mu        sync.Mutex
	execution *execution
	ctx       context.Context  // ends when interpreted code has to stop
	cancel    func()           // ends ctx
	late      []*stacks.Defers // functions that were stopped before their deferred calls
	// calls of abandoned executions, including those that returned since Calls was last called
	calls  []Call
	values []reflect.Value // pointers to the values of the last expression
	texts  map[int]string  // texts of the values that describe themselves, by index
	forms  display.Data    // in which the value is shown besides text
	shown  bool
}

// New returns a runtime whose code may use the packages of package symbols and others; others takes
// precedence. Input is the standard input of cells: nil for an empty one, and os.Stdin for a
// program, which may end the process. Memory is how many bytes the values of cells may take.
func New(host Host, input io.Reader, memory uint64, others contract.Exports) (*Runtime, error) {
	rt := &Runtime{host: host, stdin: newStdin(input), program: input == io.Reader(os.Stdin)}
	rt.Stacks = stacks.New(host, rt.leave)
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.Limits = limits.New(memory, rt.Busy, rt.exceeded)
	y := interp.New(interp.Options{Stderr: foreignPanics{rt}})
	err := errors.Join(checkLogger(), unexported.CheckTrace())
	if err != nil {
		return nil, err
	}
	if rt.yaegi, err = yaegi.Open(y, check.PackageName, native.MendEqual); err != nil {
		return nil, err
	}
	rt.Natives = native.New(rt.yaegi, func() *check.Checker { return host.Checker() })
	rt.Stops = standing.New(rt.Stacks, rt.context, rt.leaveAbandoned)
	rt.Trees = trees.New(rt.yaegi, rt.Natives, rt.Stacks, rt.Stops, trees.Control{Leave: rt.leaveAbandoned, Recovers: rt.recovers})
	rt.yaegi.Provide(symbols.Tables(rt.overrides(), rt.stdin.symbols(), rt.exports(), others))
	return rt, nil
}

// Yaegi returns the interpreter that runs lowered code.
func (rt *Runtime) Yaegi() *yaegi.Interpreter { return rt.yaegi }

// Files returns the set of files of the positions in interpreted code.
func (rt *Runtime) Files() *token.FileSet { return rt.yaegi.FileSet() }

// begin prepares for an execution. Until a statement stores its position, the position is the first
// statement's.
func (rt *Runtime) begin(x *execution) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if stmts := x.cell.Stmts; len(stmts) > 0 {
		*rt.Stacks.Mark, *rt.Stacks.CallMark = int(stmts[0].Pos()), int(stmts[0].Pos())
	}
	rt.execution, rt.values, rt.texts, rt.forms, rt.shown = x, nil, nil, display.Data{}, false
	rt.Stops.Halt(false)
}

// current returns the execution of the running cell, or of the last one.
func (rt *Runtime) current() *execution {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.execution
}

// enter notes that the calling goroutine runs code of an execution and recovers from its panics,
// until leave is called.
func (rt *Runtime) enter(x *execution) (leave func()) {
	id := goid.Get()
	rt.own.Store(id, x)
	return func() { rt.own.Delete(id) }
}

// started notes that a cell or a goroutine of a cell runs. The caller decrements busy when it has
// ended.
func (rt *Runtime) started() {
	first := rt.busy.Add(1) == 1
	rt.Limits.Begin(first)
}

// context returns the context that ends when interpreted code has to stop.
func (rt *Runtime) context() context.Context {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.ctx
}

// stopWaits ends the waits of interpreted code, and also those that begin before resume is called.
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

// bind records where yaegi keeps a variable.
func (rt *Runtime) bind(name string, pointer any) {
	switch name {
	case contract.MarkVar:
		rt.Stacks.Mark = pointer.(*int)
		return
	case contract.CallVar:
		rt.Stacks.CallMark = pointer.(*int)
		return
	case contract.PanickingVar:
		rt.Stacks.Count(pointer.(*int))
		return
	case contract.BoxVar:
		rt.yaegi.SetBoxes(reflect.TypeOf(pointer).Elem())
		return
	}
	rt.host.Bound(name, reflect.ValueOf(pointer))
}

// ShareMarks moves the variables of Position and CallPosition from yaegi's heap to mark and call.
// It is called before any cell runs.
func (rt *Runtime) ShareMarks(mark, call *int) error {
	for _, m := range []struct {
		of *(*int)
		to *int
	}{{&rt.Stacks.Mark, mark}, {&rt.Stacks.CallMark, call}} {
		*m.to = **m.of
		if !rt.yaegi.Move(*m.of, m.to) {
			return errors.New("interp: the variables that hold positions are not where they are bound")
		}
		*m.of = m.to
	}
	return nil
}

// Position returns the position of the statement that ran last.
func (rt *Runtime) Position() token.Pos { return token.Pos(*rt.Stacks.Mark) }

// CallPosition returns the position of the cell's own statement that ran last. It differs from
// Position while a function runs that the statement has called.
func (rt *Runtime) CallPosition() token.Pos { return token.Pos(*rt.Stacks.CallMark) }
