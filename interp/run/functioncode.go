package run

import (
	"errors"
	"go/token"
	"reflect"
	"runtime"
	"strconv"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Package reflect makes the function values of cells, and all of them share one code address. Once
// a cell asks for the code of a function value, the function values of that cell and of later cells
// are recorded with their functions. Each function gets a program counter for its beginning, just
// as the points of stacks have program counters.

// functionCode is the function behind a function value.
type functionCode struct {
	name string
	at   int // the position of its declaration
}

// functionCodes has the functions of the function values in use.
type functionCodes struct {
	by sync.Map // functionCode by the value's address, as a number
}

// addressOf returns an address as a number.
func addressOf(value *byte) uintptr { return reflect.ValueOf(value).Pointer() }

// keep records the function of a value until the value is collected.
func (c *functionCodes) keep(value *byte, f functionCode) {
	if _, kept := c.by.Swap(addressOf(value), f); !kept {
		runtime.AddCleanup(value, func(address uintptr) { c.by.Delete(address) }, addressOf(value))
	}
}

// keeping returns the step of a function literal that begins with Code: it makes the function value
// by the step plain, and records f for it.
func (rt *Runtime) keeping(node *yaegi.Node, f functionCode, plain yaegi.Step) yaegi.Step {
	result, ok := node.Result()
	if !ok {
		return plain
	}
	return func(frame *yaegi.Frame) yaegi.Step {
		next := plain(frame)
		if function, ok := result.In(frame).Function(); ok {
			rt.codes.keep(function, f)
		}
		return next
	}
}

// codeOf returns the function behind a function literal, if it is known.
func codeOf(literal *yaegi.Node) (f functionCode, ok bool) {
	parts := entryOf(literal, contract.Code)
	if parts == nil {
		return functionCode{}, false
	}
	name, err1 := strconv.Unquote(parts[1].Name())
	at, err2 := strconv.Atoi(parts[2].Name())
	return functionCode{name, at}, err1 == nil && err2 == nil
}

// pointer is the method Pointer of reflect.Value.
func (rt *Runtime) pointer(v reflect.Value) uintptr {
	if function, ok := yaegi.FunctionOf(v); ok && function != nil {
		if f, ok := rt.codes.by.Load(addressOf(function)); ok {
			f := f.(functionCode)
			file, line := rt.fileLine(token.Pos(f.at))
			return rt.callers.points.counter(tracePoint{f.name, file, line})
		}
	}
	return v.Pointer()
}

// errNoCode is the panic of runtime.FuncForPC for a function value whose function is not known.
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
