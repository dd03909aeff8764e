package run

import (
	"go/types"
	"reflect"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A value method that is called with a nil pointer through an interface panics with an error of its own, which names the method. That, and the panic of a call of a
// method of an interface that holds nothing, begins when the arguments have been evaluated.

// calledWithNil returns that error for a type of pointers and the name of the method, "" if the call is to panic in another way or not at all.
func (rt *Runtime) calledWithNil(t *types.Pointer, method string) runtimeError {
	m, index, _ := types.LookupFieldOrMethod(t, false, rt.host.Checker().Package(), method)
	fn, isFunc := m.(*types.Func)
	if !isFunc || len(index) != 1 || check.IsPointer(fn.Signature().Recv().Type()) {
		return ""
	}
	return valueMethod(fn, t.Elem())
}

// valueMethod returns the error for a method of a type.
func valueMethod(fn *types.Func, t types.Type) runtimeError {
	of := types.Unalias(t).(*types.Named)
	name := PlainNames(of.Obj().Name())
	if of.TypeArgs() != nil {
		name += "[...]"
	}
	return runtimeError("value method " + fn.Pkg().Path() + "." + name + "." + fn.Name() + " called using nil *" + name + " pointer")
}

// holdsNil reports whether a box holds nothing, or a nil pointer.
func (s *Yaegi) holdsNil(box *value) (nothing, pointer bool) {
	boxes := asType(s.boxes)
	for box.typ == boxes {
		box = (*value)(unsafe.Add(box.ptr, s.held))
	}
	return box.typ == nil, box.is(reflect.Pointer) && (box.ptr == nil || box.flag&indirect != 0 && *(*unsafe.Pointer)(box.ptr) == nil)
}

// selectingMethod is the step of the selection of a method of what an interface of cells holds.
func (rt *Runtime) selectingMethod(node unsafe.Pointer, operands []unsafe.Pointer, plain step) step {
	n := rt.yaegi.nodes
	from, ok1 := n.placeOf(operands[0])
	result, ok2 := n.placeOf(node)
	if !ok1 || !ok2 || result.constant != nil {
		return plain
	}
	method, function, next := n.nameOf(operands[1]), typeOf(n.pointer(node, n.typ)), n.stepAt(node, n.next)
	return func(frame unsafe.Pointer) step {
		box := from.in(frame)
		if box.typ != asType(rt.yaegi.boxes) {
			return plain(frame)
		}
		var e runtimeError
		switch nothing, pointer := rt.yaegi.holdsNil(box); {
		case nothing:
			e = nilDereference
		case pointer:
			held := rt.natives.held(*(*reflect.Value)(unsafe.Pointer(box)))
			if t, ok := rt.natives.cellTypeOf(held).(*types.Pointer); ok {
				e = rt.calledWithNil(t, method)
			}
		}
		if e == "" {
			return plain(frame)
		}
		f := reflect.MakeFunc(function, func([]reflect.Value) []reflect.Value { panic(e) })
		*result.in(frame) = *asValue(&f)
		return next
	}
}
