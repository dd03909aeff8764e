package symmem

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/trace"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Traced is an operation of this rank as a trace saw it.
type Traced struct {
	Op     string // "wait_signal", "Rendezvous"
	Caller int    // where it was called, as Config.Caller said
	Stream int    // the number of the stream; -1 for a collective call that waited on the host
	Begin  time.Time
	Took   time.Duration
	Over   string // the network that it used between hosts: "the null network to rank 3 on host 1"; empty if none
	Bytes  int    // that went over it
	Waits  []TracedWait
}

// TracedWait is a part of an operation in which it waited for others.
type TracedWait struct {
	Peers []int // world ranks
	Begin time.Time
	Took  time.Duration
}

// StartTrace waits for this rank's work and begins to note when each operation on a stream begins
// and ends and for whom it waits, and when collective calls on the host do. That costs each
// operation some time of its own. Operations within a graph are not distinguished.
func (rt *Runtime) StartTrace() {
	const op = "StartTrace"
	rt.hostCall(op)
	rt.synchronize(op)
	rt.StopTrace()
	t, err := trace.Start(rt.dev, rt.watch, rt.first.record, rt.calls.Caller, func(r *device.WaitRecord) []int {
		_, peers := rt.parties(r)
		return peers
	})
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, s := range rt.streams {
		s.mu.Lock()
		s.d = t.Stream(s.d, s.id)
		s.mu.Unlock()
	}
	rt.trace.Store(t)
}

// StopTrace ends a trace and returns its operations by when they began, the first few thousand, and
// how many more there were. Without a trace there are none. It waits for work that is under way.
func (rt *Runtime) StopTrace() (ops []Traced, more int) {
	t := rt.trace.Swap(nil)
	if t == nil {
		return nil, 0
	}
	t.Stop()
	rt.drain() // its errors belong to the cell that was traced
	rt.mu.Lock()
	for _, s := range rt.streams {
		s.mu.Lock()
		s.d = trace.Untraced(s.d)
		s.mu.Unlock()
	}
	rt.mu.Unlock()
	list, more := t.Operations()
	for _, o := range list {
		traced := Traced{Op: o.Op, Caller: o.Caller, Stream: o.Stream, Begin: o.Begin, Took: o.Took, Over: o.Over, Bytes: o.Bytes}
		for _, w := range o.Waits {
			traced.Waits = append(traced.Waits, TracedWait(w))
		}
		ops = append(ops, traced)
	}
	return ops, more
}
