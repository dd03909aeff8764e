package show

import (
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
)

// reflected describes types by reflection, and by the names in a Printer.
type reflected struct{ printer Printer }

func (r reflected) Name(v reflect.Value, n name) string {
	if n.text != "" {
		return n.text
	}
	return r.typeText(v.Type())
}

func (r reflected) Named(v reflect.Value, _ name) bool { return v.Type().PkgPath() != "" }

func (r reflected) Kind(v reflect.Value, _ name) reflect.Kind { return v.Kind() }

func (r reflected) Key(n name) name  { return n.part(keyOf) }
func (r reflected) Elem(n name) name { return n.part(elemOf) }

func (r reflected) NumField(v reflect.Value, _ name) int { return v.NumField() }

func (r reflected) Field(v reflect.Value, _ name, i int) (string, name) {
	f := v.Type().Field(i)
	label := f.Name
	if was, renamed := r.printer.Names[label]; renamed && f.Anonymous {
		label = was
	}
	of := ""
	if isMain(v.Type()) {
		of, _, _ = strings.Cut(v.Type().Name(), "[")
		of += "."
	}
	return label, named(r.printer.Fields[of+f.Name])
}

// Foreign reports whether t is a named type of a package other than main. Values of such types are
// described by their own methods, and their unexported fields are not read.
func (r reflected) Foreign(t reflect.Type) bool { return t.PkgPath() != "" && !isMain(t) }

// isMain reports whether t is a type of the program.
func isMain(t reflect.Type) bool { return t.PkgPath() == "main" }

func (r reflected) Words(v reflect.Value, _ name) (string, bool) {
	if isMain(v.Type()) || !r.Foreign(values.Pointed(v.Type())) {
		return "", false
	}
	say := values.Method(v)
	if say == nil {
		return "", false
	}
	text, _ := values.Say(say, nil)
	return values.Shorten(text), true
}

func (r reflected) Dynamic(p *values.Printer[name], v reflect.Value, depth int) {
	say := false
	for _, method := range []string{"Error", "String"} {
		_, has := v.Type().MethodByName(method)
		say = say || has
	}
	held := v.Elem()
	if say && held.IsValid() && held.CanInterface() && isMain(values.Pointed(held.Type())) {
		if say := values.Sayer(held); say != nil {
			text, _ := values.Say(say, nil)
			p.Said(values.Shorten(text))
			return
		}
	}
	p.Value(held, name{}, depth)
}
