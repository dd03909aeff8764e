package interp

import "reflect"

// defers are the deferred calls of one call of a function.
type defers struct {
	r     *cellRuntime
	calls []func()
	*panicking
}

// panicking is the panic that deferred calls run under.
type panicking struct {
	value     any
	recovered bool
}

func (r *cellRuntime) newDefers() *defers { return &defers{r: r} }

// Push defers a call.
func (d *defers) Push(call func()) { d.calls = append(d.calls, call) }

// Do runs a function's body and then its deferred calls, last first. It panics if the function still does at the end.
func (d *defers) Do(body func()) {
	d.panicking = &panicking{recovered: true}
	d.attempt(body)
	for len(d.calls) > 0 {
		call := d.calls[len(d.calls)-1]
		d.calls = d.calls[:len(d.calls)-1]
		d.run(call)
	}
	if !d.recovered {
		panic(d.value)
	}
}

// attempt makes a call; if it panics, that panic takes the place of the one before.
func (d *defers) attempt(call func()) {
	defer func() {
		if v := recover(); v != nil {
			d.value, d.recovered = panicValue(v), false
		}
	}()
	call()
}

// run makes a deferred call.
func (d *defers) run(call func()) {
	defer d.r.panics.enter(d.panicking)()
	d.attempt(call)
}

// recoverPanic is recover() in a cell.
func (r *cellRuntime) recoverPanic() any { return r.panics.recover() }

// panicValue is what a program panicked with: yaegi wraps that.
func panicValue(v any) any {
	if r, ok := v.(reflect.Value); ok && r.IsValid() {
		return r.Interface()
	}
	return v
}
