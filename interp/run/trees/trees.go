package trees

import (
	"sync"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/interp/run/standing"
)

// Trees compiles and executes programs of a session.
type Trees struct {
	// Abandoned is 0 if no execution is being stopped, and none is abandoned and still has goroutines.
	Abandoned atomic.Int64

	yaegi   *yaegi.Interpreter
	natives *native.Types
	stacks  *stacks.Stacks
	stops   *standing.Stops
	control Control
	making  sync.Mutex // held while compiling, or making steps
	// printsItself is set once code of cells has used the variable os.Stdout: see printing.
	printsItself atomic.Bool
}

// Control has the functions of the runtime that code in trees calls.
type Control struct {
	// Leave ends the calling goroutine if its execution was abandoned.
	Leave func()
	// Recovers reports whether the calling goroutine recovers from panics of cells. On another
	// goroutine a panic may end the process.
	Recovers func() bool
}

// New returns trees that use the other parts of a runtime.
func New(y *yaegi.Interpreter, natives *native.Types, stacks *stacks.Stacks, stops *standing.Stops, control Control) *Trees {
	return &Trees{yaegi: y, natives: natives, stacks: stacks, stops: stops, control: control}
}
