package native

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// reflectType makes the native type of t.
func (n *Types) reflectType(t types.Type, bare bool) reflect.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return n.namedType(t, bare)
	case *types.Basic:
		return check.BasicType(t)
	case *types.Pointer:
		return reflect.PointerTo(n.reflectType(t.Elem(), false)) // printed as an address
	case *types.Slice:
		return reflect.SliceOf(n.reflectType(t.Elem(), bare))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), n.reflectType(t.Elem(), bare))
	case *types.Map:
		return reflect.MapOf(n.reflectType(t.Key(), bare), n.reflectType(t.Elem(), bare))
	case *types.Chan:
		return reflect.ChanOf(chanDir(t.Dir()), n.reflectType(t.Elem(), false))
	case *types.Signature:
		return n.funcType(t)
	case *types.Struct:
		return n.structType(t, bare)
	case *types.Interface:
		return n.interfaceType(t, bare)
	}
	panic(fmt.Sprintf("values of type %s cannot be given to compiled code", check.TypeName(t)))
}

func chanDir(d types.ChanDir) reflect.ChanDir {
	switch d {
	case types.SendOnly:
		return reflect.SendDir
	case types.RecvOnly:
		return reflect.RecvDir
	}
	return reflect.BothDir
}

func (n *Types) funcType(t *types.Signature) reflect.Type {
	var in, out []reflect.Type
	for v := range t.Params().Variables() {
		in = append(in, n.reflectType(v.Type(), false))
	}
	for v := range t.Results().Variables() {
		out = append(out, n.reflectType(v.Type(), false))
	}
	return reflect.FuncOf(in, out, t.Variadic())
}

// structType makes the native type of an unnamed struct type. Reflection cannot embed types that
// are not exported; fields of such types are not embedded in the native type.
func (n *Types) structType(t *types.Struct, bare bool) reflect.Type {
	if n.checker().Packages().HoldsInterfaces(t) {
		return n.make(t, nil, n.structText(t), bare, nil)
	}
	fields := make([]reflect.StructField, t.NumFields())
	for i := range fields {
		f := t.Field(i)
		fields[i] = reflect.StructField{Name: f.Name(), Type: n.reflectType(f.Type(), bare), Tag: reflect.StructTag(t.Tag(i))}
		if !f.Exported() {
			fields[i].PkgPath = check.PackageName
		}
	}
	r := reflect.StructOf(fields)
	MendEqual(r)
	return r
}

func (n *Types) interfaceType(t *types.Interface, bare bool) reflect.Type {
	if t.NumMethods() == 0 {
		return reflect.TypeFor[any]()
	}
	return n.make(t, nil, n.interfaceText(t), bare, nil)
}

// namedType makes the native type of a named type.
func (n *Types) namedType(t *types.Named, bare bool) reflect.Type {
	if r := n.checker().Packages().CompiledNamed(t); r != nil {
		return r
	}
	methods := n.methodSet(t)
	if bare {
		methods = nil
	}
	if t.Obj().Name() == contract.UnnamedStruct {
		return n.make(t, nil, n.structText(t.Underlying().(*types.Struct)), bare, methods)
	}
	return n.make(t, t.Obj().Pkg(), n.nameOf(t), bare, methods)
}

// unnamed returns the unnamed struct type for which t stands, or a pointer to it if t is a pointer,
// and t itself otherwise.
func unnamed(t types.Type) types.Type {
	switch u := t.(type) {
	case *types.Pointer:
		return types.NewPointer(unnamed(u.Elem()))
	case *types.Named:
		if u.Obj().Name() == contract.UnnamedStruct {
			return u.Underlying()
		}
	}
	return t
}

// layout returns a type of the kind and memory layout of t's underlying type, to be used while the
// native type is incomplete. If t is part of another type (top is false), only the memory layout is
// the same.
func (n *Types) layout(t types.Type, top bool) reflect.Type {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if r := n.checker().Packages().CompiledNamed(named); r != nil {
			return r
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return check.BasicType(u)
	case *types.Slice:
		return reflect.TypeFor[[]byte]()
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), n.layout(u.Elem(), false))
	case *types.Struct:
		fields := make([]reflect.StructField, u.NumFields())
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: n.layout(u.Field(i).Type(), false)}
		}
		return reflect.StructOf(fields)
	case *types.Interface:
		if u.NumMethods() == 0 {
			return reflect.TypeFor[any]()
		}
		return n.yaegi.Boxes()
	case *types.Map:
		if top {
			return reflect.TypeFor[map[int]int]()
		}
	case *types.Chan:
		if top {
			return reflect.TypeFor[chan int]()
		}
	case *types.Pointer:
		if top {
			return reflect.TypeFor[*int]()
		}
	case *types.Signature:
		if top {
			repeat := func(count int) []reflect.Type {
				list := make([]reflect.Type, count)
				for i := range list {
					list[i] = reflect.TypeFor[int]()
				}
				return list
			}
			return reflect.FuncOf(repeat(u.Params().Len()), repeat(u.Results().Len()), false)
		}
	}
	return reflect.TypeFor[unsafe.Pointer]()
}

// structText returns package reflect's name for a struct type.
func (n *Types) structText(t *types.Struct) string {
	fields := make([]string, t.NumFields())
	for i := range fields {
		f := t.Field(i)
		if !f.Embedded() {
			fields[i] = f.Name() + " "
		}
		fields[i] += n.reflectType(f.Type(), false).String()
		if tag := t.Tag(i); tag != "" {
			fields[i] += " " + strconv.Quote(tag)
		}
	}
	return "struct { " + strings.Join(fields, "; ") + " }"
}

// interfaceText returns package reflect's name for an interface type.
func (n *Types) interfaceText(t *types.Interface) string {
	methods := make([]string, t.NumMethods())
	for i := range methods {
		m := t.Method(i)
		methods[i] = m.Name() + strings.TrimPrefix(n.funcType(m.Signature()).String(), "func")
	}
	return "interface { " + strings.Join(methods, "; ") + " }"
}

// fields returns the fields of a native struct type. Printing calls no methods of values in
// unexported fields, but it has to call those of boxes; so fields that contain boxes are exported
// to reflection, under their own names.
func (n *Types) fields(u *types.Struct, bare bool) []named.Field {
	fields := make([]named.Field, u.NumFields())
	for i := range fields {
		f := u.Field(i)
		t := f.Type()
		field := named.Field{Name: f.Name(), Tag: reflect.StructTag(u.Tag(i)), Embedded: f.Embedded(), Exported: f.Exported() && !bare}
		_, promotes := t.Underlying().(*types.Struct)
		switch {
		case !n.checker().Packages().HoldsInterfaces(t), f.Embedded() && promotes && !bare:
			field.Type = n.reflectType(t, false)
		case field.Exported:
			field.Type, field.Embedded = n.reflectType(t, false), false
		default:
			field.Type, field.Embedded, field.Exported = n.reflectType(t, true), false, true
			field.Tag = notEncoded + field.Tag
		}
		fields[i] = field
	}
	return fields
}

// notEncoded is the tag of fields that are exported to reflection only.
const notEncoded = `json:"-" xml:"-" `
