package symmem

import (
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Work is the work that a call of [Runtime.Async] has issued, as PyTorch's Work.
type Work struct {
	rt     *Runtime
	number int64

	// Guarded by rt.mu.
	lane *workLane     // nil once it is over, and another work has its place
	took time.Duration // then
}

// workLane is a stream for one work at a time, and the events of its beginning and its end.
type workLane struct {
	stream     *Stream
	ready      device.Event // of the stream from which Async was called
	begin, end device.Event
	work       *Work
	issuing    bool // the function of Async runs
}

// working has the lanes of works, and the number of the latest; guarded by rt.mu.
type working struct {
	works []*workLane
	work  int64
}

// Async calls f with a stream of its own as the current stream, and returns the work that f has issued
// there. The work begins after the earlier work of the current stream, and sees its results. It runs
// beside later work. If f panics with an error, Async panics with it. In a capture Async is refused.
func (rt *Runtime) Async(f func()) *Work {
	const op = "Async"
	rt.refuseClosed(op)
	rt.needFunction(op, f)
	w := rt.beginWork(op)
	defer w.issued()
	rt.OnStream(w.lane.stream, f)
	return w
}

// beginWork finds a lane that is free, or makes one, and orders it after the current stream.
func (rt *Runtime) beginWork(op string) *Work {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.capture != nil {
		panic(rt.misuse(op, "", "call the function itself: a graph has one stream", "not allowed while a graph is captured"))
	}
	c := rt.ownCall(op)
	c.PickStream()
	l, err := rt.freeLane()
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.work++
	w := &Work{rt: rt, number: rt.work, lane: l}
	l.work, l.issuing, l.stream.work = w, true, w.number
	c.issued(c.stream.record(l.ready))
	c.issued(l.stream.wait(l.ready))
	c.issued(l.stream.record(l.begin))
	c.issued(l.stream.record(l.end)) // of a work whose function panics
	return w
}

// freeLane is a lane whose work is over, or a new one. rt.mu is held.
func (rt *Runtime) freeLane() (*workLane, error) {
	for _, l := range rt.works {
		if !l.issuing && l.stream.rests(false) {
			if w := l.work; w != nil {
				w.took, _ = l.time()
				w.lane = nil
			}
			return l, nil
		}
	}
	d, err := rt.dev.NewStream()
	if err != nil {
		return nil, err
	}
	l := &workLane{stream: rt.adopt(d)}
	for _, e := range []*device.Event{&l.ready, &l.begin, &l.end} {
		if *e, err = rt.dev.NewEvent(); err != nil {
			return nil, err
		}
	}
	rt.works = append(rt.works, l)
	return l, nil
}

// time is the device time of the lane's work, which is over.
func (l *workLane) time() (time.Duration, error) {
	us, err := l.end.Since(l.begin)
	return time.Duration(us * float64(time.Microsecond)), err
}

// issued ends the issuing of a work.
func (w *Work) issued() {
	w.rt.mu.Lock()
	defer w.rt.mu.Unlock()
	w.lane.stream.record(w.lane.end) // a failure is the work's
	w.lane.issuing = false
}

// exists refuses a nil work.
func (w *Work) exists(op string) {
	if w == nil || w.rt == nil {
		panic(nilArgument(op, "work"))
	}
}

// Wait makes later work on the current stream, or on the given one, wait for the work. It does not
// wait on the host, like PyTorch's Work.wait on GPUs; Synchronize does.
func (w *Work) Wait(opts ...Option) {
	const op = "Work.Wait"
	w.exists(op)
	rt := w.rt
	rt.hostCall(op)
	c := rt.newCall(operators.WorkWait, rt.all, opts)
	defer c.Enter().Leave()
	c.PickStream()
	if w.lane != nil {
		c.issued(c.stream.wait(w.lane.end))
	}
}

// Synchronize waits on the host until the work is over, and panics with its first fault.
func (w *Work) Synchronize() {
	w.synchronize("Work.Synchronize")
}

func (w *Work) synchronize(op string) {
	w.exists(op)
	w.rt.hostCall(op)
	if l := w.runsOn(); l != nil {
		w.rt.raise(op, l.stream.synchronize())
	}
}

// Done reports whether the work is over. It waits for nothing.
func (w *Work) Done() bool {
	const op = "Work.Done"
	w.exists(op)
	w.rt.refuseClosed(op)
	l := w.runsOn()
	return l == nil || !l.issuing && l.stream.rests(false)
}

// Time is the device time that the work took. It waits on the host until the work is over.
func (w *Work) Time() time.Duration {
	const op = "Work.Time"
	w.synchronize(op)
	w.rt.mu.Lock()
	defer w.rt.mu.Unlock()
	if w.lane != nil {
		var err error
		if w.took, err = w.lane.time(); err != nil {
			panic(w.rt.failure(op, err))
		}
	}
	return w.took
}

// runsOn returns the lane of the work, or nil after the work is over and its lane was returned.
func (w *Work) runsOn() *workLane {
	w.rt.mu.Lock()
	defer w.rt.mu.Unlock()
	return w.lane
}

// String is "work 3", as waits call it.
func (w *Work) String() string {
	if w == nil || w.rt == nil {
		return "nil work"
	}
	return fmt.Sprintf("work %d", w.number)
}

// within names the work in which a call was made: " in work 3 of Async"; empty if it is none.
func (c *Record) within() string {
	if c.work == 0 {
		return ""
	}
	return fmt.Sprintf(" in work %d of Async", c.work)
}
