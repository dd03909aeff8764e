package executions

import (
	"context"
	"go/token"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/limits"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/shown"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/interp/run/standing"
	"github.com/symmrepl/symmrepl/interp/run/trees"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// Host is the session that code runs for. Its methods may be called by any goroutine of a cell.
type Host interface {
	stacks.Host
	// Checker returns the checker, which has the types of cells.
	Checker() *check.Checker
	// PanicError returns the error of a panic with a value.
	PanicError(value any) *session.Error
}

// Executions run the code of cells, and start and stop it: the code of one cell at a time, beside the
// goroutines that earlier cells have started.
type Executions struct {
	Limits  *limits.Limits
	Natives *native.Types
	Stacks  *stacks.Stacks
	Stops   *standing.Stops
	Trees   *trees.Trees
	Shown   shown.Values
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
	calls []Call
}

// New returns executions that have an interpreter without packages. Input is the standard input of
// cells: nil for an empty one, and os.Stdin for a program, which may end the process. Memory is how many
// bytes the values of cells may take.
func New(host Host, input io.Reader, memory uint64) (*Executions, error) {
	es := &Executions{host: host, stdin: newStdin(input), program: input == io.Reader(os.Stdin)}
	es.ctx, es.cancel = context.WithCancel(context.Background())
	y, err := yaegi.Open(interp.New(interp.Options{Stderr: foreignPanics{es}}), check.PackageName, native.MendEqual)
	if err != nil {
		return nil, err
	}
	es.yaegi = y
	es.Limits = limits.New(memory, es.Busy, es.exceeded)
	es.Natives = native.New(y, func() *check.Checker { return host.Checker() })
	es.Stacks = stacks.New(host, es.leave)
	es.Stops = standing.New(es.Stacks, es.context, es.leaveAbandoned)
	es.Trees = trees.New(y, es.Natives, es.Stacks, es.Stops, trees.Control{Leave: es.leaveAbandoned, Recovers: es.recovers})
	return es, nil
}

// IsProgram reports whether the cells are a program, which may end the process.
func (es *Executions) IsProgram() bool { return es.program }

// Yaegi returns the interpreter that runs lowered code.
func (es *Executions) Yaegi() *yaegi.Interpreter { return es.yaegi }

// Position returns the position of the statement that ran last.
func (es *Executions) Position() token.Pos { return token.Pos(*es.Stacks.Mark) }

// CallPosition returns the position of the cell's own statement that ran last. It differs from
// Position while a function runs that the statement has called.
func (es *Executions) CallPosition() token.Pos { return token.Pos(*es.Stacks.CallMark) }

// begin prepares for an execution. Until a statement stores its position, the position is the first
// statement's.
func (es *Executions) begin(x *execution) {
	es.Shown.SetAside()
	es.mu.Lock()
	defer es.mu.Unlock()
	if stmts := x.cell.Stmts; len(stmts) > 0 {
		*es.Stacks.Mark, *es.Stacks.CallMark = int(stmts[0].Pos()), int(stmts[0].Pos())
	}
	es.execution = x
	es.Stops.Halt(false)
}

// current returns the execution of the running cell, or of the last one.
func (es *Executions) current() *execution {
	es.mu.Lock()
	defer es.mu.Unlock()
	return es.execution
}

// enter notes that the calling goroutine runs code of an execution and recovers from its panics,
// until leave is called.
func (es *Executions) enter(x *execution) (leave func()) {
	id := goid.Get()
	es.own.Store(id, x)
	return func() { es.own.Delete(id) }
}

// started notes that a cell or a goroutine of a cell runs. The caller decrements busy when it has
// ended.
func (es *Executions) started() {
	first := es.busy.Add(1) == 1
	es.Limits.Begin(first)
}

// context returns the context that ends when interpreted code has to stop.
func (es *Executions) context() context.Context {
	es.mu.Lock()
	defer es.mu.Unlock()
	return es.ctx
}

// stopWaits ends the waits of interpreted code, and also those that begin before resume is called.
func (es *Executions) stopWaits() (resume func()) {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.cancel()
	return func() {
		es.mu.Lock()
		defer es.mu.Unlock()
		es.ctx, es.cancel = context.WithCancel(context.Background())
	}
}
