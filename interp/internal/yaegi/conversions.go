package yaegi

import "reflect"

// Conversions of numbers have their own step. Yaegi converts by package reflect, which allocates a
// variable for each conversion, and converts through int64, which gives other results for floats
// outside of the type's range.

// converting returns the step of a conversion.
func converting(node, operand *Node, plain Step) Step {
	from, ok1 := operand.Place()
	result, ok2 := node.Result()
	if !ok1 || !ok2 {
		return plain
	}
	next := node.Next()
	return func(frame *Frame) Step {
		if !convertNumber(result.In(frame), from.In(frame)) {
			return plain(frame)
		}
		return next
	}
}

// convertNumber sets variable to to the number in from. It reports whether both are numbers.
func convertNumber(to, from *Value) bool {
	p := from.ptr
	switch reflect.Kind(from.flag & kindMask) {
	case reflect.Int:
		return setNumber(to, *(*int)(p))
	case reflect.Int8:
		return setNumber(to, *(*int8)(p))
	case reflect.Int16:
		return setNumber(to, *(*int16)(p))
	case reflect.Int32:
		return setNumber(to, *(*int32)(p))
	case reflect.Int64:
		return setNumber(to, *(*int64)(p))
	case reflect.Uint:
		return setNumber(to, *(*uint)(p))
	case reflect.Uint8:
		return setNumber(to, *(*uint8)(p))
	case reflect.Uint16:
		return setNumber(to, *(*uint16)(p))
	case reflect.Uint32:
		return setNumber(to, *(*uint32)(p))
	case reflect.Uint64:
		return setNumber(to, *(*uint64)(p))
	case reflect.Uintptr:
		return setNumber(to, *(*uintptr)(p))
	case reflect.Float32:
		return setNumber(to, *(*float32)(p))
	case reflect.Float64:
		return setNumber(to, *(*float64)(p))
	}
	return false
}

// number is a type of numbers that can be converted to each other.
type number interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr | float32 | float64
}

// setNumber sets a variable to x, converted to the variable's type. It reports whether that is a
// number type.
func setNumber[T number](to *Value, x T) bool {
	if to.flag&variable == 0 {
		return false
	}
	p := to.ptr
	switch reflect.Kind(to.flag & kindMask) {
	case reflect.Int:
		*(*int)(p) = int(x)
	case reflect.Int8:
		*(*int8)(p) = int8(x)
	case reflect.Int16:
		*(*int16)(p) = int16(x)
	case reflect.Int32:
		*(*int32)(p) = int32(x)
	case reflect.Int64:
		*(*int64)(p) = int64(x)
	case reflect.Uint:
		*(*uint)(p) = uint(x)
	case reflect.Uint8:
		*(*uint8)(p) = uint8(x)
	case reflect.Uint16:
		*(*uint16)(p) = uint16(x)
	case reflect.Uint32:
		*(*uint32)(p) = uint32(x)
	case reflect.Uint64:
		*(*uint64)(p) = uint64(x)
	case reflect.Uintptr:
		*(*uintptr)(p) = uintptr(x)
	case reflect.Float32:
		*(*float32)(p) = float32(x)
	case reflect.Float64:
		*(*float64)(p) = float64(x)
	default:
		return false
	}
	return true
}
