package run

import (
	"errors"
	"go/token"
	"reflect"
	"runtime"
	"strconv"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
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

// addressOf returns the number of an address.
func addressOf(value *byte) uintptr { return reflect.ValueOf(value).Pointer() }

// keep notes the function of a value until that is collected.
func (c *functionCodes) keep(value *byte, f functionCode) {
	if _, kept := c.by.Swap(addressOf(value), f); !kept {
		runtime.AddCleanup(value, func(address uintptr) { c.by.Delete(address) }, addressOf(value))
	}
}

// keeping is the step of a function literal that begins with Code, after that which makes the function.
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

// codeOf returns the function that a function literal is the value of, if that is known.
func codeOf(literal *yaegi.Node) (f functionCode, ok bool) {
	parts := entryOf(literal, Code)
	if parts == nil {
		return functionCode{}, false
	}
	name, err1 := strconv.Unquote(parts[1].Name())
	at, err2 := strconv.Atoi(parts[2].Name())
	return functionCode{name, at}, err1 == nil && err2 == nil
}

// pointer is the method Pointer of a reflect.Value.
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
