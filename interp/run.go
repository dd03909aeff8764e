package interp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// runState is what is known about the cell that runs.
type runState struct {
	left chan struct{} // closed when the running cell's code has left
}

// grace is how long Eval waits for an interrupted cell to leave.
const grace = 2 * time.Second

// execute runs a compiled cell.
func (in *Interp) execute(ctx context.Context, c *compiled) session.Result {
	if c.decls != nil {
		if _, err := in.yaegi.Execute(c.decls); err != nil {
			return session.Result{Err: c.errorAt(session.KindSystem, c.body.Pos(), err.Error())}
		}
	}
	r := in.runtime
	r.values, r.shown = nil, false
	r.begin(ctx)
	var trace []string
	id := atomic.LoadUint64(in.inside.runID)
	left := make(chan struct{})
	var runErr error
	// ExecuteWithContext returns as soon as ctx ends; the cell's own goroutine leaves a little later.
	r.left = func() { trace = r.traces.take(); close(left) }
	_, runErr = in.yaegi.ExecuteWithContext(ctx, c.main)
	select {
	case <-left:
	case <-time.After(grace):
		return session.Result{Err: in.interrupted(c)}
	}
	in.inside.forget()
	if ctx.Err() != nil && errors.Is(runErr, ctx.Err()) {
		atomic.StoreUint64(in.inside.runID, id)
		return session.Result{Err: in.interrupted(c)}
	}
	if runErr != nil {
		return session.Result{Err: in.panicError(c, runErr, trace)}
	}
	return in.result(c)
}

func (in *Interp) interrupted(c *compiled) *session.Error {
	return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
}

// panicError makes the error of a cell that panicked.
func (in *Interp) panicError(c *compiled, err error, trace []string) *session.Error {
	var p interp.Panic
	if !errors.As(err, &p) {
		return c.yaegiError(err)
	}
	value := p.Value
	if v, ok := value.(reflect.Value); ok {
		value = v.Interface()
	}
	e := &session.Error{Kind: session.KindPanic, Peer: -1}
	if cause, ok := value.(error); ok && in.options.ConvertError != nil {
		if converted := in.options.ConvertError(cause); converted != nil {
			e = converted
		}
	}
	if e.Msg == "" {
		e.Msg = "panic: " + panicText(value)
	}
	if e.File == "" {
		in.place(e, c, trace)
	}
	return e
}

// place puts the position of the panic into e.
func (in *Interp) place(e *session.Error, c *compiled, trace []string) {
	at := in.runtime.position()
	for _, text := range append([]*cellText{c.cellText}, in.cells...) {
		if line, column, ok := text.position(at); ok {
			e.File, e.Line, e.Column, e.Source = text.name, text.line+line-1, column, text.sourceLine(line)
			return
		}
	}
	_ = trace
}

func panicText(v any) string {
	switch v := v.(type) {
	case runtime.Error:
		return v.Error()
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string:
		return v
	}
	return fmt.Sprintf("%v", v)
}

// result prints the value of the cell's last expression.
func (in *Interp) result(c *compiled) session.Result {
	r := in.runtime
	if !r.shown {
		return session.Result{}
	}
	if len(c.values) == 1 && len(r.values) == 0 {
		return session.Result{Value: "nil", HasValue: true}
	}
	var texts []string
	for i, p := range r.values {
		texts = append(texts, in.print(p.Elem(), c.values[i]))
	}
	r.values = nil
	return session.Result{Value: strings.Join(texts, ", "), HasValue: true}
}
