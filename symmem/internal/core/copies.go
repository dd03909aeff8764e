package symmem

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

// Copies by copy engines, with streams that meet by memory operations, so that no multiprocessor takes part.
//
// The protocol. Every member's workspace has two words for each member, zero when nobody copies:
//
//	coming[src]  1 from when src's stream has come to the call until this member's stream has seen it
//	done[src]    1 from when src's stream is done with its copies until this member's stream has seen it
//
// A stream stores 1 into everybody's coming, holds until its own are all 1, sets those to 0, and reads the
// peers' memory; then the same with done. A member stores into coming again only after everybody's done of the
// call before, which comes after everybody's coming was set to 0, and the other way round: so every word has
// one meaning at a time. The values are the same in every call, which a graph needs.
//
// A stream that holds cannot look at the abort word. A goroutine looks after it from the host while there
// are copies that may not be over: it sees which phase the stream is in and which words are missing, tells
// [Runtime.Waits], and, when the call's time is over or the world is aborted, stores the missing words itself.
// The streams only ever read the peers' memory and write their own: what a wait that was given up leaves
// undefined is this rank's result alone.

const (
	phaseNone   = 0
	phaseComing = 1
	phaseCopies = 2
	phaseDone   = 3
)

const (
	copyTick  = 10 * time.Millisecond
	copyQuiet = 50 * time.Millisecond // before a wait is worth telling
)

// copyWatch looks after the streams of a group that copy.
type copyWatch struct {
	mu        sync.Mutex
	streams   []*Stream // whose copies may not be over
	running   bool
	published []bool // in Waits, by peer
	phase     [2]uint32
	since     time.Time // of the phase
}

// CopyAll issues the copies of an admitted call, whose kernels would know it by id, and looks after them until they are over.
// staged says that this member's own piece, the first, is in its place.
func (c *Call) CopyAll(id uint32, src, dst []device.Ptr, n int, staged bool) {
	g := c.opts.group
	c.issued(g.copyAll(c.stream, id, src, dst, n, staged))
	g.watchCopies(c.stream)
}

// copyAll issues the copies of a call between two meetings of the members' streams. staged says that this
// member's own piece is in its place. rt.mu is held.
func (g *Group) copyAll(s *Stream, id uint32, src, dst []device.Ptr, n int, staged bool) error {
	var copies []device.Copy
	for i := range src {
		if src[i] != dst[i] && !(staged && i == 0) {
			copies = append(copies, device.Copy{Dst: dst[i], Src: src[i], N: n})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := g.meetForCopies(s, id, phaseComing, phaseCopies, layout.CopyComing); err != nil {
		return err
	}
	if err := s.d.CopyAll(copies); err != nil {
		return err
	}
	return g.meetForCopies(s, id, phaseDone, phaseNone, layout.CopyDone)
}

// meetForCopies lets the members' streams meet by a row of words.
func (g *Group) meetForCopies(s *Stream, id, phase, next uint32, row int) error {
	mine := g.work.copies[g.rank]
	word := func(owner device.Ptr, i int) device.Ptr { return owner + device.Ptr(4*i) }
	var ops []device.Value
	enter := func(phase uint32) {
		ops = append(ops, device.Value{Word: word(mine, layout.CopyCall), Value: id}, device.Value{Word: word(mine, layout.CopyPhase), Value: phase}, device.Value{Word: word(mine, layout.CopyMark)})
	}
	if len(g.ranks) == 1 {
		return nil
	}
	enter(phase)
	for p := range g.ranks {
		if p != g.rank {
			ops = append(ops, device.Value{Word: word(g.work.copies[p], row+g.rank), Value: 1})
		}
	}
	for p := range g.ranks {
		if p != g.rank {
			ops = append(ops, device.Value{Word: word(mine, row+p), Value: 1, Await: true})
		}
	}
	// Not each as it came: a word that is zero is a member who has not.
	for p := range g.ranks {
		if p != g.rank {
			ops = append(ops, device.Value{Word: word(mine, row+p)})
		}
	}
	enter(next)
	return s.d.Values(ops)
}

// watchCopies watches the copies on s until they are over. rt.mu is held.
func (g *Group) watchCopies(s *Stream) {
	if c := g.rt.capture; c != nil {
		if !slices.Contains(c.copying, g) {
			c.copying = append(c.copying, g)
		}
		return
	}
	w := &g.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.streams, s) {
		w.streams = append(w.streams, s)
	}
	if !w.running {
		w.running = true
		go g.keepWatch()
	}
}

func (g *Group) keepWatch() {
	for {
		time.Sleep(copyTick)
		if !g.watchOnce() {
			return
		}
	}
}

// watchOnce looks once, and reports whether there is more to see.
func (g *Group) watchOnce() bool {
	w := &g.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams = slices.DeleteFunc(w.streams, func(s *Stream) bool { return s.rests(false) })
	if w.running = len(w.streams) > 0 && g.inspect() == nil; !w.running {
		w.withdraw(g, nil)
	}
	return w.running
}

// inspect looks at the phase of this member's stream. watch.mu is held.
func (g *Group) inspect() error {
	rt, w, mine := g.rt, &g.watch, g.work.copies[g.rank]
	var words [layout.CopyWords]uint32
	if err := rt.dev.Peek(launch.Bytes(&words), mine); err != nil {
		return err
	}
	phase, row, kind := words[layout.CopyPhase], layout.CopyComing, uint32(device.WaitCopy)
	if phase == phaseDone {
		row, kind = layout.CopyDone, device.WaitCopied
	}
	missing, any := make([]bool, len(g.ranks)), false
	if phase == phaseComing || phase == phaseDone {
		for p := range g.ranks {
			if p != g.rank && words[row+p] == 0 {
				missing[p], any = true, true
			}
		}
	}
	if !any {
		w.withdraw(g, nil)
		return nil
	}
	if now := [2]uint32{phase, words[layout.CopyCall]}; words[layout.CopyMark] == 0 || now != w.phase {
		w.phase, w.since = now, time.Now()
		if err := rt.dev.Poke(mine+4*layout.CopyMark, 1); err != nil {
			return err
		}
	}
	elapsed := time.Since(w.since)
	c, _ := rt.find(words[layout.CopyCall])
	aborted := rt.abort.Load() != nil
	w.withdraw(g, missing)
	giveUp := aborted || c.Timeout > 0 && elapsed >= c.Timeout
	for p := range g.ranks {
		if !missing[p] {
			continue
		}
		r := device.WaitRecord{State: device.WaitPending, Kind: kind, Ordinal: words[layout.CopyCall], Rank: uint32(g.rank), Peer: uint32(p), Want: 1, Elapsed: uint64(elapsed), Began: uint64(w.since.UnixNano())}
		switch {
		case giveUp:
			if r.State = device.WaitTimeout; aborted {
				r.State = device.WaitAborted
			}
			waits.Give(rt.watch, &r)
			if err := rt.dev.Poke(mine+device.Ptr(4*(row+p)), 1); err != nil {
				return err
			}
		case elapsed > copyQuiet:
			if w.published == nil {
				w.published = make([]bool, len(g.ranks))
			}
			w.published[p] = true
			waits.Store(&rt.watch.Waits[p%abi.MaxWaits], &r)
		}
	}
	if giveUp {
		w.withdraw(g, nil)
	}
	return nil
}

// withdraw takes what was published out of Waits, but for peers that are still missing.
func (w *copyWatch) withdraw(g *Group, missing []bool) {
	for p, published := range w.published {
		if published && (missing == nil || !missing[p]) {
			atomic.StoreUint32(&g.rt.watch.Waits[p%abi.MaxWaits].State, device.WaitNone)
			w.published[p] = false
		}
	}
}

// forget ends the watch before the workspace goes away, and withdraws what it published, for the device may go away too.
func (w *copyWatch) forget(g *Group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams = nil
	w.withdraw(g, nil)
}
