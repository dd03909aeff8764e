package symmem

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Record is what is remembered of one stream-ordered call, to explain the waits of its kernel. Nothing is
// formatted until somebody asks.
type Record struct {
	id      uint32 // what the kernel knows it by
	op      string
	group   *Group
	ordinal uint64 // of a collective call in its group, from 1

	// What a collective was called with: n elements of dtype, which is 0 if it takes none; reduction is empty
	// if it does not reduce.
	DType     DType
	N         int
	Reduction string
	Detail    string // what else distinguishes it
	Parts     digest // of the parts of symmetric tensors that all members must give alike

	Refused func(c *Record, e *Error, r *device.WaitRecord) // explains a value that its kernel refused; nil if it refuses none

	checked *checkedLaunch // of a kernel with checked pointers, else nil
	far     bool           // it goes over the network
	timeout time.Duration  // for the waits of copies, which the host ends
	caller  int            // where it was made, as Config.Caller said
	on      int            // the stream that it was put in

	// replayed is where the graph was replayed last that captured the call, and ran in which stream; nil if none did.
	replayed, ran *atomic.Int64

	// A kernel of a call that is communicating leaves signals or packets behind when it gives up, which others may
	// take for the next call's.
	Manner operators.Manner
}

// text is the call as the user would say it: "one_shot_all_reduce bf16[16] sum".
func (c Record) text() string {
	if c.DType == 0 {
		return c.op
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %v[%d] %s %s", c.op, c.DType, c.N, c.Reduction, c.Detail)), " ")
}

// callsKept is more than a device's queue holds, so that whatever still waits is remembered.
const callsKept = 4096

// callLog remembers the latest calls, and the host-side waits and compilations of this moment.
type callLog struct {
	caller   func() int // Config.Caller; never nil
	mu       sync.Mutex
	next     uint32
	recent   [callsKept]Record
	host     []*hostWait
	compiles []*compilation
	places   map[string]launchPlace // of the latest launch of each kernel of the user's, by its name
	latest   string                 // the kernel of the user's that was launched last, "" once all work was done
}

// launchPlace is a launch of a kernel of the user's.
type launchPlace struct {
	caller int // as Config.Caller said
	when   time.Time
}

// note remembers a call and returns its id, which is never 0. rt.mu is held.
func (rt *Runtime) note(c *Record) uint32 {
	l := &rt.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next++; l.next == 0 {
		l.next++
	}
	c.id, c.caller = l.next, l.caller()
	if rt.capture != nil {
		c.replayed, c.ran = rt.capture.replayed, rt.capture.ran
		rt.capture.calls = append(rt.capture.calls, *c)
	}
	l.recent[c.id%uint32(len(l.recent))] = *c
	if t := rt.trace.Load(); t != nil {
		t.know(c.id)
	}
	return c.id
}

// launched remembers where a kernel of the user's is launched.
func (l *callLog) launched(kernel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places[kernel], l.latest = launchPlace{l.caller(), time.Now()}, kernel
}

// drained notes that no launched kernel runs any more.
func (l *callLog) drained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = ""
}

// latestKernel is the kernel of the user's that was launched last, and its launch, if work that was issued since may still run.
func (l *callLog) latestKernel() (name string, at launchPlace) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest, l.places[l.latest]
}

// launchOf is where a kernel was launched last.
func (l *callLog) launchOf(kernel string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places[kernel].caller
}

// find returns the call of an id, if it is still remembered.
func (rt *Runtime) find(id uint32) (Record, bool) {
	l := &rt.calls
	l.mu.Lock()
	c := l.recent[id%uint32(len(l.recent))]
	l.mu.Unlock()
	if c.id == id && id != 0 {
		return c, true
	}
	for _, g := range *rt.graphs.Load() {
		if i := slices.IndexFunc(g.calls, func(c Record) bool { return c.id == id }); i >= 0 {
			return g.calls[i], true
		}
	}
	return Record{}, false
}

// Tally sums up the stream-ordered collective calls that this rank has made in one group since the group was made
// or recovered. Such calls are not compared before they run, which would cost a trip over the host; members whose
// tallies differ have made different calls.
type Tally struct {
	Group  string // as in messages
	Key    string // equal on all members, and on no other group
	Ranks  []int  // the members
	Calls  uint64
	Digest uint64 // of what was called, on which parts of which symmetric tensors, with which arguments, in order
	Last   string // "one_shot_all_reduce bf16[16] sum", "barrier over the null network"
	Caller int    // where that was called, as Config.Caller said
}

// Tallies returns the tally of every group in which this rank has made a call.
func (rt *Runtime) Tallies() []Tally {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var list []Tally
	for _, g := range rt.groups {
		if g.ordinal > 0 {
			last := g.latest.text()
			if g.latest.far {
				last += " over " + rt.between()
			}
			list = append(list, Tally{g.String(), g.key, g.Ranks(), g.ordinal, uint64(g.digest), last, g.latest.caller})
		}
	}
	return list
}

// count numbers a collective call and adds it to the group's tally. rt.mu is held.
func (g *Group) count(c *Record) {
	g.ordinal++
	c.ordinal, c.caller = g.ordinal, g.rt.calls.caller()
	g.latest = *c
	d := &g.digest
	d.text(c.op)
	d.text(c.Reduction)
	d.text(c.Detail)
	d.Mix(uint64(c.DType))
	d.Mix(uint64(c.N))
	d.Mix(uint64(c.Parts))
}

// On adds a part of a symmetric tensor that the call is about and that is the same on all members. Others are refused later.
func (c *Record) On(t *Tensor) {
	if a := t.st.alloc; a != nil {
		c.Parts.Mix(uint64(a.digest))
		c.Parts.Mix(uint64(t.offset))
	}
}

// digest tells sequences of numbers and texts from each other (FNV-1a).
type digest uint64

func (d *digest) Mix(x uint64) { *d = (*d ^ 14695981039346656037 ^ digest(x)) * 1099511628211 }

func (d *digest) text(s string) {
	for i := range len(s) {
		d.Mix(uint64(s[i]))
	}
	d.Mix(1 << 8) // no byte: an end
}
