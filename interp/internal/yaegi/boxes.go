package yaegi

import (
	"reflect"
	"unsafe"
)

// Yaegi represents values of cells' interface types with methods as structs, called boxes here. A
// value of another interface type of cells is an any. For a compiled interface type, yaegi wraps
// the value to give it the methods; such a value is called a wrapper.

// SetBoxes sets the type of boxes. It panics if the type is not as expected.
func (y *Interpreter) SetBoxes(t reflect.Type) {
	if err := match(reflect.TypeFor[box](), t); err != nil {
		panic(err)
	}
	y.boxes, y.boxType = t, asType(t)
}

// Boxes returns the type of boxes that SetBoxes was given.
func (y *Interpreter) Boxes() reflect.Type { return y.boxes }

// IsBox reports whether a value is a box.
func (y *Interpreter) IsBox(v *Value) bool { return v.typ == y.boxType }

// isBoxed reports whether a value is an interface that holds a box.
func (y *Interpreter) isBoxed(v *Value) bool {
	return v.is(reflect.Interface) && *(*unsafe.Pointer)(v.address()) == y.boxType
}

// canBeAny reports whether yaegi passes a value as an any as it is.
func (y *Interpreter) canBeAny(v *Value) bool {
	switch reflect.Kind(v.flag & kindMask) {
	case reflect.Invalid, reflect.Func, reflect.Interface:
		return false
	}
	return v.flag&(readOnly|method) == 0 && v.typ != y.boxType
}

// HoldsNil reports whether a box holds nothing, and whether it holds a nil pointer.
func (y *Interpreter) HoldsNil(v *Value) (nothing, pointer bool) {
	for v.typ == y.boxType {
		v = valueOf(&(*box)(v.ptr).value)
	}
	return v.typ == nil, v.is(reflect.Pointer) && (v.ptr == nil || v.flag&indirect != 0 && *(*unsafe.Pointer)(v.ptr) == nil)
}

// Concrete returns the value stored in an interface and the name of its type in yaegi, if it has
// one.
func (y *Interpreter) Concrete(v reflect.Value) (_ reflect.Value, name string) {
	for v.IsValid() {
		switch {
		case v.Kind() == reflect.Interface:
			v = v.Elem()
		case IsWrapper(v):
			v = v.Field(0).Elem()
		case v.Type() == y.boxes:
			b := (*box)(valueOf(&v).ptr)
			if b.node != nil {
				// a box in a box is of an interface type
				if n := b.node.typ.elementName(); n != "" {
					name = n
				}
			}
			v = b.value
		default:
			return v, name
		}
	}
	return v, name
}

// Box stores a compiled value in a variable of a cell's interface type. It reports whether the
// variable is a box.
func (y *Interpreter) Box(target, v reflect.Value) bool {
	if target.Type() != y.boxes {
		return false
	}
	// an empty node, because comparisons with nil use it
	*(*box)(target.Addr().UnsafePointer()) = box{node: &Node{typ: &itype{}}, value: v}
	return true
}

// IsWrapper reports whether v is a wrapper.
func IsWrapper(v reflect.Value) bool {
	return v.Kind() == reflect.Struct && v.NumField() > 0 && v.Type().Field(0).Name == "IValue"
}

// elementName returns the name of a type, or of the type it points to.
func (t *itype) elementName() string {
	for ; t != nil; t = t.val {
		if t.name != "" {
			return t.name
		}
	}
	return ""
}
