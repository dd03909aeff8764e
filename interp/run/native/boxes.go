package native

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/internal/named"
)

// boxRoom is the number of methods of the native types of boxes.
const boxRoom = 4

// boxMethods returns the methods by which a box of native type t is printed and encoded as the
// value in it.
func (n *Types) boxMethods(t reflect.Type, bare bool) []named.Method {
	format := func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value {
		state, verb := args[0].Interface().(fmt.State), rune(args[1].Int())
		n.format(state, verb, n.inBox(recv), t, bare)
		return nil
	}
	list := []named.Method{{Name: "Format", Type: reflect.TypeFor[func(fmt.State, rune)](), Call: format}}
	if bare {
		return list
	}
	encode := func(recv unsafe.Pointer, _ []reflect.Value) []reflect.Value {
		b, err := json.Marshal(interfaceOf(n.inBox(recv)))
		return []reflect.Value{reflect.ValueOf(b), reflect.ValueOf(&err).Elem()}
	}
	encodeXML := func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value {
		e, start := args[0].Interface().(*xml.Encoder), args[1].Interface().(xml.StartElement)
		err := e.EncodeElement(interfaceOf(n.inBox(recv)), start)
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}
	decode := func(recv unsafe.Pointer, args []reflect.Value) []reflect.Value {
		err := n.decode(recv, args[0].Bytes(), t)
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}
	return append(list,
		named.Method{Name: "MarshalJSON", Type: reflect.TypeFor[func() ([]byte, error)](), Call: encode},
		named.Method{Name: "MarshalXML", Type: reflect.TypeFor[func(*xml.Encoder, xml.StartElement) error](), Call: encodeXML},
		named.Method{Name: "UnmarshalJSON", Type: reflect.TypeFor[func([]byte) error](), Call: decode, Pointer: true})
}

// inBox returns the value that the box at p holds.
func (n *Types) inBox(p unsafe.Pointer) reflect.Value {
	return n.Held(reflect.NewAt(n.yaegi.Boxes(), p).Elem())
}

func interfaceOf(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

// format prints the value in a box of type t. It prints it as an element of a list, where a pointer
// is printed as its address.
func (n *Types) format(state fmt.State, verb rune, held reflect.Value, t reflect.Type, bare bool) {
	form := fmt.FormatString(state, verb)
	syntax := verb == 'v' && state.Flag('#')
	if !held.IsValid() && syntax {
		fmt.Fprintf(state, "%s(nil)", t)
		return
	}
	var text, open string
	if plain := n.bared(held); bare && plain == held {
		text = fmt.Sprintf(form, struct{ x any }{interfaceOf(held)}) // without its methods
		switch {
		case syntax:
			open = "struct { x interface {} }{x:"
		case verb == 'v' && state.Flag('+'):
			open = "{x:"
		default:
			open = "{"
		}
	} else {
		if bare {
			held = plain
		}
		text, open = fmt.Sprintf(form, []any{interfaceOf(held)}), "["
		if syntax {
			open = "[]interface {}{"
		}
	}
	state.Write([]byte(text[len(open) : len(text)-1]))
}

// bared returns v as a value of its bare type if v is a native value that contains boxes, and v
// itself otherwise: see view.
func (n *Types) bared(v reflect.Value) reflect.Value {
	t := n.CellType(v)
	if t == nil {
		return v
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.checker().Packages().HoldsInterfaces(t) {
		return v
	}
	return seenAs(v, n.reflectType(t, true))
}

// decode decodes into a box as package json does into an interface: into the pointer that the box
// holds.
func (n *Types) decode(p unsafe.Pointer, text []byte, t reflect.Type) error {
	if string(text) == "null" {
		reflect.NewAt(n.yaegi.Boxes(), p).Elem().SetZero()
		return nil
	}
	if held := n.inBox(p); held.IsValid() && held.Kind() == reflect.Pointer && !held.IsNil() {
		return json.Unmarshal(text, held.Interface())
	}
	kind := "number"
	switch text[0] {
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case '"':
		kind = "string"
	case 't', 'f':
		kind = "bool"
	}
	return &json.UnmarshalTypeError{Value: kind, Type: t}
}

// equalBoxes is the operator == for the boxes at a and b.
func (n *Types) equalBoxes(a, b unsafe.Pointer) bool {
	return interfaceOf(n.inBox(a)) == interfaceOf(n.inBox(b))
}
