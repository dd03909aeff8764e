package yaegi

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Interpreter is one of yaegi's interpreters. Only one goroutine at a time may compile programs,
// make steps, inspect generators, or change the meaning of names.
type Interpreter struct {
	*interp.Interpreter
	memory     *interpreter       // memory of the same interpreter
	pkg        string             // the package of all cells
	declared   func(reflect.Type) // see Open
	generators map[uintptr]string // the names of generators, by address
	boxes      reflect.Type       // the type of boxes
	boxType    unsafe.Pointer     // its descriptor
	// a channel operation of interpreted code ends when it receives from it
	ended chan<- struct{}
}

// Open wraps an interpreter that has just been made. All cells will be in package pkg. Declared is
// called with the type of each package-level variable before the variable is created. Open returns
// an error if yaegi or Go is not as this package expects.
func Open(y *interp.Interpreter, pkg string, declared func(reflect.Type)) (*Interpreter, error) {
	if err := check(); err != nil {
		return nil, err
	}
	m := (*interpreter)(unsafe.Pointer(y))
	m.cancelChan = true
	// the same channel for ever, because closures keep the channel of their cell
	m.done = make(chan struct{})
	return &Interpreter{Interpreter: y, memory: m, pkg: pkg, declared: declared, generators: map[uintptr]string{}, ended: m.done}, nil
}

func programOf(p *interp.Program) *program { return (*program)(unsafe.Pointer(p)) }

// Run runs a compiled program. It first allocates the variables that the program declares, because
// yaegi would copy all existing variables for each program.
func (y *Interpreter) Run(p *interp.Program) (reflect.Value, error) {
	types, frame := y.memory.universe.types, y.memory.frame
	for _, t := range types[min(len(frame.data), len(types)):] {
		v := reflect.New(t).Elem()
		frame.data = append(frame.data, *valueOf(&v))
		y.declared(t)
	}
	return y.Execute(p)
}

// Move makes a package-level variable use other memory. It reports whether there is a variable at
// from.
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

// Stop makes all interpreted code end at its next step, because its frames no longer have the
// current number; waits on channels return. Resume makes the frames live again, so that closures
// made before still run.
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
		<-gone // otherwise it might end a channel operation of code that runs again
		atomic.StoreUint64(&y.memory.id, id)
	}
}

// BodyFunction is the name of the function that runs the body of a cell's function. It is on the
// stack once for each call that this package's step makes.
const BodyFunction = StepPrefix + "(*Interpreter).runBody"

// CallFunction is the name of the function by which yaegi runs such a body.
const CallFunction = FunctionPrefix + "runCfg"

// StepPrefix is the prefix of the names of this package's functions, and so of its steps.
const StepPrefix = "github.com/symmrepl/symmrepl/interp/internal/yaegi."

// runBody runs the body of a function in its frame, like yaegi's runCfg.
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

// Forget drops data about compiled trees that yaegi keeps but never uses; otherwise every cell's
// tree would stay for ever.
func (y *Interpreter) Forget() error {
	y.memory.roots = nil
	main, err := y.main()
	if err != nil {
		return err
	}
	main.child = nil
	return nil
}
