package show

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// What a printed value is shortened to.
const (
	maxElements = 64
	maxString   = 1024
	maxDepth    = 8
	maxText     = 8192
)

// writer writes one value.
type writer struct {
	names map[string]string

	fields map[string]string
	out    strings.Builder
	inner  bool // what is written is a field of a struct that hides others
	words  bool // what is written is a value in its own words

	within map[uintptr]bool // what the pointers point to that led here
}

func (w *writer) write(s string) { w.out.WriteString(s) }

// own writes a value in its own words, or as what it is.
func (w *writer) own(v reflect.Value, n name) {
	if v.IsValid() && isMain(pointed(v.Type())) {
		if say := sayer(v); say != nil {
			if text, ok := saidBy(say); ok || !nillable(v) || !v.IsNil() {
				w.words = true
				w.write(shorten(text))
				return
			}
		}
	}
	w.value(v, n, 0)
}

// pointed is t, or what it points to if it is a pointer without a name.
func pointed(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// isMain reports whether t is a type of the program; those of other packages are described by their own methods, and what they
// hide is not looked at.
func isMain(t reflect.Type) bool { return t.PkgPath() == "main" }

func isForeign(t reflect.Type) bool { return t.PkgPath() != "" && !isMain(t) }

func (w *writer) value(v reflect.Value, n name, depth int) {
	if !v.IsValid() {
		w.write("nil")
		return
	}
	if w.out.Len() > maxText || depth > maxDepth {
		w.write("…")
		return
	}
	t := v.Type()
	if t.Kind() == reflect.Interface {
		w.dynamic(v, depth)
		return
	}
	if !isMain(t) && w.described(v) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		w.pointer(v, n, depth)
	case reflect.Struct:
		w.structure(v, n, depth)
	case reflect.Slice:
		if v.IsNil() {
			w.write(w.typeName(t, n) + "(nil)")
			return
		}
		w.elements(v, n, depth)
	case reflect.Array:
		w.elements(v, n, depth)
	case reflect.Map:
		w.mapping(v, n, depth)
	case reflect.Func, reflect.Chan:
		if v.IsNil() {
			w.write("(" + w.typeName(t, n) + ")(nil)")
			return
		}
		w.write(w.typeName(t, n))
	default:
		w.basic(v, n)
	}
}

// dynamic writes what an interface holds.
func (w *writer) dynamic(v reflect.Value, depth int) {
	say := false
	for _, method := range []string{"Error", "String"} {
		_, has := v.Type().MethodByName(method)
		say = say || has
	}
	held := v.Elem()
	if say && held.IsValid() && held.CanInterface() && isMain(pointed(held.Type())) {
		if say := sayer(held); say != nil {
			text, _ := saidBy(say)
			w.write(shorten(text))
			return
		}
	}
	w.value(held, name{}, depth)
}

func (w *writer) basic(v reflect.Value, n name) {
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
	if v.Type().PkgPath() != "" {
		s = w.typeName(v.Type(), n) + "(" + s + ")"
	}
	w.write(s)
}

func quote(s string) string {
	if len(s) <= maxString {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:maxString]) + fmt.Sprintf("… (%d bytes)", len(s))
}

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "…"
}

func (w *writer) pointer(v reflect.Value, n name, depth int) {
	t := w.typeName(v.Type(), n)
	elem := v.Elem()
	switch {
	case v.IsNil():
		w.write("(" + t + ")(nil)")
		return
	case elem.Kind() != reflect.Interface && w.isOpaque(elem):
		w.write("(" + t + ")(0x…)")
		return
	case w.within[v.Pointer()]: // round in a circle
		w.write("(" + t + ")(…)")
		return
	}
	w.within[v.Pointer()] = true
	defer delete(w.within, v.Pointer())
	switch elem.Kind() {
	case reflect.Struct, reflect.Array, reflect.Slice, reflect.Map:
		w.write("&")
		w.value(elem, n.part(elemOf), depth+1)
	default:
		w.write("(" + t + ")(&")
		w.value(elem, n.part(elemOf), depth+1)
		w.write(")")
	}
}

// isOpaque reports whether what a pointer leads to is not read.
func (w *writer) isOpaque(elem reflect.Value) bool {
	switch elem.Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Func, reflect.Chan:
		return w.inner || isForeign(elem.Type())
	}
	return w.inner
}

func (w *writer) structure(v reflect.Value, n name, depth int) {
	t := v.Type()
	hides := false
	for f := range t.Fields() {
		hides = hides || isForeign(t) && !f.IsExported()
	}
	if hides && w.inner {
		w.write(w.typeName(t, n) + "{…}")
		return
	}
	was := w.inner
	defer func() { w.inner = was }()
	typ := ""
	if isMain(t) {
		typ, _, _ = strings.Cut(t.Name(), "[")
		typ += "."
	}
	w.inner = was || hides
	w.write(w.typeName(t, n) + "{")
	sep := ""
	for i := range v.NumField() {
		f := t.Field(i)
		if isForeign(t) && !f.IsExported() {
			continue
		}
		label := f.Name
		if was, renamed := w.names[label]; renamed && f.Anonymous {
			label = was
		}
		w.write(sep + label + ": ")
		w.value(v.Field(i), named(w.fields[typ+f.Name]), depth+1)
		sep = ", "
	}
	if hides {
		w.write(sep + "…")
	}
	w.write("}")
}

func (w *writer) elements(v reflect.Value, n name, depth int) {
	elem := n.part(elemOf)
	w.write(w.typeName(v.Type(), n) + "{")
	for i := range v.Len() {
		if i > 0 {
			w.write(", ")
		}
		if i == maxElements || w.out.Len() > maxText {
			fmt.Fprintf(&w.out, "… %d more", v.Len()-i)
			break
		}
		w.value(v.Index(i), elem, depth+1)
	}
	w.write("}")
}

func (w *writer) mapping(v reflect.Value, n name, depth int) {
	t := w.typeName(v.Type(), n)
	switch {
	case v.IsNil():
		w.write(t + "(nil)")
		return
	case w.inner && v.Len() > 0: // somebody may be writing to it
		w.write(t + "{…}")
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	key, elem := n.part(keyOf), n.part(elemOf)
	w.write(t + "{")
	for i, k := range keys {
		if i > 0 {
			w.write(", ")
		}
		if i == maxElements || w.out.Len() > maxText {
			fmt.Fprintf(&w.out, "… %d more", len(keys)-i)
			break
		}
		w.value(k, key, depth+1)
		w.write(": ")
		w.value(v.MapIndex(k), elem, depth+1)
	}
	w.write("}")
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

func nillable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return true
	}
	return false
}

// described writes a value of another package in its own words, if it has some.
func (w *writer) described(v reflect.Value) bool {
	if !v.CanInterface() || !isForeign(pointed(v.Type())) || nillable(v) && v.IsNil() {
		return false
	}
	say := sayer(v)
	if say == nil && v.CanAddr() {
		say = sayer(v.Addr())
	}
	if say != nil {
		text, _ := saidBy(say)
		w.write(shorten(text))
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
			text = fmt.Sprintf("<String method panicked: %v>", v)
		}
	}()
	return say(), true
}
