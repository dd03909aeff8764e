package run

import (
	"errors"
	"go/token"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// Function values of cells are functions that package reflect makes, all of one code. Once a cell asks for the code of a function value, those of that cell and of
// later ones are kept with the functions that they are of, which have program counters as the points of stacks have: where they begin.

// functionCode is the function that a value is of.
type functionCode struct {
	name string
	at   int // the position where it is declared
}

// functionCodes are the functions of values that are in use.
type functionCodes struct {
	by sync.Map // functionCode by the number of the value's address
}

// keep notes the function of a value until that is collected.
func (c *functionCodes) keep(value unsafe.Pointer, f functionCode) {
	if _, kept := c.by.Swap(uintptr(value), f); !kept {
		runtime.AddCleanup((*byte)(value), func(address uintptr) { c.by.Delete(address) }, uintptr(value))
	}
}

// keeping is the step of a function literal that begins with Code, after that which makes the function.
func (rt *Runtime) keeping(node unsafe.Pointer, f functionCode, plain step) step {
	result, ok := rt.yaegi.nodes.placeOf(node)
	if !ok || result.constant != nil {
		return plain
	}
	return func(frame unsafe.Pointer) step {
		next := plain(frame)
		if v := result.in(frame); v.is(reflect.Func) {
			rt.codes.keep(v.function(), f)
		}
		return next
	}
}

// function returns the address of a function, which is not that of its code.
func (v *value) function() unsafe.Pointer {
	if v.flag&indirect != 0 {
		return *(*unsafe.Pointer)(v.ptr)
	}
	return v.ptr
}

// codeOf returns the function that a function literal is the value of, if that is known.
func (n *nodes) codeOf(literal unsafe.Pointer) (f functionCode, ok bool) {
	parts := n.entryOf(literal, Code)
	if parts == nil {
		return functionCode{}, false
	}
	name, err1 := strconv.Unquote(n.nameOf(parts[1]))
	at, err2 := strconv.Atoi(n.nameOf(parts[2]))
	return functionCode{name, at}, err1 == nil && err2 == nil
}

// pointer is the method Pointer of a reflect.Value.
func (rt *Runtime) pointer(v reflect.Value) uintptr {
	if v.Kind() == reflect.Func && !v.IsNil() {
		if f, ok := rt.codes.by.Load(uintptr(asValue(&v).function())); ok {
			f := f.(functionCode)
			file, line := rt.fileLine(token.Pos(f.at))
			return rt.callers.points.counter(tracePoint{f.name, file, line})
		}
	}
	return v.Pointer()
}

// errNoCode is the panic of runtime.FuncForPC of a function value whose function is not known.
var errNoCode = errors.New("runtime.FuncForPC of a function value that was made before a cell asked for the Pointer of one; define its function again")

// runtimeFunc is runtime.FuncForPC.
func (rt *Runtime) runtimeFunc(pc uintptr) *runtime.Func {
	if _, f := rt.callers.points.at(pc); f != nil {
		return f
	}
	f := runtime.FuncForPC(pc)
	if name := f.Name(); name == "reflect.makeFuncStub" || name == "reflect.methodValueCall" {
		panic(errNoCode)
	}
	return f
}
