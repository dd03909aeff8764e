package values

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Limits to which printed values are shortened.
const (
	maxElements = 64
	maxString   = 1024
	maxText     = 8192
	// MaxDepth is the maximum depth of nested values that are printed.
	MaxDepth = 8
)

// Types describes the types of values. T represents one type.
type Types[T any] interface {
	// Name returns the name of the type of v.
	Name(v reflect.Value, t T) string
	// Named reports whether a type of basic kind has its own name, which is printed around its
	// value.
	Named(v reflect.Value, t T) bool
	// Kind returns the kind of the type. It returns Invalid if v cannot be a value of the type.
	Kind(v reflect.Value, t T) reflect.Kind
	// Key returns the type of the keys of a map. Elem returns the type of the elements of a
	// pointer, slice, array or map.
	Key(t T) T
	Elem(t T) T
	// NumField returns the number of fields of a struct, -1 if v cannot be a value of the type.
	// Field returns one of them.
	NumField(v reflect.Value, t T) int
	Field(v reflect.Value, t T, i int) (name string, typ T)
	// Foreign reports whether a type is a named type of compiled code, or of a package other than
	// the owner's.
	Foreign(t reflect.Type) bool
	// Words returns v's description of itself. It returns false if v has none and is printed in Go
	// syntax.
	Words(v reflect.Value, t T) (text string, ok bool)
	// Dynamic prints the value in an interface.
	Dynamic(p *Printer[T], v reflect.Value, depth int)
}

// Printer prints values. T describes their types better than reflection does.
type Printer[T any] struct {
	types  Types[T]
	live   bool // code that may change the values is running
	inner  bool // the value is a field of a foreign struct with unexported fields
	within map[uintptr]bool
	out    strings.Builder
	said   []span // parts of out from values that describe themselves
}

// Print returns the text that print prints. If live is set, code that may change the values is
// running: the contents of maps are then not read, and a value that is read in the middle of a
// change ends the text.
func Print[T any](types Types[T], live bool, print func(*Printer[T])) Printed {
	p := &Printer[T]{types: types, live: live, within: map[uintptr]bool{}}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	func() {
		defer func() {
			if v := recover(); v != nil {
				fmt.Fprintf(&p.out, "<printing panicked: %v>", v)
			}
		}()
		print(p)
	}()
	return Printed{p.out.String(), p.said}
}

// Live reports whether code that may change the values is running.
func (p *Printer[T]) Live() bool { return p.live }

// Text prints a text in Go syntax.
func (p *Printer[T]) Text(s string) { p.out.WriteString(s) }

// Said prints a value's description of itself, which line breaking does not alter.
func (p *Printer[T]) Said(s string) {
	from := p.out.Len()
	p.Text(s)
	if s != "" {
		p.said = append(p.said, span{from, p.out.Len()})
	}
}

// Value prints a value of type t at a depth of nested values.
func (p *Printer[T]) Value(v reflect.Value, t T, depth int) {
	if !v.IsValid() {
		p.Text("nil")
		return
	}
	if p.out.Len() > maxText || depth > MaxDepth {
		p.Text("…")
		return
	}
	kind := p.types.Kind(v, t)
	if kind == reflect.Interface || v.Kind() == reflect.Interface {
		p.types.Dynamic(p, v, depth)
		return
	}
	if text, ok := p.types.Words(v, t); ok {
		p.Said(text)
		return
	}
	switch kind {
	case reflect.Invalid:
		p.Text(p.types.Name(v, t) + "(…)")
	case reflect.Pointer:
		p.pointer(v, t, depth)
	case reflect.Struct:
		p.structure(v, t, depth)
	case reflect.Slice:
		if v.IsNil() {
			p.Text(p.types.Name(v, t) + "(nil)")
			return
		}
		p.elements(v, t, depth)
	case reflect.Array:
		p.elements(v, t, depth)
	case reflect.Map:
		p.mapping(v, t, depth)
	case reflect.Func, reflect.Chan:
		if IsNil(v) {
			p.Text("(" + p.types.Name(v, t) + ")(nil)")
			return
		}
		p.Text(p.types.Name(v, t))
	default:
		p.basic(v, t, depth)
	}
}

func (p *Printer[T]) basic(v reflect.Value, t T, depth int) {
	var s string
	switch v.Kind() {
	case reflect.String:
		s = quote(v.String())
		if depth == 0 && severalLines(v.String()) {
			s = "`" + v.String() + "`"
		}
	case reflect.Float32, reflect.Float64:
		s = strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.UnsafePointer:
		s = fmt.Sprintf("%#x", v.Pointer())
	case reflect.Uintptr:
		s = fmt.Sprintf("%#x", v.Uint())
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
	if p.types.Named(v, t) {
		s = p.types.Name(v, t) + "(" + s + ")"
	}
	p.Text(s)
}

// severalLines reports whether s is text of several lines that can be written as a raw string
// literal.
func severalLines(s string) bool {
	if len(s) > maxText || !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		return false
	}
	for line := range strings.Lines(s) {
		if !strconv.CanBackquote(strings.TrimSuffix(line, "\n")) {
			return false
		}
	}
	return true
}

func quote(s string) string {
	if len(s) <= maxString {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:maxString]) + fmt.Sprintf("… (%d bytes)", len(s))
}

func (p *Printer[T]) pointer(v reflect.Value, t T, depth int) {
	name, elem, of := p.types.Name(v, t), v.Elem(), p.types.Elem(t)
	if v.IsNil() {
		p.Text("(" + name + ")(nil)")
		return
	}
	kind := p.types.Kind(elem, of)
	switch {
	case kind != reflect.Interface && p.isOpaque(elem):
		p.Text("(" + name + ")(0x…)")
		return
	case p.within[v.Pointer()]: // the value contains itself
		p.Text("(" + name + ")(…)")
		return
	}
	p.within[v.Pointer()] = true
	defer delete(p.within, v.Pointer())
	switch kind {
	case reflect.Struct, reflect.Array, reflect.Slice, reflect.Map:
		if elem.Kind() == reflect.Interface { // yaegi's form of a pointer to a type that contains itself
			elem = elem.Elem()
		}
		p.Text("&")
		p.Value(elem, of, depth+1)
	default:
		p.Text("(" + name + ")(&")
		p.Value(elem, of, depth+1)
		p.Text(")")
	}
}

// isOpaque reports whether the target of a pointer must not be read.
func (p *Printer[T]) isOpaque(elem reflect.Value) bool {
	return p.inner || p.types.Foreign(elem.Type()) && !IsBasic(elem.Kind()) && elem.Kind() != reflect.Interface
}

// IsBasic reports whether values of a kind contain no other values.
func IsBasic(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String || k == reflect.UnsafePointer
}

// structure prints a struct. Of a foreign struct it prints the exported fields, and within these no
// further struct with unexported fields.
func (p *Printer[T]) structure(v reflect.Value, t T, depth int) {
	name, n, hides := p.types.Name(v, t), p.types.NumField(v, t), false
	foreign := p.types.Foreign(v.Type())
	if foreign {
		for f := range v.Type().Fields() {
			hides = hides || !f.IsExported()
		}
	}
	if n < 0 || hides && p.inner {
		p.Text(name + "{…}")
		return
	}
	was := p.inner
	defer func() { p.inner = was }()
	p.inner = was || hides
	p.Text(name + "{")
	sep := ""
	for i := range n {
		if foreign && !v.Type().Field(i).IsExported() {
			continue
		}
		field, of := p.types.Field(v, t, i)
		p.Text(sep + field + ": ")
		p.Value(v.Field(i), of, depth+1)
		sep = ", "
	}
	if hides {
		p.Text(sep + "…")
	}
	p.Text("}")
}

func (p *Printer[T]) elements(v reflect.Value, t T, depth int) {
	elem := p.types.Elem(t)
	p.Text(p.types.Name(v, t) + "{")
	for i := range v.Len() {
		if p.more(i, v.Len()) {
			break
		}
		p.Value(v.Index(i), elem, depth+1)
	}
	p.Text("}")
}

// more separates element i of n from the previous one. If the limit is reached, it prints the
// number of elements and returns true.
func (p *Printer[T]) more(i, n int) bool {
	if i > 0 {
		p.Text(", ")
	}
	if i < maxElements && p.out.Len() <= maxText {
		return false
	}
	fmt.Fprintf(&p.out, "… %d more", n-i)
	return true
}

func (p *Printer[T]) mapping(v reflect.Value, t T, depth int) {
	name := p.types.Name(v, t)
	switch {
	case v.IsNil():
		p.Text(name + "(nil)")
		return
	case (p.inner || p.live) && v.Len() > 0: // another goroutine may write to the map, and that fault cannot be recovered
		p.Text(name + "{…}")
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	key, elem := p.types.Key(t), p.types.Elem(t)
	p.Text(name + "{")
	for i, k := range keys {
		if p.more(i, len(keys)) {
			break
		}
		p.Value(k, key, depth+1)
		p.Text(": ")
		p.Value(v.MapIndex(k), elem, depth+1)
	}
	p.Text("}")
}

// compareKeys orders the keys of a map. It calls no method of theirs.
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
	switch a.Kind() {
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Bool:
		return cmp.Compare(fmt.Sprint(a.Bool()), fmt.Sprint(b.Bool()))
	case reflect.Complex64, reflect.Complex128:
		x, y := a.Complex(), b.Complex()
		return cmp.Or(cmp.Compare(real(x), real(y)), cmp.Compare(imag(x), imag(y)))
	case reflect.Struct:
		return compareParts(a.NumField(), b.NumField(), a.Field, b.Field)
	case reflect.Array:
		return compareParts(a.Len(), b.Len(), a.Index, b.Index)
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		return cmp.Compare(a.Pointer(), b.Pointer())
	}
	return 0
}

// compareParts compares the n parts of a key with the m parts of another.
func compareParts(n, m int, a, b func(int) reflect.Value) int {
	for i := range min(n, m) {
		if c := compareKeys(a(i), b(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(n, m)
}
