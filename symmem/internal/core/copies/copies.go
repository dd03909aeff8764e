package copies

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	phaseNone   = 0
	phaseComing = 1
	phaseCopies = 2
	phaseDone   = 3
)

const (
	tick  = 10 * time.Millisecond
	quiet = 50 * time.Millisecond // before a wait is published
)

// Stream is a stream on which copies are issued. Equal values are the same stream.
type Stream interface {
	AtRest() bool // it has nothing to do, or was closed; false where that cannot be told
}

// Group holds the members that copy, and this rank's record of their calls.
type Group struct {
	Device  device.Device
	Page    *device.Watch                 // where waits are published
	Words   []device.Ptr                  // of each member: see layout.CopyWords
	Rank    int                           // this member
	Limit   func(id uint32) time.Duration // of a call, after which its waits give up; 0 for none
	Aborted func() bool                   // all waits of this rank must end
}

// Watch looks after the streams of a member that copy. Its methods may be called from several
// goroutines.
type Watch struct {
	mu        sync.Mutex
	group     Group
	streams   []Stream // whose copies may not be over
	running   bool
	published []bool    // on the page, by peer
	phase     [2]uint32 // and the call, when the stream was last looked at
	since     time.Time // of the phase
}

// Open begins to look after a group, whose words are zero.
func (w *Watch) Open(g Group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.group = g
}

// Forget ends the watch of streams whose copies are over, or whose words are about to be unmapped.
// It withdraws the published waits, because the page may be unmapped, too. When it returns, the
// watch gives up no wait until the next [Watch.Add].
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams = nil
	w.withdraw(nil)
}

// Reset calls clear, which makes the words zero, while the watch stores no word itself.
func (w *Watch) Reset(clear func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return clear()
}

// Come returns the operations by which the members' streams meet before the copies of a call.
func (w *Watch) Come(id uint32) []device.Value {
	return w.group.meet(id, phaseComing, phaseCopies, layout.CopyComing)
}

// Finish returns the operations by which they meet after the copies.
func (w *Watch) Finish(id uint32) []device.Value {
	return w.group.meet(id, phaseDone, phaseNone, layout.CopyDone)
}

// meet lets the members' streams meet by a row of words.
func (g *Group) meet(id, phase, next uint32, row int) (ops []device.Value) {
	mine := g.Words[g.Rank]
	word := func(owner device.Ptr, i int) device.Ptr { return owner + device.Ptr(4*i) }
	enter := func(phase uint32) {
		ops = append(ops, device.Value{Word: word(mine, layout.CopyCall), Value: id},
			device.Value{Word: word(mine, layout.CopyPhase), Value: phase}, device.Value{Word: word(mine, layout.CopyMark)})
	}
	enter(phase)
	for p, words := range g.Words {
		if p != g.Rank {
			ops = append(ops, device.Value{Word: word(words, row+g.Rank), Value: 1})
		}
	}
	for p := range g.Words {
		if p != g.Rank {
			ops = append(ops, device.Value{Word: word(mine, row+p), Value: 1, Await: true, From: 1 + p})
		}
	}
	// The words are cleared together at the end: a word that is zero stands for a member that has
	// not come.
	for p := range g.Words {
		if p != g.Rank {
			ops = append(ops, device.Value{Word: word(mine, row+p)})
		}
	}
	enter(next)
	return ops
}

// Add watches the copies on a stream until they are over.
func (w *Watch) Add(s Stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.streams, s) {
		w.streams = append(w.streams, s)
	}
	if !w.running {
		w.running = true
		go w.run()
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
	w.streams = slices.DeleteFunc(w.streams, Stream.AtRest)
	if w.running = len(w.streams) > 0 && w.inspect() == nil; !w.running {
		w.withdraw(nil)
	}
	return w.running
}

// inspect looks at the phase of this member's stream. w.mu is held.
func (w *Watch) inspect() error {
	g := &w.group
	mine := g.Words[g.Rank]
	var words [layout.CopyWords]uint32
	if err := g.Device.Peek(launch.Bytes(&words), mine); err != nil {
		return err
	}
	phase, row, kind := words[layout.CopyPhase], layout.CopyComing, uint32(device.WaitCopy)
	if phase == phaseDone {
		row, kind = layout.CopyDone, device.WaitCopied
	}
	missing, some := make([]bool, len(g.Words)), false
	if phase == phaseComing || phase == phaseDone {
		for p := range g.Words {
			if p != g.Rank && words[row+p] == 0 {
				missing[p], some = true, true
			}
		}
	}
	if !some {
		w.withdraw(nil)
		return nil
	}
	if now := [2]uint32{phase, words[layout.CopyCall]}; words[layout.CopyMark] == 0 || now != w.phase {
		w.phase, w.since = now, time.Now()
		if err := g.Device.Poke(mine+4*layout.CopyMark, 1); err != nil {
			return err
		}
	}
	elapsed, limit, aborted := time.Since(w.since), g.Limit(words[layout.CopyCall]), g.Aborted()
	w.withdraw(missing)
	giveUp := aborted || limit > 0 && elapsed >= limit
	for p := range g.Words {
		if !missing[p] {
			continue
		}
		r := device.WaitRecord{State: device.WaitPending, Kind: kind, Ordinal: words[layout.CopyCall], Rank: uint32(g.Rank),
			Peer: uint32(p), Want: 1, Elapsed: uint64(elapsed), Began: uint64(w.since.UnixNano())}
		switch {
		case giveUp:
			if r.State = device.WaitTimeout; aborted {
				r.State = device.WaitAborted
			}
			waits.Give(g.Page, &r)
			if err := g.Device.Poke(mine+device.Ptr(4*(row+p)), 1); err != nil {
				return err
			}
		case elapsed > quiet:
			if w.published == nil {
				w.published = make([]bool, len(g.Words))
			}
			w.published[p] = true
			waits.Store(&g.Page.Waits[p%abi.MaxWaits], &r)
		}
	}
	if giveUp {
		w.withdraw(nil)
	}
	return nil
}

// withdraw takes the published waits off the page, except those for peers that are still missing.
// w.mu is held.
func (w *Watch) withdraw(missing []bool) {
	for p, published := range w.published {
		if published && (missing == nil || !missing[p]) {
			atomic.StoreUint32(&w.group.Page.Waits[p%abi.MaxWaits].State, device.WaitNone)
			w.published[p] = false
		}
	}
}
