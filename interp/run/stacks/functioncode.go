package stacks

import (
	"errors"
	"go/token"
	"reflect"
	"runtime"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
)

// Package reflect makes the function values of cells, and all of them share one code address. Once
// a cell asks for the code of a function value, the function values of that cell and of later cells
// are recorded with their functions. Each function gets a program counter for its beginning, just
// as the points of stacks have program counters.

// FunctionCode is the function behind a function value.
type FunctionCode struct {
	Name string
	At   int // the position of its declaration
}

// functionCodes has the functions of the function values in use.
type functionCodes struct {
	by sync.Map // FunctionCode by the value's address, as a number
}

// addressOf returns an address as a number.
func addressOf(value *byte) uintptr { return reflect.ValueOf(value).Pointer() }

// Keep records the function of a value until the value is collected.
func (s *Stacks) Keep(value *byte, f FunctionCode) { s.codes.keep(value, f) }

func (c *functionCodes) keep(value *byte, f FunctionCode) {
	if _, kept := c.by.Swap(addressOf(value), f); !kept {
		runtime.AddCleanup(value, func(address uintptr) { c.by.Delete(address) }, addressOf(value))
	}
}

// Pointer is the method Pointer of reflect.Value.
func (s *Stacks) Pointer(v reflect.Value) uintptr {
	if function, ok := yaegi.FunctionOf(v); ok && function != nil {
		if f, ok := s.codes.by.Load(addressOf(function)); ok {
			f := f.(FunctionCode)
			file, line := s.FileLine(token.Pos(f.At))
			return s.points.counter(tracePoint{f.Name, file, line})
		}
	}
	return v.Pointer()
}

// errNoCode is the panic of runtime.FuncForPC for a function value whose function is not known.
var errNoCode = errors.New("runtime.FuncForPC of a function value that was made before a cell asked for the Pointer of one; define its function again")

// FuncForPC is runtime.FuncForPC.
func (s *Stacks) FuncForPC(pc uintptr) *runtime.Func {
	if _, f := s.points.at(pc); f != nil {
		return f
	}
	f := runtime.FuncForPC(pc)
	if name := f.Name(); name == "reflect.makeFuncStub" || name == "reflect.methodValueCall" {
		panic(errNoCode)
	}
	return f
}
