package show

import (
	"go/ast"
	"go/parser"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
)

// Printer prints values. The zero Printer is ready for use.
type Printer struct {
	// Names maps the names of types in package main to the names to print.
	Names map[string]string
	// Fields maps "type.field" to the name of the field's type, if reflection does not know the
	// name.
	Fields map[string]string
}

// Print writes values to standard output as a line, with commas between them. Without values it
// writes nothing.
func Print(values ...any) { Printer{}.Print(values...) }

// Sprint returns the text that [Print] writes, without the newline.
func Sprint(values ...any) string { return Printer{}.Sprint(values...) }

// Print is the function Print with the printer's names.
func (p Printer) Print(values ...any) {
	if len(values) > 0 {
		io.WriteString(os.Stdout, p.Sprint(values...)+"\n")
	}
}

// Sprint is the function Sprint with the printer's names.
func (p Printer) Sprint(values ...any) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, p.text(v))
	}
	return strings.Join(texts, ", ")
}

// typed is a value with the name of its type.
type typed struct {
	value any
	name  string
}

// Typed returns a value for Print whose type is printed as name, such as "[]byte".
func Typed(name string, value any) any { return typed{value, name} }

// held is a value in an interface without String or Error.
type held struct{ value any }

// Held returns a value for Print that is printed in Go syntax, even if its type, from package main,
// has a String or Error method. The session prints values in interfaces such as any in this way.
func Held(value any) any { return held{value} }

func (p Printer) text(value any) string {
	v, n, own := reflect.ValueOf(value), name{}, true
	switch x := value.(type) {
	case typed:
		v, n = reflect.ValueOf(x.value), named(x.name)
	case held:
		v, own = reflect.ValueOf(x.value), false
	}
	if own {
		if text, ok := ownWords(v); ok {
			return text
		}
	}
	return values.Print(reflected{p}, false, func(p *values.Printer[name]) { p.Value(v, n, 0) }).Break(values.Width)
}

// ownWords returns the description that a value of one of the program's types gives of itself. A
// nil pointer whose method panics has none.
func ownWords(v reflect.Value) (string, bool) {
	if !v.IsValid() || !isMain(values.Pointed(v.Type())) {
		return "", false
	}
	say := values.Sayer(v)
	if say == nil {
		return "", false
	}
	text, ok := values.Say(say, nil)
	return values.Shorten(text), ok || !values.IsNil(v)
}

// name is the name of a type, if known, as text and as syntax.
type name struct {
	text   string
	syntax ast.Expr
}

// part returns the name of a part of the type, which pick finds in its syntax.
func (n name) part(pick func(ast.Expr) ast.Expr) name {
	if n.syntax == nil {
		return name{}
	}
	e := pick(ast.Unparen(n.syntax))
	if e == nil {
		return name{}
	}
	return named(n.text[e.Pos()-1 : e.End()-1])
}

// named parses a name, if there is one.
func named(text string) name {
	if text == "" {
		return name{}
	}
	syntax, _ := parser.ParseExpr(text)
	return name{text, syntax}
}

func elemOf(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.StarExpr:
		return e.X
	case *ast.ArrayType:
		return e.Elt
	case *ast.MapType:
		return e.Value
	}
	return nil
}

func keyOf(e ast.Expr) ast.Expr {
	if m, ok := e.(*ast.MapType); ok {
		return m.Key
	}
	return nil
}
