package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// unmade is a cell that failed before it gave some of its variables a value.
type unmade struct {
	cell string // "cell[3]"
	msg  string // of its error
}

// assigned returns the names of the session's variables that the cell's own statements define or
// assign. Compiling changes the syntax, so it is called before.
func assigned(c *check.Cell) (names []string) {
	for _, v := range c.Vars {
		names = append(names, v.Name())
	}
	for _, s := range c.Stmts {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, e := range a.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// noteUnmade records the end of a cell for explainNil.
func (in *Interp) noteUnmade(c *compiled, err *session.Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, name := range c.assigned {
		if err == nil {
			delete(in.unmade, name)
		} else {
			in.unmade[name] = unmade{c.Text.Name, err.Msg}
		}
	}
}

// explainNil adds to the error of a use of nil which variable of its line, or of the line at which the
// cell was, is nil because the cell failed that should have made it.
func (in *Interp) explainNil(c *compiled, e *session.Error) {
	if !strings.HasSuffix(e.Msg, " is nil") && !strings.Contains(e.Msg, "nil pointer dereference") && !strings.Contains(e.Msg, "nil map") {
		return
	}
	var own session.Error
	c.Place(&own, in.runtime.CallPosition())
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, name := range append(identifiers(e.Source), identifiers(own.Source)...) {
		u, failed := in.unmade[name]
		if failed && in.isNil(name) {
			e.Hint = fmt.Sprintf("%s is nil because %s failed: %s; correct and run that cell first", name, u.cell, u.msg)
			return
		}
	}
}

// isNil reports whether a variable of the session is nil.
func (in *Interp) isNil(name string) bool {
	for _, v := range in.variablesCalled(name) {
		switch v.Value.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func, reflect.Slice, reflect.Chan:
			return v.Value.IsNil()
		}
	}
	return false
}

// identifiers returns the identifiers in a line of source that no selector has before them.
func identifiers(line string) (names []string) {
	before := token.ILLEGAL
	for t := range gotokens.All(line) {
		if t.Kind == token.IDENT && before != token.PERIOD {
			names = append(names, t.Text)
		}
		before = t.Kind
	}
	return names
}
