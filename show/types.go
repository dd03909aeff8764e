package show

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// typeText writes a type, without the package for types of the program.
func (r reflected) typeText(t reflect.Type) string {
	if t.Name() != "" {
		return r.namedType(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + r.typeText(t.Elem())
	case reflect.Slice:
		return "[]" + r.typeText(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), r.typeText(t.Elem()))
	case reflect.Map:
		return "map[" + r.typeText(t.Key()) + "]" + r.typeText(t.Elem())
	case reflect.Chan:
		elem := r.typeText(t.Elem())
		if t.ChanDir() != reflect.SendDir && t.Elem().Kind() == reflect.Chan && t.Elem().ChanDir() == reflect.RecvDir {
			elem = "(" + elem + ")"
		}
		return map[reflect.ChanDir]string{reflect.BothDir: "chan ", reflect.SendDir: "chan<- ",
			reflect.RecvDir: "<-chan "}[t.ChanDir()] + elem
	case reflect.Func:
		return "func" + r.signature(t)
	case reflect.Struct:
		var fields []string
		for f := range t.Fields() {
			text := r.typeText(f.Type)
			if !f.Anonymous {
				text = f.Name + " " + text
			}
			if f.Tag != "" {
				text += " " + strconv.Quote(string(f.Tag))
			}
			fields = append(fields, text)
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	}
	if t.NumMethod() == 0 {
		return "any"
	}
	var methods []string
	for m := range t.Methods() {
		methods = append(methods, m.Name+r.signature(m.Type))
	}
	return "interface{" + strings.Join(methods, "; ") + "}"
}

func (r reflected) signature(t reflect.Type) string {
	var in, out []string
	for i := range t.NumIn() {
		text := r.typeText(t.In(i))
		if t.IsVariadic() && i == t.NumIn()-1 {
			text = "..." + r.typeText(t.In(i).Elem())
		}
		in = append(in, text)
	}
	for o := range t.Outs() {
		out = append(out, r.typeText(o))
	}
	s := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return s
	case 1:
		return s + " " + out[0]
	}
	return s + " (" + strings.Join(out, ", ") + ")"
}

// namedType writes the name of a type. The name of a generic instance contains its arguments, with
// import paths.
func (r reflected) namedType(t reflect.Type) string {
	text, args, generic := strings.Cut(t.Name(), "[")
	if was, renamed := r.printer.Names[text]; renamed && isMain(t) {
		text = was
	}
	if r.Foreign(t) {
		qualified := t.String()
		text = called(qualified[:strings.IndexByte(qualified, '.')+1]) + text
	}
	if !generic {
		return text
	}
	return text + "[" + r.arguments(strings.TrimSuffix(args, "]")) + "]"
}

// called replaces the name of package symmem at the beginning of a type's name by its name in
// cells.
func called(name string) string {
	if rest, ok := strings.CutPrefix(name, "symmem."); ok {
		return "symm." + rest
	}
	return name
}

// arguments writes the type arguments of an instance, which reflection separates by "," and
// qualifies by import path.
func (r reflected) arguments(list string) string {
	var b, word strings.Builder
	end := func() {
		text := word.String()
		word.Reset()
		text = called(text[strings.LastIndexByte(text, '/')+1:])
		if own, ok := strings.CutPrefix(text, "main."); ok {
			if text = own; r.printer.Names[own] != "" {
				text = r.printer.Names[own]
			}
		}
		b.WriteString(text)
	}
	for _, c := range list {
		switch c {
		case '[', ']', '*', '(', ')', ' ', '{', '}':
			end()
			b.WriteRune(c)
		case ',':
			end()
			b.WriteString(", ")
		default:
			word.WriteRune(c)
		}
	}
	end()
	return strings.ReplaceAll(b.String(), ",  ", ", ")
}
