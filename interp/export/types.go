package export

import (
	"fmt"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// unnameable is a type that the program cannot name.
type unnameable struct{ t types.Type }

func (e unnameable) Error() string {
	return "its type " + e.t.String() + " has a name that only its package can use"
}

// typeText returns the text of a type in the program.
func (p *program) typeText(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return p.pkg("unsafe") + ".Pointer"
		}
		return t.Name()
	case *types.Alias:
		if name := p.names[t.Obj()]; name != "" {
			return name + p.arguments(t.TypeArgs())
		}
		if t.Obj().Pkg() == nil {
			return t.Obj().Name() // any
		}
		return p.typeText(types.Unalias(t))
	case *types.Named:
		return p.namedText(t)
	case *types.Pointer:
		return "*" + p.typeText(t.Elem())
	case *types.Slice:
		return "[]" + p.typeText(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), p.typeText(t.Elem()))
	case *types.Map:
		return "map[" + p.typeText(t.Key()) + "]" + p.typeText(t.Elem())
	case *types.Chan:
		dir := map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}
		return dir[t.Dir()] + "(" + p.typeText(t.Elem()) + ")"
	case *types.Signature:
		return "func" + p.signature(t, nil)
	case *types.Struct:
		var fields []string
		for i := range t.NumFields() {
			text := p.typeText(t.Field(i).Type())
			if !t.Field(i).Embedded() {
				text = t.Field(i).Name() + " " + text
			}
			if tag := t.Tag(i); tag != "" {
				text += " " + strconv.Quote(tag)
			}
			fields = append(fields, text)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case *types.Interface:
		var methods []string
		for m := range t.Methods() {
			methods = append(methods, m.Name()+p.signature(m.Signature(), nil))
		}
		return "interface{" + strings.Join(methods, "; ") + "}"
	}
	panic(unnameable{t})
}

func (p *program) namedText(t *types.Named) string {
	obj := t.Obj()
	text := p.names[obj]
	switch {
	case text != "":
	case obj.Pkg() == nil:
		text = obj.Name() // error
	case obj.Pkg() == p.checker.Package(), !token.IsExported(obj.Name()), strings.Contains(obj.Pkg().Path(), "internal/"):
		panic(unnameable{t})
	default:
		text = p.pkg(obj.Pkg().Path()) + "." + obj.Name()
	}
	return text + p.arguments(t.TypeArgs())
}

// arguments returns the type arguments of an instance as text, "" if there are none.
func (p *program) arguments(list *types.TypeList) string {
	var args []string
	for arg := range list.Types() {
		args = append(args, p.typeText(arg))
	}
	if args == nil {
		return ""
	}
	return "[" + strings.Join(args, ", ") + "]"
}

// signature returns parameters and results as text. Names, if given, are the parameters' names.
func (p *program) signature(t *types.Signature, names []string) string {
	var in, out []string
	for i := range t.Params().Len() {
		typ := t.Params().At(i).Type()
		text := ""
		if slice, ok := typ.(*types.Slice); ok && t.Variadic() && i == t.Params().Len()-1 {
			text = "..." + p.typeText(slice.Elem())
		} else {
			text = p.typeText(typ)
		}
		if names != nil {
			text = names[i] + " " + text
		}
		in = append(in, text)
	}
	for v := range t.Results().Variables() {
		out = append(out, p.typeText(v.Type()))
	}
	return "(" + strings.Join(in, ", ") + ") (" + strings.Join(out, ", ") + ")"
}

// isBasic reports whether values of a type are shown without its name.
func isBasic(t types.Type) bool {
	basic, ok := types.Unalias(t).(*types.Basic)
	return ok && types.Universe.Lookup(basic.Name()) != nil
}

// plain reports whether reflection's name for a type is the session's.
func plain(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Name() != "byte" && t.Name() != "rune"
	case *types.TypeParam:
		return true
	case *types.Alias:
		return t.Obj().Pkg() == nil
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if !plain(arg) {
				return false
			}
		}
		return true
	case *types.Pointer:
		return plain(t.Elem())
	case *types.Slice:
		return plain(t.Elem())
	case *types.Array:
		return plain(t.Elem())
	case *types.Chan:
		return plain(t.Elem())
	case *types.Map:
		return plain(t.Key()) && plain(t.Elem())
	}
	return false
}
