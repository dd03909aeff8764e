package interp

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"strings"

	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// panicError makes the error of a cell whose execution failed.
func (in *Interp) panicError(c *compiled, err error) *session.Error {
	var p interp.Panic
	if !errors.As(err, &p) {
		return c.yaegiError(err)
	}
	return in.errorOfPanic(p.Value)
}

// errorOfPanic makes the error of a panic with value v.
func (in *Interp) errorOfPanic(v any) *session.Error {
	v = panicValue(v)
	var e *session.Error
	if cause, ok := v.(error); ok && in.options.ConvertError != nil {
		e = in.options.ConvertError(cause)
	}
	if e == nil {
		e = &session.Error{Kind: session.KindPanic, Peer: -1, Msg: "panic: " + in.panicText(v)}
	}
	if e.File == "" {
		in.place(e, in.runtime.position())
	}
	return e
}

// panicText says what a program that panicked with v would print.
func (in *Interp) panicText(v any) string {
	switch v := v.(type) {
	case runtime.Error:
		return plainRuntimeError(v.Error())
	case *reflect.ValueError:
		return "runtime error: invalid memory address or nil pointer dereference"
	case error:
		text, _ := saidBy(v.Error)
		return plainNames(text)
	case fmt.Stringer:
		text, _ := saidBy(v.String)
		return text
	case string:
		return plainRuntimeError(v)
	}
	return in.dynamicText(reflect.ValueOf(v))
}

// plainRuntimeError words a fault that was found by reflection as Go's own.
func plainRuntimeError(s string) string {
	for from, to := range map[string]string{
		"reflect: slice index out of range":                     "runtime error: index out of range",
		"reflect: array index out of range":                     "runtime error: index out of range",
		"reflect: string index out of range":                    "runtime error: index out of range",
		"reflect.Value.Slice: slice index out of bounds":        "runtime error: slice bounds out of range",
		"reflect.Value.Slice3: slice index out of bounds":       "runtime error: slice bounds out of range",
		"reflect.Value.Slice: string slice index out of bounds": "runtime error: slice bounds out of range",
	} {
		if s == from {
			return to
		}
	}
	if strings.HasPrefix(s, "reflect: ") && strings.Contains(s, "zero Value") {
		return "runtime error: invalid memory address or nil pointer dereference"
	}
	return s
}

// place puts a position into e.
func (in *Interp) place(e *session.Error, at token.Pos) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, text := range in.cells {
		if text.place(e, at) {
			return
		}
	}
}

// place puts a position into e, if it is one in c, and reports whether it is.
func (c *cellText) place(e *session.Error, at token.Pos) bool {
	line, column, ok := c.position(at)
	if ok {
		e.File, e.Line, e.Column, e.Source = c.name, c.line+line-1, column, c.sourceLine(line)
	}
	return ok
}
