package executions

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/session"
)

// Compiled code also calls functions and methods of cells on its own goroutines, where nothing
// recovers from a panic. For example, os/exec copies a command's output to a writer on such a
// goroutine. When a panic leaves an interpreted function, yaegi writes a line to its standard
// error, on that goroutine. foreignPanics is that standard error.

// foreignPanics ends a goroutine of compiled code on which a function of a cell panics. The value
// of the panic is unknown there.
type foreignPanics struct{ es *Executions }

// Write is called for every interpreted function that a panic leaves.
func (f foreignPanics) Write(p []byte) (int, error) {
	if f.es.recovers() || recovers() {
		return len(p), nil
	}
	e := &session.Error{Kind: session.KindPanic, Peer: -1, Msg: "panic in a function that compiled code called on a goroutine of its own"}
	f.es.host.Locate(e, f.es.Position())
	f.es.report(f.es.current(), e)
	runtime.Goexit()
	return 0, nil
}

// recovering lists prefixes of functions that recover from panics in their callees: functions of
// this package, and of compiled code.
var recovering = []string{
	roomPrefix + "stacks.(*Defers).attempt",
	ownPrefix + "(*Executions).SetFinalizer.",
	"github.com/symmrepl/symmrepl/interp.",
	"github.com/symmrepl/symmrepl/internal/values.",
	"net/http.(*conn).serve",
}

// recovers reports whether a function that recovers is on the stack of the caller's caller.
func recovers() bool {
	const self = 3 // runtime.Callers, recovers, Write
	pcs := make([]uintptr, 256)
	n := runtime.Callers(self, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 4*len(pcs))
		n = runtime.Callers(self, pcs)
	}
	frames := runtime.CallersFrames(pcs[:n])
	for {
		frame, more := frames.Next()
		if slices.ContainsFunc(recovering, func(name string) bool { return strings.HasPrefix(frame.Function, name) }) {
			return true
		}
		if !more {
			return false
		}
	}
}

// recovers reports whether the calling goroutine recovers from panics of cells. On another
// goroutine a panic may end the process.
func (es *Executions) recovers() bool {
	_, own := es.own.Load(goid.Get())
	return own
}

// SetFinalizer is runtime.SetFinalizer. All finalizers run on one goroutine, which must not end.
func (es *Executions) SetFinalizer(obj, finalizer any) {
	f := reflect.ValueOf(finalizer)
	if f.Kind() != reflect.Func || f.IsNil() {
		runtime.SetFinalizer(obj, finalizer)
		return
	}
	r := es.current()
	runtime.SetFinalizer(obj, reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		defer es.recoverTo(r)
		return f.Call(args)
	}).Interface())
}
