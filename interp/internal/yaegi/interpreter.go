package yaegi

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Interpreter is an interpreter of yaegi's. Compiling programs, making steps and what looks at generators is done by one goroutine at a time; so is what changes the
// meaning of names.
type Interpreter struct {
	*interp.Interpreter
	memory     *interpreter       // of the same
	pkg        string             // the package of all cells
	declared   func(reflect.Type) // see Open
	generators map[uintptr]string // the names of generators, by address
	boxes      reflect.Type       // of values in interfaces with methods
	boxType    unsafe.Pointer     // the same
	ended      chan<- struct{}    // ends the channel operation that receives from it
}

// Open returns an interpreter with what it has no exported way to. The interpreter has just been made, and all cells will be of package pkg; declared is called with
// the type of each package-level variable before that is made. It is an error if yaegi or Go is not what this package takes it for.
func Open(y *interp.Interpreter, pkg string, declared func(reflect.Type)) (*Interpreter, error) {
	if err := check(); err != nil {
		return nil, err
	}
	m := (*interpreter)(unsafe.Pointer(y))
	m.cancelChan = true
	m.done = make(chan struct{}) // one channel for all time: closures keep that of their cell
	return &Interpreter{Interpreter: y, memory: m, pkg: pkg, declared: declared, generators: map[uintptr]string{}, ended: m.done}, nil
}

func programOf(p *interp.Program) *program { return (*program)(unsafe.Pointer(p)) }

// Run runs a compiled program. It makes room for the variables that the program declares before yaegi does, which copies all there are for each program.
func (y *Interpreter) Run(p *interp.Program) (reflect.Value, error) {
	types, frame := y.memory.universe.types, y.memory.frame
	for _, t := range types[min(len(frame.data), len(types)):] {
		v := reflect.New(t).Elem()
		frame.data = append(frame.data, *valueOf(&v))
		y.declared(t)
	}
	return y.Execute(p)
}

// Move makes other memory that of a package-level variable. It reports whether there is one at from.
func (y *Interpreter) Move(from, to *int) bool {
	data := y.memory.frame.data
	for i := range data {
		if data[i].isVariable(reflect.Int) && data[i].int() == from {
			data[i].Set(reflect.ValueOf(to).Elem())
			return true
		}
	}
	return false
}

// Stop makes all interpreted code end at its next step, as no frame carries the number any more, and waits on channels return. What it
// returns makes the frames live again: closures made before run as before.
func (y *Interpreter) Stop() (resume func()) {
	id := atomic.AddUint64(&y.memory.id, 1) - 1
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case y.ended <- struct{}{}:
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-gone // else it might end a channel operation of code that runs again
		atomic.StoreUint64(&y.memory.id, id)
	}
}

// BodyFunction is the name of the function that runs the body of a function of a cell, one of which is on the stack for each call that is not yaegi's.
const BodyFunction = StepPrefix + "(*Interpreter).runBody"

// CallFunction is the same of yaegi's.
const CallFunction = FunctionPrefix + "runCfg"

// StepPrefix is that of the names of this package's functions, and so of its steps.
const StepPrefix = "github.com/symmrepl/symmrepl/interp/internal/yaegi."

// runBody runs the body of a function in its frame, as yaegi does.
//
//go:noinline
func (y *Interpreter) runBody(next Step, frame *Frame) {
	for next != nil && atomic.LoadUint64(&frame.id) == atomic.LoadUint64(&y.memory.id) {
		next = next(frame)
	}
}

// main returns the scope of the package of all cells.
func (y *Interpreter) main() (*scope, error) {
	main := y.memory.scopes[y.pkg]
	if main == nil {
		return nil, errors.New("interp: there is no package " + y.pkg)
	}
	return main, nil
}

// Forget drops what yaegi keeps of compiled trees but never uses: without it every cell's tree would stay for ever.
func (y *Interpreter) Forget() error {
	y.memory.roots = nil
	main, err := y.main()
	if err != nil {
		return err
	}
	main.child = nil
	return nil
}
