package trace

import (
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// shortest is the shortest wait for an event, in nanoseconds, that is one: the event was not reached
// yet.
const shortest = 2000

// recorded ends the device's recording, and gives its activities to the operations.
func (t *Trace) recorded(to *timeline.Rank) error {
	to.Source, to.Clock.Device = t.recording.Source(), t.recording.Within()
	list, more, err := t.recording.End()
	to.More += more
	for i := range list {
		a := &list[i]
		if a.Kind == device.ActivityWait {
			if c := t.calls[a.Wait.Ordinal]; c.o != nil {
				w := c.wait(&a.Wait)
				w.begin, w.end = a.Begin, a.End
				c.o.waits = append(c.o.waits, w)
			}
			continue
		}
		if a.Call < 1 || a.Call > uint64(len(t.ops)) {
			continue
		}
		if o := t.ops[a.Call-1]; a.Kind != device.ActivityEvent || a.End-a.Begin >= shortest {
			o.did(a)
		}
	}
	ends := map[timeline.Track]int64{}
	for _, o := range t.ops {
		if o.copied != nil && len(o.parts) == 0 { // the host has made it, when the stream was at rest
			o.copied.Begin = min(max(o.copied.Begin, ends[o.Track]), o.copied.End)
			o.did(o.copied)
		}
		ends[o.Track] = max(ends[o.Track], o.End())
	}
	return err
}

// did notes an activity of the operation.
func (o *operation) did(a *device.Activity) {
	if o.Begin == 0 {
		o.Begin, o.Took = a.Begin, a.End-a.Begin
	}
	end := max(o.End(), a.End)
	o.Begin = min(o.Begin, a.Begin)
	o.Took = end - o.Begin
	part := timeline.Slice{Kind: timeline.Kernel, Track: o.Track, Name: a.Name, Begin: a.Begin, Took: a.End - a.Begin,
		Call: o.Call, Caller: o.Caller}
	switch a.Kind {
	case device.ActivityKernel:
		part.Grid, part.Block = dims(a.Grid), dims(a.Block)
	case device.ActivityCopy:
		part.Kind, part.Name, part.Bytes = timeline.Copy, "copy", a.Bytes
	case device.ActivitySet:
		part.Kind, part.Name, part.Bytes = timeline.Copy, "set", a.Bytes
	case device.ActivityEvent:
		o.waits = append(o.waits, wait{what: "an event", begin: a.Begin, end: a.End})
		return
	case device.ActivityAwait:
		w := wait{what: "a word", begin: a.Begin, end: a.End}
		if len(o.stores) > 0 { // in the order in which they were issued
			if o.stores[0] >= 0 {
				w.peers, w.what = []int{o.stores[0]}, "it to come to the copies, or to be done with them"
			}
			o.stores = o.stores[1:]
		}
		if a.End-a.Begin >= shortest || len(w.peers) == 0 {
			o.waits = append(o.waits, w)
		}
		return
	}
	o.parts = append(o.parts, part)
}

// dims are dimensions without the ones at the end.
func dims(d [3]int) []int {
	n := 3
	for n > 1 && d[n-1] == 1 {
		n--
	}
	return append([]int(nil), d[:n]...)
}
