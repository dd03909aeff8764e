package interp

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// cellPackage is the package that all cells are in.
const cellPackage = "main"

// What a printed value is shortened to.
const (
	maxElements = 64
	maxString   = 1024
	maxDepth    = 8
	maxText     = 8192
)

// printer writes values in Go syntax. Yaegi's values do not know what their types are called, so the checker's types go along. What
// belongs to compiled code it looks at from outside only: see compiled.go.
type printer struct {
	in    *Interp
	out   strings.Builder
	inner bool // what is written is a field of a compiled struct that hides others
	live  bool // cells are running

	within map[uintptr]bool // what the pointers point to that led here
}

// print writes a value of type t.
func (in *Interp) print(v reflect.Value, t types.Type) string {
	return in.printed(func(p *printer) { p.value(v, t, 0) })
}

// printed returns what write writes. A variable may be written to meanwhile, and so be found in any state: then the text ends there.
func (in *Interp) printed(write func(*printer)) string {
	p := &printer{in: in, within: map[uintptr]bool{}}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	func() {
		defer func() {
			if v := recover(); v != nil {
				fmt.Fprintf(&p.out, "<printing panicked: %v>", v)
			}
		}()
		write(p)
	}()
	return p.out.String()
}

func (p *printer) write(s string) { p.out.WriteString(s) }

// typeName writes a type as cells call it.
func typeName(t types.Type) string {
	return types.TypeString(t, func(pkg *types.Package) string {
		if pkg.Path() == cellPackage {
			return ""
		}
		return pkg.Name()
	})
}

func (p *printer) value(v reflect.Value, t types.Type, depth int) {
	if !v.IsValid() {
		p.write("nil")
		return
	}
	if p.out.Len() > maxText || depth > maxDepth {
		p.write("…")
		return
	}
	if types.IsInterface(t) || v.Kind() == reflect.Interface {
		p.dynamic(v, depth)
		return
	}
	if !isCellType(t) && p.described(v) {
		return
	}
	if !fits(v, t) {
		p.write(typeName(t) + "(…)")
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		p.basic(v, t, u, depth)
	case *types.Pointer:
		p.pointer(v, t, u, depth)
	case *types.Struct:
		p.structure(v, t, u, depth)
	case *types.Slice:
		if v.IsNil() {
			p.write(typeName(t) + "(nil)")
			return
		}
		p.elements(v, t, u.Elem(), depth)
	case *types.Array:
		p.elements(v, t, u.Elem(), depth)
	case *types.Map:
		p.mapping(v, t, u, depth)
	case *types.Signature, *types.Chan:
		if nillable(v) && v.IsNil() {
			p.write("(" + typeName(t) + ")(nil)")
			return
		}
		p.write(typeName(t))
	default:
		p.write(typeName(t))
	}
}

func nillable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return true
	}
	return false
}

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}

func (p *printer) basic(v reflect.Value, t types.Type, u *types.Basic, depth int) {
	var s string
	switch v.Kind() {
	case reflect.String:
		s = quote(v.String())
	case reflect.Float32, reflect.Float64:
		s = strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.UnsafePointer, reflect.Uintptr:
		s = fmt.Sprintf("%#x", v)
	case reflect.Bool:
		s = strconv.FormatBool(v.Bool())
	case reflect.Complex64, reflect.Complex128:
		s = strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	default:
		if v.CanInt() {
			s = strconv.FormatInt(v.Int(), 10)
		} else {
			s = strconv.FormatUint(v.Uint(), 10)
		}
	}
	if _, named := types.Unalias(t).(*types.Named); named {
		s = typeName(t) + "(" + s + ")"
	}
	p.write(s)
}

func quote(s string) string {
	if len(s) <= maxString {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:maxString]) + fmt.Sprintf("… (%d bytes)", len(s))
}

func (p *printer) pointer(v reflect.Value, t types.Type, u *types.Pointer, depth int) {
	if v.IsNil() {
		p.write("(" + typeName(t) + ")(nil)")
		return
	}
	elem := v.Elem()
	if !types.IsInterface(u.Elem()) && p.isOpaque(elem) {
		p.write("(" + typeName(t) + ")(0x…)")
		return
	}
	if p.within[v.Pointer()] { // round in a circle
		p.write("(" + typeName(t) + ")(…)")
		return
	}
	p.within[v.Pointer()] = true
	defer delete(p.within, v.Pointer())
	switch u.Elem().Underlying().(type) {
	case *types.Struct, *types.Array, *types.Slice, *types.Map:
		if elem.Kind() == reflect.Interface { // how yaegi points to a type that contains itself
			elem = elem.Elem()
		}
		p.write("&")
		p.value(elem, u.Elem(), depth+1)
		return
	}
	p.write("(" + typeName(t) + ")(&")
	p.value(elem, u.Elem(), depth+1)
	p.write(")")
}

func (p *printer) structure(v reflect.Value, t types.Type, u *types.Struct, depth int) {
	switch {
	case isCompiled(v.Type()):
		p.compiled(v, t, depth)
		return
	case v.NumField() != u.NumFields() && u.NumFields() > 0: // an empty struct has a field of ours
		p.write(typeName(t) + "{…}")
		return
	}
	p.write(typeName(t) + "{")
	for i := range u.NumFields() {
		if i > 0 {
			p.write(", ")
		}
		p.write(u.Field(i).Name() + ": ")
		p.value(v.Field(i), u.Field(i).Type(), depth+1)
	}
	p.write("}")
}

func (p *printer) elements(v reflect.Value, t, elem types.Type, depth int) {
	p.write(typeName(t) + "{")
	for i := range v.Len() {
		if i > 0 {
			p.write(", ")
		}
		if i == maxElements || p.out.Len() > maxText {
			fmt.Fprintf(&p.out, "… %d more", v.Len()-i)
			break
		}
		p.value(v.Index(i), elem, depth+1)
	}
	p.write("}")
}

func (p *printer) mapping(v reflect.Value, t types.Type, u *types.Map, depth int) {
	if v.IsNil() {
		p.write(typeName(t) + "(nil)")
		return
	}
	if (p.inner || p.live) && v.Len() > 0 { // somebody may be writing to it, which no recover survives
		p.write(typeName(t) + "{…}")
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	p.write(typeName(t) + "{")
	for i, k := range keys {
		if i > 0 {
			p.write(", ")
		}
		if i == maxElements || p.out.Len() > maxText {
			fmt.Fprintf(&p.out, "… %d more", len(keys)-i)
			break
		}
		p.value(k, u.Key(), depth+1)
		p.write(": ")
		p.value(v.MapIndex(k), u.Elem(), depth+1)
	}
	p.write("}")
}

func compareKeys(a, b reflect.Value) int {
	for a.Kind() == reflect.Interface {
		a = a.Elem()
	}
	for b.Kind() == reflect.Interface {
		b = b.Elem()
	}
	switch {
	case a.Kind() != b.Kind():
		return cmp.Compare(a.Kind(), b.Kind())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// dynamic writes what an interface holds.
func (p *printer) dynamic(v reflect.Value, depth int) {
	described := false
	for v.Kind() == reflect.Interface {
		described = v.NumMethod() > 0
		v = v.Elem()
	}
	if t := p.in.natives.cellTypeOf(v); t != nil && !types.IsInterface(t) {
		p.native(v, t, described, depth)
		return
	} else if t != nil {
		v = seenAs(v, p.in.inside.boxes)
	}
	if isWrapper(v) && p.described(v) {
		return
	}
	v, name := p.in.inside.concrete(v)
	if !v.IsValid() {
		p.write("nil")
		return
	}
	t := p.in.scope.types[name]
	switch {
	case t != nil && v.Kind() == reflect.Pointer && !isPointer(t.Type()):
		p.value(v, types.NewPointer(t.Type()), depth)
	case t != nil:
		p.value(v, t.Type(), depth)
	case anonymous(v.Type()) && p.live:
		p.write("{…}")
	case anonymous(v.Type()):
		fmt.Fprintf(&p.out, "%+v", v)
	default:
		p.value(v, p.in.pkgs.typeOf(v.Type()), depth)
	}
}

// native writes a native value; one in an interface of methods may describe itself.
func (p *printer) native(v reflect.Value, t types.Type, described bool, depth int) {
	if say := sayer(v); described && say != nil {
		text, _ := saidBy(say)
		p.write(shorten(text))
		return
	}
	if !v.CanAddr() { // boxes in it are looked into
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	p.value(v, t, depth)
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// anonymous reports whether t has a struct without a name in it: yaegi makes those for the types of cells, and they may contain themselves.
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
