package stacks

import (
	"runtime"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
)

// Defers has the deferred calls of one call of a function.
type Defers struct {
	of    *Stacks
	calls []deferred
	stack stackOfDefers
	*Panic
}

// deferred is a deferred call.
type deferred struct {
	call func() // nil for recover
	// how many functions of cells deep, counted from call, the deferred function is: 1 if it is
	// call itself, 2 if call calls it
	depth int
}

// NewDefers returns the deferred calls of a call that has deferred none yet.
func (s *Stacks) NewDefers() *Defers {
	return &Defers{of: s, Panic: &Panic{Recovered: true}}
}

// Push defers a call of function.
func (d *Defers) Push(function func()) { d.calls = append(d.calls, deferred{function, 1}) }

// PushCall defers the function that call calls.
func (d *Defers) PushCall(call func()) { d.calls = append(d.calls, deferred{call, 2}) }

// PushRecover defers a call of the builtin recover. It stops the panic because of which the
// function that defers it runs as a deferred call.
func (d *Defers) PushRecover() { d.calls = append(d.calls, deferred{nil, 0}) }

// Do runs a function's body and then its deferred calls, last first. If the function still panics
// then, Do panics. If code of cells is stopped meanwhile, the deferred calls are made later.
func (d *Defers) Do(body func()) {
	d.stack = d.of.deferring()
	left := false
	defer func() {
		if !left { // by runtime.Goexit
			d.RunAll()
		}
	}()
	d.attempt(body)
	d.RunAll()
	left = true
	if !d.Recovered && len(d.calls) == 0 {
		*d.of.Mark = d.at
		d.of.panics.raise(d.Panic)
		panic(d.Value)
	}
}

// RunAll makes the deferred calls. If code of cells is stopped, it keeps them for later.
func (d *Defers) RunAll() {
	for len(d.calls) > 0 && !d.of.leave(d) {
		call := d.calls[len(d.calls)-1]
		d.calls = d.calls[:len(d.calls)-1]
		if call.call != nil {
			d.run(call)
		} else if d.Recovered {
			d.of.recoverAt(1) // calledAt takes Do for a body, which has returned
		}
	}
}

// attempt makes a call. If the call panics, that panic replaces the current one.
func (d *Defers) attempt(call func()) {
	defer func() {
		if v := recover(); v != nil {
			d.Panic = d.of.panics.raised(PanicValue(v))
			d.at = *d.of.Mark
			if frames := d.stack.panicked(d.Value, d.at); d.frames == nil {
				d.frames = frames
			}
		}
	}()
	call()
}

// run makes a deferred call.
func (d *Defers) run(c deferred) {
	under := d.Panic
	panics := !under.Recovered
	defer d.of.panics.enter(under)()
	defer d.stack.enter(under)()
	d.depth = c.depth
	d.attempt(c.call)
	if panics && d.Panic != under {
		d.beganUnder(under)
	}
}

// Recover is the builtin recover in a cell: it stops a panic only if the deferred function
// itself calls it.
func (s *Stacks) Recover() any { return s.recoverAt(0) }

// recoverAt is recover for a caller that is deeper by some functions than the stack shows.
func (s *Stacks) recoverAt(deeper int) any {
	p := s.panics.current()
	if p == nil || p.Recovered || calledAt()+deeper != p.depth {
		return nil
	}
	p.Recovered = true
	return p.Value
}

// Forward notes that the calling function of a cell calls another function in its place. If the
// caller is the deferred function, that other function becomes it.
func (s *Stacks) Forward() {
	if p := s.panics.current(); p != nil && !p.Recovered && calledAt() == p.depth {
		p.depth++
	}
}

// Functions on the stack of a goroutine that runs deferred calls.
const (
	// Yaegi's function for a function of a cell, and for a body that Do runs; calledBody is the step
	// that this module uses instead of it where it can.
	cellFunction = yaegi.CallFunction
	calledBody   = yaegi.BodyFunction
	runDeferred  = ownPrefix + "(*Defers).run"
	doBody       = ownPrefix + "(*Defers).Do"
	ownPrefix    = "github.com/symmrepl/symmrepl/interp/run/stacks."
)

// calledAt returns the number of functions of cells between the deferred call that runs and the
// caller of recover.
func calledAt() int {
	var pcs [64]uintptr
	depth := 0
	for skip := 0; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			switch f.Function {
			case cellFunction, calledBody:
				depth++
			case doBody:
				depth-- // a function and its body are one
			case runDeferred:
				return depth
			}
		}
		if n < len(pcs) {
			return 0
		}
	}
}
