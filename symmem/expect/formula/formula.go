package formula

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Limits of formulas.
const (
	MaxText  = 4096    // bytes of a text
	maxDepth = 200     // parts within each other
	maxSteps = 1 << 30 // operations of one Eval: some seconds
)

// Type is the type of a tensor's elements: symmem.DType under another name, of which it is a conversion.
type Type = element.Type

// TypeNamed returns the type with a name such as "bf16", and whether there is one that formulas take.
// Complex numbers they do not take.
func TypeNamed(name string) (Type, bool) {
	for t := element.F16; t.Valid(); t++ {
		if t.String() == name {
			return t, !t.IsComplex()
		}
	}
	return 0, false
}

// Name is a tensor that a formula may name. All ranks' tensors of a name have one type.
type Name struct {
	Name string
	Type Type
}

// Formula is a formula that was parsed. It can be evaluated by several goroutines at once.
type Formula struct {
	text  string
	names []Name
	used  []bool // by name
	root  part
	vars  int // variables of sums within each other
}

// Error is a fault of a formula's text, or of what Parse was given.
type Error struct {
	Text   string // the formula
	Column int    // of the fault, in characters from 1 on
	Msg    string
	Hint   string // what to write instead, "" for none
}

// Error returns the message with the column.
func (e *Error) Error() string {
	text := fmt.Sprintf("formula %q, column %d: %s", e.Text, e.Column, e.Msg)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// Parse reads a formula, which may name the given tensors. A fault is an *Error.
func Parse(text string, names ...Name) (f *Formula, err error) {
	c := &compiler{f: &Formula{text: text, names: slices.Clone(names), used: make([]bool, len(names))}}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *Error:
			f, err = nil, fault
		default:
			panic(fault)
		}
	}()
	if len(text) > MaxText {
		return nil, &Error{Text: text[:20] + "…", Column: 1, Msg: fmt.Sprintf("a formula has at most %d bytes, and this has %d", MaxText, len(text))}
	}
	for i, n := range names {
		c.declare(n, names[:i])
	}
	if strings.TrimSpace(text) == "" {
		c.fail(0, `write one such as "rank_sum(x)"`, "the formula is empty")
	}
	if !utf8.ValidString(text) {
		c.fail(0, "", "the formula is not UTF-8")
	}
	c.files = token.NewFileSet()
	tree, err := parser.ParseExprFrom(c.files, "", text, parser.SkipObjectResolution)
	if err != nil {
		at, msg := 0, err.Error()
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			at, msg = list[0].Pos.Offset, list[0].Msg
		}
		hint := ""
		if strings.HasPrefix(msg, "expected type") { // after the comma of x[1, 2]
			hint = oneIndex + ": write x[row*columns + column]"
		}
		c.fail(at, hint, "%s", strings.NewReplacer("'EOF'", "the end", "found newline", "found the end").Replace(msg))
	}
	c.f.root = c.part(tree)
	return c.f, nil
}

// String returns the text of the formula.
func (f *Formula) String() string { return f.text }

// Uses returns the names of the tensors that the formula has, in the order of Parse's names.
func (f *Formula) Uses() (names []string) {
	for i, used := range f.used {
		if used {
			names = append(names, f.names[i].Name)
		}
	}
	return names
}

// Fits returns an *Error if the formula's values cannot be elements of a type: of floats in an integer
// type, and of anything in a complex type.
func (f *Formula) Fits(t Type) error {
	switch {
	case !t.Valid() || t.IsComplex():
		return &Error{f.text, 1, fmt.Sprintf("formulas have no values of %v", t), ""}
	case f.root.class == floating && !t.IsFloat():
		return &Error{f.text, 1, fmt.Sprintf("the formula's value is a float, and the elements are %v", t), fmt.Sprintf("write %v(…) around it", t)}
	}
	return nil
}

// Reserved reports whether a name has a meaning of its own in formulas, so that no tensor can have it.
func Reserved(name string) bool {
	_, is := TypeNamed(name)
	return is || constants[name] != nil || functions[name].compile != nil
}

// Check returns an error if no tensor of a formula can have the name or the type.
func (n Name) Check() error {
	switch {
	case Reserved(n.Name):
		return fmt.Errorf("%s cannot be the name of a tensor: it has a meaning in formulas", n.Name)
	case !token.IsIdentifier(n.Name) || n.Name == "_":
		return fmt.Errorf("%q cannot be the name of a tensor: it is no identifier of Go", n.Name)
	case !n.Type.Valid() || n.Type.IsComplex():
		return fmt.Errorf("formulas have no values of %v, the type of %s", n.Type, n.Name)
	}
	return nil
}

// declare checks a name of a tensor, given after others.
func (c *compiler) declare(n Name, others []Name) {
	if err := n.Check(); err != nil {
		c.fail(0, "", "%v", err)
	}
	if slices.ContainsFunc(others, func(o Name) bool { return o.Name == n.Name }) {
		c.fail(0, "", "two tensors have the name %s", n.Name)
	}
}

// fail refuses the formula for a fault at a byte of its text.
func (c *compiler) fail(at int, hint, format string, args ...any) {
	panic(&Error{c.f.text, c.column(at), fmt.Sprintf(format, args...), hint})
}

// column returns the column of a byte of the text.
func (c *compiler) column(at int) int {
	return utf8.RuneCountInString(c.f.text[:min(max(at, 0), len(c.f.text))]) + 1
}

// offset returns the byte of the text at which a position is.
func (c *compiler) offset(p token.Pos) int { return c.files.Position(p).Offset }

// refuse is fail at a part of the tree.
func (c *compiler) refuse(n ast.Node, hint, format string, args ...any) {
	c.fail(c.offset(n.Pos()), hint, format, args...)
}
