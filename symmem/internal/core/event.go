package symmem

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Event marks a place in a stream, to wait for and to measure from.
type Event struct {
	rt     *Runtime
	d      device.Event
	serial int64 // two events are locked in the order of these

	// use is held for reading while d is used, and for writing by Free. It is taken before rt.mu.
	use   sync.RWMutex
	freed bool // guarded by use
}

// eventSerial numbers the events of this process.
var eventSerial atomic.Int64

// NewEvent returns an event that was not recorded yet.
func (rt *Runtime) NewEvent() *Event {
	const op = "NewEvent"
	rt.refuseClosed(op)
	d, err := rt.dev.NewEvent()
	if err != nil {
		panic(rt.failure(op, err))
	}
	return &Event{rt: rt, d: d, serial: eventSerial.Add(1)}
}

// exists refuses a nil event.
func (e *Event) exists(op string) {
	if e == nil || e.rt == nil {
		panic(nilArgument(op, "event"))
	}
}

// usable refuses an event that was freed, given as the argument arg. e.use is held.
func (e *Event) usable(op, arg string) {
	e.rt.refuseClosed(op)
	if e.freed {
		panic(e.rt.misuse(op, arg, "make another by NewEvent", "the event was freed"))
	}
}

// Record marks the end of the work that was issued so far on the current stream, or on the given
// one.
func (e *Event) Record(opts ...Option) { e.on(operators.EventRecord, opts, (*Stream).record) }

// Wait makes work that is issued later on the current stream, or on the given one, wait for the
// event.
func (e *Event) Wait(opts ...Option) { e.on(operators.EventWait, opts, (*Stream).wait) }

func (e *Event) on(of *operators.Operator, opts []Option, do func(*Stream, device.Event) error) {
	op := of.Name
	e.exists(op)
	e.use.RLock()
	defer e.use.RUnlock()
	e.usable(op, "event")
	c := e.rt.newCall(of, e.rt.all, opts)
	defer c.Enter().Leave()
	c.PickStream()
	c.issued(do(c.stream, e.d))
}

// Synchronize waits on the host until the event was reached.
func (e *Event) Synchronize() {
	const op = "Event.Synchronize"
	e.exists(op)
	e.rt.hostCall(op)
	e.use.RLock()
	defer e.use.RUnlock()
	e.usable(op, "event")
	defer e.rt.traceHost(op, nil, "")()
	e.rt.raise(op, e.synchronize())
}

func (e *Event) synchronize() error {
	e.rt.countIn()
	defer e.rt.countOut()
	return e.d.Synchronize()
}

// Since is the device time from an earlier event to this one; it panics unless both have been
// reached. It is exact to about half a microsecond.
func (e *Event) Since(earlier *Event) time.Duration {
	const op = "Event.Since"
	e.exists(op)
	if earlier == nil || earlier.rt == nil {
		panic(e.rt.misuse(op, "earlier", hintFor("event"), "the event is nil"))
	}
	if earlier.rt != e.rt {
		panic(e.rt.misuse(op, "earlier", "give an event of this world", "the event belongs to another world"))
	}
	first, second := e, earlier
	if first.serial > second.serial {
		first, second = second, first
	}
	first.use.RLock()
	defer first.use.RUnlock()
	if second != first {
		second.use.RLock()
		defer second.use.RUnlock()
	}
	e.usable(op, "event")
	earlier.usable(op, "earlier")
	us, err := e.d.Since(earlier.d)
	if err != nil {
		failed := e.rt.failure(op, err)
		failed.Hint = cmp.Or(failed.Hint, "Record both events, and Synchronize with the later one")
		panic(failed)
	}
	return time.Duration(us * float64(time.Microsecond))
}

// Free gives the event back. Streams that wait for it go on when it is reached.
func (e *Event) Free() {
	const op = "Event.Free"
	e.exists(op)
	e.use.Lock()
	defer e.use.Unlock()
	e.usable(op, "event")
	e.freed = true
	if err := e.d.Close(); err != nil {
		panic(e.rt.failure(op, err))
	}
}

// Elapsed calls f and returns the device time that the work it issued on the current stream took.
// It waits for that work.
func (rt *Runtime) Elapsed(f func()) time.Duration {
	const op = "Elapsed"
	rt.hostCall(op)
	rt.all.usable(op)
	rt.needFunction(op, f)
	start, end := rt.NewEvent(), rt.NewEvent()
	defer start.Free()
	defer end.Free()
	start.Record()
	f()
	end.Record()
	end.Synchronize()
	return end.Since(start)
}
