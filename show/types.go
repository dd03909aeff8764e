package show

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// typeName is what the session calls a type.
func (w *writer) typeName(t reflect.Type, n name) string {
	if n.text != "" {
		return n.text
	}
	return w.typeText(t)
}

// typeText writes a type, without a package for those of the program.
func (w *writer) typeText(t reflect.Type) string {
	if t.Name() != "" {
		return w.namedType(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + w.typeText(t.Elem())
	case reflect.Slice:
		return "[]" + w.typeText(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), w.typeText(t.Elem()))
	case reflect.Map:
		return "map[" + w.typeText(t.Key()) + "]" + w.typeText(t.Elem())
	case reflect.Chan:
		elem := w.typeText(t.Elem())
		if t.ChanDir() != reflect.SendDir && t.Elem().Kind() == reflect.Chan && t.Elem().ChanDir() == reflect.RecvDir {
			elem = "(" + elem + ")"
		}
		return map[reflect.ChanDir]string{reflect.BothDir: "chan ", reflect.SendDir: "chan<- ", reflect.RecvDir: "<-chan "}[t.ChanDir()] + elem
	case reflect.Func:
		return "func" + w.signature(t)
	case reflect.Struct:
		var fields []string
		for f := range t.Fields() {
			text := w.typeText(f.Type)
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
		methods = append(methods, m.Name+w.signature(m.Type))
	}
	return "interface{" + strings.Join(methods, "; ") + "}"
}

func (w *writer) signature(t reflect.Type) string {
	var in, out []string
	for i := range t.NumIn() {
		text := w.typeText(t.In(i))
		if t.IsVariadic() && i == t.NumIn()-1 {
			text = "..." + w.typeText(t.In(i).Elem())
		}
		in = append(in, text)
	}
	for o := range t.Outs() {
		out = append(out, w.typeText(o))
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

// namedType writes the name of a type. That of an instance has its arguments in it, with import paths.
func (w *writer) namedType(t reflect.Type) string {
	text, args, generic := strings.Cut(t.Name(), "[")
	if was, renamed := w.names[text]; renamed && isMain(t) {
		text = was
	}
	if isForeign(t) {
		qualified := t.String()
		text = qualified[:strings.IndexByte(qualified, '.')+1] + text
	}
	if !generic {
		return text
	}
	return text + "[" + w.arguments(strings.TrimSuffix(args, "]")) + "]"
}

// arguments writes the arguments of an instance, which reflection separates by "," and names by import path.
func (w *writer) arguments(list string) string {
	var b, word strings.Builder
	end := func() {
		text := word.String()
		word.Reset()
		text = text[strings.LastIndexByte(text, '/')+1:]
		if own, ok := strings.CutPrefix(text, "main."); ok {
			if text = own; w.names[own] != "" {
				text = w.names[own]
			}
		}
		b.WriteString(text)
	}
	for _, r := range list {
		switch r {
		case '[', ']', '*', '(', ')', ' ', '{', '}':
			end()
			b.WriteRune(r)
		case ',':
			end()
			b.WriteString(", ")
		default:
			word.WriteRune(r)
		}
	}
	end()
	return strings.ReplaceAll(b.String(), ",  ", ", ")
}
