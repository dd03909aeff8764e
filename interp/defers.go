package interp

import "sync"

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

// Run makes the deferred calls, last first, while the function panics with value, or returns when value is nil. It panics if the function still does
// at the end.
func (d *defers) Run(value any) {
	d.panicking = &panicking{value: value, recovered: value == nil}
	for len(d.calls) > 0 {
		call := d.calls[len(d.calls)-1]
		d.calls = d.calls[:len(d.calls)-1]
		d.run(call)
	}
	if !d.recovered {
		panic(d.value)
	}
}

// run makes one call; if it panics, that panic takes the place of the one before.
func (d *defers) run(call func()) {
	leave := d.r.traces.enter(d.panicking)
	defer leave()
	defer func() {
		if v := recover(); v != nil {
			d.panicking.value, d.panicking.recovered = v, false
		}
	}()
	call()
}

// recoverPanic is recover() in a cell.
func (r *cellRuntime) recoverPanic() any { return r.traces.recover() }

// deferStacks are the panics under which each goroutine's deferred calls run, innermost last.
type deferStacks struct {
	mu sync.Mutex
	by map[uint64][]*panicking
}
