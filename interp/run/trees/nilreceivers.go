package trees

import (
	"go/types"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// A call of a value method through an interface that holds a nil pointer panics with its own error,
// which names the method. This panic, and the panic of a method call on a nil interface, happens
// after the arguments are evaluated.

// selectingMethod returns the step that selects a method of the value in an interface of cells.
func (t *Trees) selectingMethod(node *yaegi.Node, plain yaegi.Step) yaegi.Step {
	operands := node.Children()
	from, ok1 := operands[0].Place()
	result, ok2 := node.Result()
	if !ok1 || !ok2 {
		return plain
	}
	method, function, next := operands[1].Name(), node.Type(), node.Next()
	return func(frame *yaegi.Frame) yaegi.Step {
		box := from.In(frame)
		if !t.yaegi.IsBox(box) {
			return plain(frame)
		}
		var e faults.Error
		switch nothing, pointer := t.yaegi.HoldsNil(box); {
		case nothing:
			e = faults.NilDereference
		case pointer:
			held := t.natives.Held(box.Reflect())
			if pointer, ok := t.natives.CellType(held).(*types.Pointer); ok {
				e = t.natives.CalledWithNil(pointer, method)
			}
		}
		if e == "" {
			return plain(frame)
		}
		f := reflect.MakeFunc(function, func([]reflect.Value) []reflect.Value { panic(e) })
		result.In(frame).Set(f)
		return next
	}
}
