package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/symmem"
)

// printer prints the values of cells.
type printer = values.Printer[types.Type]

// print writes a value of type t.
func (in *Interp) print(v reflect.Value, t types.Type) values.Printed {
	return in.printed(valueTypes{in: in}, func(p *printer) { p.Value(v, t, 0) })
}

// printed returns the text that write prints.
func (in *Interp) printed(vt valueTypes, write func(*printer)) values.Printed {
	return values.Print(vt, vt.live, write)
}

// valueTypes gives the checker's types of values, which yaegi's values do not know.
type valueTypes struct {
	in   *Interp
	live bool // cells are running
	// quiet values are printed without running code of cells: their own methods are not called, nor
	// compiled methods that may call them.
	quiet bool
}

func (vt valueTypes) Name(_ reflect.Value, t types.Type) string { return check.TypeName(t) }

func (vt valueTypes) Named(_ reflect.Value, t types.Type) bool {
	_, named := types.Unalias(t).(*types.Named)
	return named
}

func (vt valueTypes) Kind(v reflect.Value, t types.Type) reflect.Kind {
	var kind reflect.Kind
	switch t.Underlying().(type) {
	case *types.Basic:
		if values.IsBasic(v.Kind()) {
			return v.Kind()
		}
		return reflect.Invalid
	case *types.Interface:
		return reflect.Interface
	case *types.Signature:
		return reflect.Func
	case *types.Chan:
		return reflect.Chan
	case *types.Pointer:
		kind = reflect.Pointer
	case *types.Struct:
		kind = reflect.Struct
	case *types.Slice:
		kind = reflect.Slice
	case *types.Array:
		kind = reflect.Array
	case *types.Map:
		kind = reflect.Map
	}
	if v.Kind() != kind && v.Kind() != reflect.Interface {
		return reflect.Invalid
	}
	return kind
}

func (vt valueTypes) Key(t types.Type) types.Type { return t.Underlying().(*types.Map).Key() }

func (vt valueTypes) Elem(t types.Type) types.Type {
	return t.Underlying().(interface{ Elem() types.Type }).Elem()
}

func (vt valueTypes) NumField(v reflect.Value, t types.Type) int {
	if vt.Foreign(v.Type()) {
		return v.NumField()
	}
	n := t.Underlying().(*types.Struct).NumFields()
	if v.NumField() != n && n > 0 { // an empty struct has an additional field in yaegi
		return -1
	}
	return n
}

func (vt valueTypes) Field(v reflect.Value, t types.Type, i int) (string, types.Type) {
	if vt.Foreign(v.Type()) {
		f := v.Type().Field(i)
		return f.Name, vt.in.checker.Packages().TypeOf(f.Type)
	}
	f := t.Underlying().(*types.Struct).Field(i)
	return f.Name(), f.Type()
}

// Foreign reports whether t is a named type of compiled code.
func (vt valueTypes) Foreign(t reflect.Type) bool { return vt.in.isCompiled(t) }

func (in *Interp) isCompiled(t reflect.Type) bool {
	return t.PkgPath() != "" && !in.checker.Packages().InSource(t.PkgPath())
}

// isCellType reports whether t is a named type of a cell, which does not have the methods of the
// compiled type that it may be defined by.
func (in *Interp) isCellType(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && in.checker.Interprets(named.Obj().Pkg())
}

func (vt valueTypes) Words(v reflect.Value, t types.Type) (string, bool) {
	if vt.in.isCellType(t) {
		return "", false
	}
	return vt.words(v)
}

// words returns the text by which a value of a compiled type describes itself. While cells run,
// tensors give only their shapes.
func (vt valueTypes) words(v reflect.Value) (string, bool) {
	if !vt.in.isCompiled(values.Pointed(v.Type())) {
		return "", false
	}
	if v.CanInterface() && vt.live && !values.IsNil(v) {
		if tensor, ok := v.Interface().(*symmem.Tensor); ok { // reading its elements would wait for the device
			return fmt.Sprintf("%v%s, not read while a cell runs", tensor.DType(),
				strings.ReplaceAll(fmt.Sprint(tensor.Shape()), " ", ", ")), true
		}
	}
	method := values.Method(v)
	if method == nil || vt.quiet && vt.in.mayReachCells(v) {
		return "", false
	}
	return vt.say(method), true
}

// say calls a method by which a value describes itself. in.mu is held; code of cells runs without it.
func (vt valueTypes) say(method func() string) string {
	if !vt.quiet {
		vt.in.mu.Unlock()
		defer vt.in.mu.Lock()
	}
	text, _ := values.Say(method, stacks.PanicValue)
	return values.Shorten(text)
}

// Dynamic prints the value in an interface.
func (vt valueTypes) Dynamic(p *printer, v reflect.Value, depth int) {
	described := false
	for v.Kind() == reflect.Interface {
		described = v.NumMethod() > 0
		v = v.Elem()
	}
	rt := vt.in.runtime
	if t := rt.Natives.CellType(v); t != nil && !types.IsInterface(t) {
		vt.native(p, v, t, described, depth)
		return
	} else if t != nil {
		v = rt.Natives.Box(v)
	}
	if native.IsWrapper(v) {
		if text, ok := vt.words(v); ok {
			p.Said(text)
			return
		}
	}
	v, name := rt.Yaegi().Concrete(v)
	if !v.IsValid() {
		p.Text("nil")
		return
	}
	t := vt.in.program.Type(name)
	switch {
	case t != nil && v.Kind() == reflect.Pointer && !check.IsPointer(t.Type()):
		p.Value(v, types.NewPointer(t.Type()), depth)
	case t != nil:
		p.Value(v, t.Type(), depth)
	case anonymous(v.Type()) && (vt.live || vt.quiet):
		p.Text("{…}")
	case anonymous(v.Type()):
		p.Said(fmt.Sprintf("%+v", v))
	default:
		p.Value(v, vt.in.checker.Packages().TypeOf(v.Type()), depth)
	}
}

// native prints a native value. A value in an interface with methods may describe itself.
func (vt valueTypes) native(p *printer, v reflect.Value, t types.Type, described bool, depth int) {
	if described && !vt.quiet {
		if method := values.Sayer(v); method != nil {
			p.Said(vt.say(method))
			return
		}
	}
	if !v.CanAddr() { // an addressable copy, because its boxes are read
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	p.Value(v, t, depth)
}

// anonymous reports whether t contains an unnamed struct type: yaegi represents types of cells by
// such types, and they may contain themselves.
func anonymous(t reflect.Type) bool {
	if t.PkgPath() != "" {
		return false
	}
	switch t.Kind() {
	case reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return anonymous(t.Elem())
	case reflect.Map:
		return anonymous(t.Key()) || anonymous(t.Elem())
	case reflect.Func:
		return true
	}
	return false
}
