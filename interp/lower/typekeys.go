package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

// ofCells reports whether t has a part whose type differs between yaegi and Go.
func (l *namer) ofCells(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return l.ownType(t) != ""
	case *types.Struct:
		return true
	case *types.Interface:
		return t.NumMethods() > 0
	case *types.Map:
		return l.ofCells(t.Key()) || l.ofCells(t.Elem())
	case *types.Signature:
		return l.ofCells(t.Params()) || l.ofCells(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if l.ofCells(v.Type()) {
				return true
			}
		}
	case interface{ Elem() types.Type }:
		return l.ofCells(t.Elem())
	}
	return false
}

// typeText writes a type with its names in yaegi; different types have different texts.
func (l *namer) typeText(t types.Type) string {
	var b strings.Builder
	l.writeType(&b, t)
	return b.String()
}

func (l *namer) writeType(b *strings.Builder, t types.Type) {
	list := func(open string, n int, at func(int) types.Type, end string) {
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			l.writeType(b, at(i))
		}
		b.WriteString(end)
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if name := l.ownType(t); name != "" {
			b.WriteString(name)
			return
		}
		b.WriteString(types.TypeString(t, nil))
	case *types.Pointer:
		list("*", 1, func(int) types.Type { return t.Elem() }, "")
	case *types.Slice:
		list("[]", 1, func(int) types.Type { return t.Elem() }, "")
	case *types.Array:
		list("["+types.TypeString(types.NewArray(types.Typ[types.Int], t.Len()), nil)+"]", 1, func(int) types.Type { return t.Elem() }, "")
	case *types.Map:
		list("map[", 2, func(i int) types.Type { return []types.Type{t.Key(), t.Elem()}[i] }, "]")
	case *types.Chan:
		list("chan"+string(rune('0'+int(t.Dir())))+" ", 1, func(int) types.Type { return t.Elem() }, "")
	case *types.Signature:
		list("func(", t.Params().Len(), func(i int) types.Type { return t.Params().At(i).Type() }, ")")
		list("(", t.Results().Len(), func(i int) types.Type { return t.Results().At(i).Type() }, ")")
		if t.Variadic() {
			b.WriteString("...")
		}
	case *types.Struct:
		b.WriteString("struct{")
		for i := range t.NumFields() {
			b.WriteString(t.Field(i).Name() + " " + t.Tag(i) + " ")
			l.writeType(b, t.Field(i).Type())
			b.WriteByte(';')
		}
		b.WriteByte('}')
	default:
		b.WriteString(types.TypeString(t, nil))
	}
}

// isBoxed reports whether t is an interface type of cells that has methods.
func (l *namer) isBoxed(t types.Type) bool {
	iface, ok := t.Underlying().(*types.Interface)
	if !ok || iface.NumMethods() == 0 {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	return !ok || named.Obj().Pkg() != nil && l.ownType(named) != ""
}

// identity returns the name of a type of the session for Assert, or "" for other types.
func (l *namer) identity(t types.Type) string {
	star := ""
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		star, t = "*", types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		if name := l.ownType(n); name != "" {
			return star + name
		}
	}
	return ""
}

// converts reports whether a value of type from needs a converter to the interface type to.
func (l *namer) converts(from, to types.Type) bool {
	_, isParam := to.(*types.TypeParam)
	switch {
	case isParam, !types.IsInterface(to):
		return false
	case l.isBoxed(to):
		return !types.IsInterface(from) && l.identity(from) != ""
	case types.IsInterface(from):
		return l.isBoxed(from)
	}
	return l.ofCells(from)
}

// boxedPart returns an interface type of cells that has methods and is t, or the type of one of its
// elements or fields. It returns nil if there is none.
func (l *namer) boxedPart(t types.Type) types.Type {
	if l.isBoxed(t) {
		return t
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		return l.boxedPart(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if inner := l.boxedPart(f.Type()); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// checkLayout refuses types whose values have another memory layout in yaegi than in Go.
func (l *namer) checkLayout(pos token.Pos, t types.Type) {
	if inner := l.boxedPart(t); inner != nil {
		text := func(t types.Type) string { return types.TypeString(t, types.RelativeTo(l.checker.Package())) }
		l.refuse(pos, fmt.Sprintf("an unsafe pointer to %s: the interface %s, which has methods, has another memory layout than in Go; use any, or no unsafe pointer",
			text(t), text(inner)))
	}
}
