package interp

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/faults"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// panicError returns the error of a cell whose execution failed.
func (in *Interp) panicError(c *compiled, err error) *session.Error {
	var p interp.Panic
	if !errors.As(err, &p) {
		return yaegiError(c.Cell, err)
	}
	e := in.errorOfPanic(p.Value)
	in.addCall(c, e)
	in.explainNil(c, e)
	return e
}

// addCall adds the position of the cell's own statement to an error if the error happened in a
// function that the statement had called.
func (in *Interp) addCall(c *compiled, e *session.Error) {
	at, call := in.runtime.Position(), in.runtime.CallPosition()
	begun := func(at token.Pos) (n int) { // number of statements that begin up to there
		for _, s := range c.own {
			if s.begin <= at {
				n++
			}
		}
		return n
	}
	if within(c.own, at) && !within(c.funcs, at) {
		return
	}
	var here, from session.Error
	in.place(&here, at)
	if begun(at) == begun(call) || here.File != e.File || here.Line != e.Line || !c.Place(&from, call) {
		return
	}
	e.Detail = strings.TrimLeft(fmt.Sprintf("%s\nwhile the cell was at %s:%d:%d", e.Detail, from.File, from.Line, from.Column), "\n")
}

// errorOfPanic returns the error of a panic with value v.
func (in *Interp) errorOfPanic(v any) *session.Error {
	p := in.runtime.Stacks.Raised(v)
	v = p.Value
	var e *session.Error
	if u, ok := v.(faults.Unsupported); ok {
		e = &session.Error{Kind: session.KindUnsupported, Peer: -1, Msg: string(u)}
	} else if cause, ok := v.(error); ok && in.options.ConvertError != nil {
		e = in.options.ConvertError(cause)
	}
	switch {
	case e == nil:
		e = &session.Error{Kind: session.KindPanic, Peer: -1, Msg: in.panicReport(p)}
	case p.Before != nil:
		e.Detail = strings.TrimLeft(e.Detail+"\nin a deferred call, after "+in.panicReport(p.Before), "\n")
	}
	if _, ours := v.(runtime.Error); ours || e.Kind != session.KindPanic {
		in.mu.Lock()
		e.Msg = in.checker.AsCalled(e.Msg, in.checker.Imports())
		e.Hint = in.help.GroupCalled(e.Hint)
		in.mu.Unlock()
	}
	if e.Kind == session.KindCompile && e.Hint == "" {
		e.Hint = help.IncludeHint(e.Msg)
	}
	if hinted, ok := v.(interface{ Hint() string }); ok && e.Hint == "" {
		e.Hint = hinted.Hint()
	}
	if e.File == "" {
		in.place(e, in.runtime.Position())
	}
	return e
}

// Position returns the position of the running statement, or of the last one, as a number for
// Place. It may be called at any time.
func (in *Interp) Position() int { return int(in.runtime.Position()) }

// Doing describes the activity of the running cell. It may be called at any time.
func (in *Interp) Doing() session.Activity {
	if s := in.runtime.Stops.Standing(); s != nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		at := in.placeOf(s.Frames[0].Pos)
		return session.Activity{What: "stands at a breakpoint", At: fmt.Sprintf("%s:%d", at.Name, at.Line), Blocked: true}
	}
	d := in.runtime.Doing()
	a := session.Activity{What: d.What, Blocked: d.Blocked, Input: d.Input, Sleeps: d.Sleeps, Beside: d.Beside}
	var e session.Error
	if in.place(&e, in.runtime.Position()); e.File != "" {
		a.At = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return a
}

// Others returns the number of cells and goroutines of cells that run, and reports whether nothing
// else can run code of cells. It may be called at any time.
func (in *Interp) Others() (running int, all bool) { return in.runtime.Others() }

// Calls returns the compiled calls of interrupted cells that have not returned. It may be called at any time.
func (in *Interp) Calls() []session.LateCall {
	var list []session.LateCall
	for _, c := range in.runtime.Calls() {
		list = append(list, session.LateCall{Function: c.Function, Cell: c.Cell, At: c.At})
	}
	return list
}

// Place gives an error without a position the position at, a result of Position, if the code there
// may still run or belongs to one of about a thousand latest cells. If the error has a position,
// Place adds the line of source there.
func (in *Interp) Place(e *session.Error, at int) {
	if e.File == "" {
		in.place(e, token.Pos(at))
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, text := range in.texts {
		if e.Source == "" && text.Name == e.File {
			e.Source = text.SourceLine(e.Line - text.Line + 1)
		}
	}
}

// panicReport returns the text that a program prints for a panic, beginning with the panics in
// whose deferred calls it began.
func (in *Interp) panicReport(p *stacks.Panic) string {
	text := "panic: " + in.panicText(p.Value)
	switch {
	case p.Repanicked:
		text += " [recovered, repanicked]"
	case p.Recovered:
		text += " [recovered]"
	}
	if p.Before != nil {
		text = in.panicReport(p.Before) + "\n\t" + text
	}
	return text
}

// panicText returns the text that a program that panicked with v would print. If v is neither an
// error, a Stringer nor of a basic type, Go would print its address; panicText returns its value.
func (in *Interp) panicText(v any) string {
	switch v := v.(type) {
	case error:
		text, _ := values.Say(v.Error, stacks.PanicValue)
		return indented(contract.PlainNames(text))
	case fmt.Stringer:
		text, _ := values.Say(v.String, stacks.PanicValue)
		return indented(text)
	case string:
		return indented(v)
	}
	r := reflect.ValueOf(v)
	t := in.runtime.Natives.CellType(r)
	if t == nil {
		return in.dynamicText(r)
	}
	basic, ok := t.Underlying().(*types.Basic)
	switch {
	case !ok:
		return in.dynamicText(r)
	case r.Kind() == reflect.String:
		return fmt.Sprintf("%s(\"%s\")", r.Type(), indented(r.String()))
	}
	return fmt.Sprintf("%s(%s)", r.Type(), in.dynamicText(r.Convert(check.BasicType(basic))))
}

// indented returns a text of several lines as the report of a panic shows it.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n\t") }

// place puts a position into e.
func (in *Interp) place(e *session.Error, at token.Pos) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, text := range in.texts {
		if text.Place(e, at) {
			return
		}
	}
	in.past.place(e, at)
}
