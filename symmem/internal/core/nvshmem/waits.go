package nvshmem

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	tick  = 10 * time.Millisecond
	quiet = 50 * time.Millisecond // before a wait is published
)

// Streams is the most streams that may wait at the same time, and the number of words of a Watch.
const Streams = 256

// Stream is a stream on which waits are issued. Equal values are the same stream.
type Stream interface {
	AtRest() bool // it has nothing to do, or was closed; false where that cannot be told
}

// Wait is a wait of a stream, by the library, for a word of the heap.
type Wait struct {
	Word    device.Ptr // of 64 bits
	Value   uint64
	AtLeast bool              // the word must not be below Value; otherwise it must equal it
	Limit   time.Duration     // after which the wait gives up; 0 for none
	Record  device.WaitRecord // the call, and the awaited event
}

// over reports whether the word lets the wait end.
func (t *Wait) over(word uint64) bool { return word == t.Value || t.AtLeast && word > t.Value }

// Setting holds the device, memory and callback of a Watch.
type Setting struct {
	Device  device.Device
	Page    *device.Watch // where waits are published
	Words   device.Ptr    // Streams zeros of 32 bits in memory of the device
	Aborted func() bool   // all waits of this rank must end
}

// Watch looks after the streams that wait by the library, whose waits look at neither a deadline nor
// the abort word. Before its wait a stream stores the wait's number to a word of its own, and zero
// behind it; so the watch sees where the stream is. A wait that must end ends by its word: the watch
// stores the value that the stream waits for. Methods may be called from several goroutines.
type Watch struct {
	mu      sync.Mutex
	setting Setting
	slots   []slot // of the streams, by the index of their words
	latest  uint32 // number of a wait
	running bool
}

// slot is a stream's; its word is free when the stream has come to rest.
type slot struct {
	on        Stream
	waits     map[uint32]Wait // issued on it, by number
	issuing   bool            // one is being issued
	at        uint32          // the wait at which it was seen, 0 for none
	since     time.Time       // it was first seen there
	published bool            // on the page
	gaveUp    bool            // the wait is over by force
}

// errStreams refuses a wait.
var errStreams = errors.New("too many streams wait by NVSHMEM: use fewer than 256")

// Open prepares the watch.
func (w *Watch) Open(s Setting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setting = s
}

// Forget withdraws the published waits, when the work of their streams is over or the words are
// unmapped next. Later waits take new slots.
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.slots {
		w.withdraw(i)
	}
	w.slots = nil
}

// Issue lets f issue a wait on a stream, between two stores that it is given. Waits of a stream are
// issued one after another.
func (w *Watch) Issue(s Stream, t Wait, f func(before, after []device.Value) error) error {
	i, number, err := w.begin(s, t)
	if err != nil {
		return err
	}
	defer w.issued(i)
	word := w.setting.Words + device.Ptr(4*i)
	return f([]device.Value{{Word: word, Value: number}}, []device.Value{{Word: word}})
}

// begin reserves a slot for a stream, and a number for its wait.
func (w *Watch) begin(s Stream, t Wait) (i int, number uint32, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i = slices.IndexFunc(w.slots, func(o slot) bool { return o.on == s }); i < 0 {
		if i = slices.IndexFunc(w.slots, func(o slot) bool { return o.on == nil }); i < 0 {
			if len(w.slots) == Streams {
				return 0, 0, errStreams
			}
			i, w.slots = len(w.slots), append(w.slots, slot{})
		}
		w.slots[i] = slot{on: s, waits: map[uint32]Wait{}}
	}
	w.latest = max(1, w.latest+1)
	w.slots[i].waits[w.latest] = t
	w.slots[i].issuing = true
	if !w.running {
		w.running = true
		go w.run()
	}
	return i, w.latest, nil
}

// issued lets the slot go when its stream has come to rest.
func (w *Watch) issued(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i < len(w.slots) { // the watch was not forgotten meanwhile
		w.slots[i].issuing = false
	}
}

func (w *Watch) run() {
	for {
		time.Sleep(tick)
		if !w.look() {
			return
		}
	}
}

// look looks once, and reports whether there is more to see.
func (w *Watch) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	for i := range w.slots {
		s := &w.slots[i]
		if s.on != nil && !s.issuing && s.on.AtRest() {
			w.withdraw(i)
			*s = slot{}
		}
		w.running = w.running || s.on != nil
	}
	if !w.running {
		return false
	}
	words := make([]uint32, len(w.slots))
	if w.setting.Device.Peek(launch.BytesOfAll(words), w.setting.Words) != nil {
		return true // not while a graph is captured
	}
	aborted := w.setting.Aborted()
	for i, number := range words {
		if w.slots[i].on != nil {
			w.inspect(i, number, aborted)
		}
	}
	return true
}

// inspect looks at the wait of a slot at which its stream is, by the number that the stream has
// stored. What fails is tried again. w.mu is held.
func (w *Watch) inspect(i int, number uint32, aborted bool) {
	s, dev := &w.slots[i], w.setting.Device
	if number != s.at {
		w.withdraw(i)
		for n := range s.waits { // a stream does not go back
			if int32(n-number) < 0 && number != 0 {
				delete(s.waits, n)
			}
		}
		s.at, s.since, s.gaveUp = number, time.Now(), false
	}
	t, ok := s.waits[number]
	var seen uint64
	if !ok || dev.Peek(launch.Bytes(&seen), t.Word) != nil || t.over(seen) {
		return
	}
	elapsed := time.Since(s.since)
	r := t.Record
	r.State, r.Seen, r.Want, r.Elapsed, r.Began = device.WaitPending, seen, t.Value, uint64(elapsed), uint64(s.since.UnixNano())
	switch {
	case aborted || t.Limit > 0 && elapsed >= t.Limit:
		if r.State = device.WaitTimeout; aborted {
			r.State = device.WaitAborted
		}
		w.withdraw(i)
		if !s.gaveUp {
			s.gaveUp = true
			waits.Give(w.setting.Page, &r)
		}
		if dev.Poke(t.Word+4, uint32(t.Value>>32)) == nil {
			dev.Poke(t.Word, uint32(t.Value)) // little-endian
		}
	case elapsed > quiet:
		s.published = true
		waits.Store(w.entry(i), &r)
	}
}

// entry returns the record of the page in which a slot publishes its wait. Kernels' waits begin at
// the other end of the page.
func (w *Watch) entry(i int) *device.WaitRecord {
	return &w.setting.Page.Waits[abi.MaxWaits-1-i%abi.MaxWaits]
}

// withdraw takes a slot's published wait off the page. w.mu is held.
func (w *Watch) withdraw(i int) {
	if w.slots[i].published {
		atomic.StoreUint32(&w.entry(i).State, device.WaitNone)
		w.slots[i].published = false
	}
}
