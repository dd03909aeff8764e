package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Record is the entry of a call in the log of the world, with its group.
type Record struct {
	calls.Entry
	group   *Group
	work    int64                                           // of Async in which it was made, or 0
	Refused func(c *Record, e *Error, r *device.WaitRecord) // explains a value that its kernel refused; nil if it refuses none
	checked *checkedLaunch                                  // of a kernel with checked pointers, else nil
	text    *device.Source                                  // of a kernel that includes nvshmem.h, else nil
}

// note remembers a call and returns its id, which is never 0. rt.mu is held.
func (rt *Runtime) note(c *Record) uint32 {
	if rt.capture != nil {
		c.Replay = &rt.capture.replay
	}
	c.ID, c.Caller = rt.calls.Note(*c)
	if rt.capture != nil {
		rt.capture.calls = append(rt.capture.calls, *c)
	}
	for _, o := range rt.following() {
		o.known(c.ID, c.group, c.Ordinal)
	}
	return c.ID
}

// find returns the call of an id, if it is still remembered.
func (rt *Runtime) find(id uint32) (Record, bool) {
	if c, ok := rt.calls.Find(id); ok {
		return c, true
	}
	for _, g := range *rt.graphs.Load() {
		if i := slices.IndexFunc(g.calls, func(c Record) bool { return c.ID == id }); i >= 0 {
			return g.calls[i], true
		}
	}
	return Record{}, false
}

// Tally sums up the stream-ordered collective calls that this rank has made in one group since the
// group was made or recovered. Such calls are not compared before they run, which would cost a trip
// over the host; members whose tallies differ have made different calls.
type Tally struct {
	Group  string // as in messages
	Key    string // equal on all members, and on no other group
	Ranks  []int  // the members
	Calls  uint64
	Digest uint64 // of the calls in order: operations, parts of symmetric tensors, arguments
	Last   string // "one_shot_all_reduce bf16[16] sum", "barrier over the null network"
	Caller int    // where that was called, as Config.Caller said
}

// Tallies returns the tally of every group in which this rank has made a call.
func (rt *Runtime) Tallies() []Tally {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var list []Tally
	for _, g := range rt.groups {
		if g.count.Calls > 0 {
			last := g.latest.Text()
			if g.latest.Far {
				last += " over " + rt.between()
			}
			list = append(list, Tally{
				Group: g.String(), Key: g.key, Ranks: g.Ranks(), Calls: g.count.Calls, Digest: uint64(g.count.Digest), Last: last, Caller: g.latest.Caller,
			})
		}
	}
	return list
}

// tally numbers a collective call and adds it to the group's tally. rt.mu is held.
func (g *Group) tally(c *Record) {
	c.Ordinal, c.Caller = g.count.Add(&c.Made), g.rt.calls.Caller()
	g.latest = *c
}

// On adds a part of a symmetric tensor to the record: the part must be the same on all members.
// Tensors that are not symmetric are refused later.
func (c *Record) On(t *Tensor) {
	if a := t.st.alloc; a != nil {
		c.Parts.Mix(uint64(a.digest))
		c.Parts.Mix(uint64(t.offset))
	}
}

// checkedLaunch describes the memory that a kernel with checked pointers was given, to explain an
// access outside.
type checkedLaunch struct {
	text  device.Source
	given []location
}
