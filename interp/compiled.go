package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// Values of compiled types belong to compiled code, which may be using them on other threads. They are printed by their own String or
// Error method; without one, as their exported fields. Hidden fields and what pointers lead to are never read.

// isCompiled reports whether t is a named type of compiled code.
func isCompiled(t reflect.Type) bool { return t.PkgPath() != "" && t.PkgPath() != cellPackage }

// isCellType reports whether t is a named type of a cell, whose methods are not those of the compiled type that it may be made of.
func isCellType(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == cellPackage
}

// isOpaque reports whether what a pointer leads to is not read.
func (p *printer) isOpaque(elem reflect.Value) bool {
	if p.inner {
		return true
	}
	_, basic := basicKinds[elem.Kind()]
	return isCompiled(elem.Type()) && !basic && elem.Kind() != reflect.Interface
}

// fits reports whether a value of type t can be v.
func fits(v reflect.Value, t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Basic:
		_, ok := basicKinds[v.Kind()]
		return ok
	case *types.Pointer:
		return v.Kind() == reflect.Pointer
	case *types.Struct:
		return v.Kind() == reflect.Struct
	case *types.Slice:
		return v.Kind() == reflect.Slice
	case *types.Array:
		return v.Kind() == reflect.Array
	case *types.Map:
		return v.Kind() == reflect.Map
	}
	return true // nothing of others is read but their type
}

// compiled writes the exported fields of a struct of a compiled type, and of such fields nothing that hides more.
func (p *printer) compiled(v reflect.Value, t types.Type, depth int) {
	hides := false
	for f := range v.Type().Fields() {
		hides = hides || !f.IsExported()
	}
	if hides && p.inner {
		p.write(typeName(t) + "{…}")
		return
	}
	was := p.inner
	defer func() { p.inner = was }()
	p.inner = was || hides
	p.write(typeName(t) + "{")
	sep := ""
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		p.write(sep + f.Name + ": ")
		p.value(v.Field(i), p.in.pkgs.typeOf(f.Type), depth+1)
		sep = ", "
	}
	if hides {
		p.write(sep + "…")
	}
	p.write("}")
}

// described writes a value by its own String or Error method, if it has a compiled one.
func (p *printer) described(v reflect.Value) bool {
	t := v.Type()
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !v.CanInterface() || !isCompiled(t) || nillable(v) && v.IsNil() {
		return false
	}
	if tensor, ok := v.Interface().(*symmem.Tensor); ok && p.live { // reading its elements would wait for the device
		fmt.Fprintf(&p.out, "%v%s, not read while a cell runs", tensor.DType(), strings.ReplaceAll(fmt.Sprint(tensor.Shape()), " ", ","))
		return true
	}
	say := sayer(v)
	if say == nil && v.CanAddr() {
		say = sayer(v.Addr())
	}
	if say != nil {
		text, _ := saidBy(say)
		p.write(shorten(text))
	}
	return say != nil
}

// sayer returns the method by which v describes itself, nil if there is none.
func sayer(v reflect.Value) func() string {
	switch x := v.Interface().(type) {
	case error:
		return x.Error
	case fmt.Stringer:
		return x.String
	}
	return nil
}

// saidBy calls a String or Error method. If that panics, the text says so and ok is false.
func saidBy(say func() string) (text string, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("<String method panicked: %v>", panicValue(v))
		}
	}()
	return say(), true
}
