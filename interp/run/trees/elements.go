package trees

import (
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// Panics of elements and slices show the index, as Go's do. Yaegi's do not.

// checkingIndex returns yaegi's step of x[i], extended to panic as Go does if the index is out of
// range.
func (t *Trees) checkingIndex(node *yaegi.Node, plain yaegi.Step) yaegi.Step {
	operands := node.Children()
	x, i, position := operands[0].Operand(), operands[1].Operand(), node.Position()
	return func(frame *yaegi.Frame) yaegi.Step {
		if x := pointedTo(x(frame)); x.IsValid() {
			switch i := i(frame); {
			case i.CanInt() && uint64(i.Int()) >= uint64(x.Len()):
				t.stacks.MarkFault(position)
				faults.Index(int(i.Int()), x.Len())
			case i.CanUint() && i.Uint() >= uint64(x.Len()):
				t.stacks.MarkFault(position)
				faults.UnsignedIndex(i.Uint(), x.Len())
			}
		}
		return plain(frame)
	}
}

// checkingSlice returns yaegi's step of x[low:high:limit], extended to panic as Go does if the
// bounds are out of range.
func (t *Trees) checkingSlice(node *yaegi.Node, list []yaegi.Bound, plain yaegi.Step) yaegi.Step {
	operands := node.Children()
	x, position := operands[0].Operand(), node.Position()
	var values []func(*yaegi.Frame) reflect.Value
	for _, bound := range operands[1:] {
		values = append(values, bound.Operand())
	}
	return func(frame *yaegi.Frame) yaegi.Step {
		x := pointedTo(x(frame))
		if !x.IsValid() {
			return plain(frame)
		}
		given, length, capacity := 0, x.Len(), x.Len()
		if x.Kind() == reflect.Slice {
			given, capacity = faults.IsSlice, x.Cap()
		}
		var bounds [faults.GivenLimit + 1]int
		for i, value := range values {
			bound := int(list[i])
			given |= bound
			if v := value(frame); v.CanUint() {
				given |= faults.UnsignedLow * bound
				bounds[bound] = int(v.Uint())
			} else {
				bounds[bound] = int(v.Int())
			}
		}
		if fault := faults.SliceBounds(given, length, capacity, bounds[faults.GivenLow], bounds[faults.GivenHigh], bounds[faults.GivenLimit]); fault != "" {
			t.stacks.MarkFault(position)
			panic(fault)
		}
		return plain(frame)
	}
}

// pointedTo returns the array that x points to if x is a pointer (an invalid value if x is nil),
// and x itself otherwise.
func pointedTo(x reflect.Value) reflect.Value {
	if x.Kind() == reflect.Pointer {
		return x.Elem()
	}
	return x
}
