package native

import (
	"go/types"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Go writes the type arguments in the name of a generic type's instance in full: with the paths of
// packages, with the underlying types of byte and rune, and with numbers for types that functions
// declare. For a type that a generic function declares, the function's type arguments precede the
// type's own.

// nameOf returns the name of a type without its package.
func (n *Types) nameOf(t *types.Named) string {
	name, local := t.Obj().Name(), n.local[t.Origin().Obj()]
	if len(local.Args) == 0 && t.TypeArgs().Len() == 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for i, arg := range local.Args {
		b.WriteString(before(i, "["))
		b.WriteString(n.linkText(arg))
	}
	for i := range t.TypeArgs().Len() {
		switch {
		case i > 0 || len(local.Args) == 0:
			b.WriteString(before(i, "["))
		default:
			b.WriteByte(';')
		}
		b.WriteString(n.linkText(t.TypeArgs().At(i)))
	}
	b.WriteByte(']')
	return b.String()
}

// before returns the text before element i of a list that begins with open.
func before(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

// linkText returns the text that Go writes for a type in the name of another type.
func (n *Types) linkText(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Obj().Name() == contract.UnnamedStruct {
			return n.linkText(t.Underlying())
		}
		name := n.nameOf(t)
		if t.Obj().Pkg() != nil {
			name = t.Obj().Pkg().Path() + "." + name
		}
		if number := n.local[t.Origin().Obj()].Number; number > 0 {
			name += "·" + strconv.Itoa(number)
		}
		return name
	case *types.Basic:
		return types.TypeString(types.Typ[t.Kind()], nil) // byte is uint8
	case *types.Pointer:
		return "*" + n.linkText(t.Elem())
	case *types.Slice:
		return "[]" + n.linkText(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + n.linkText(t.Elem())
	case *types.Map:
		return "map[" + n.linkText(t.Key()) + "]" + n.linkText(t.Elem())
	case *types.Chan:
		elem := n.linkText(t.Elem())
		if inner, ok := types.Unalias(t.Elem()).(*types.Chan); ok && t.Dir() != types.SendOnly && inner.Dir() == types.RecvOnly {
			elem = "(" + elem + ")"
		}
		return map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + elem
	case *types.Signature:
		return "func" + n.linkSignature(t)
	case *types.Struct:
		return n.linkStruct(t)
	case *types.Interface:
		return n.linkInterface(t)
	}
	return types.TypeString(t, nil)
}

func (n *Types) linkSignature(t *types.Signature) string {
	var params, results []string
	for i := range t.Params().Len() {
		p := n.linkText(t.Params().At(i).Type())
		if t.Variadic() && i == t.Params().Len()-1 {
			p = "..." + strings.TrimPrefix(p, "[]")
		}
		params = append(params, p)
	}
	for v := range t.Results().Variables() {
		results = append(results, n.linkText(v.Type()))
	}
	text := "(" + strings.Join(params, ", ") + ")"
	switch len(results) {
	case 0:
		return text
	case 1:
		return text + " " + results[0]
	}
	return text + " (" + strings.Join(results, ", ") + ")"
}

func (n *Types) linkStruct(t *types.Struct) string {
	if t.NumFields() == 0 {
		return "struct {}"
	}
	var fields []string
	for i := range t.NumFields() {
		f := t.Field(i)
		text := n.linkText(f.Type())
		switch {
		case !f.Embedded():
			text = qualified(f) + " " + text
		// Go compares the field's name with the end of the whole text
		case !strings.HasSuffix(text, f.Name()):
			text = f.Name() + " = " + text
		}
		if tag := t.Tag(i); tag != "" {
			text += " " + strconv.Quote(tag)
		}
		fields = append(fields, text)
	}
	return "struct { " + strings.Join(fields, "; ") + " }"
}

func (n *Types) linkInterface(t *types.Interface) string {
	if t.NumMethods() == 0 {
		return "interface {}"
	}
	var methods []string
	for m := range t.Methods() {
		methods = append(methods, qualified(m)+n.linkSignature(m.Signature()))
	}
	return "interface { " + strings.Join(methods, "; ") + " }"
}

// qualified returns the name of a field or method, with its package if it is not exported.
func qualified(obj types.Object) string {
	if obj.Exported() {
		return obj.Name()
	}
	return obj.Pkg().Path() + "." + obj.Name()
}
