package symmem

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Progress describes the progress of this rank, and whether any of its work goes on by itself. It
// distinguishes a slow rank from one that waits in vain: a rank that waits in vain gives the same
// answer twice.
type Progress struct {
	// Moves changes whenever the rank makes progress: it makes a call or returns from one, work of
	// its device is over, it waits in another operation, or a message moves.
	Moves uint64
	// Stands reports whether no work makes progress by itself: each stream has nothing to do or is
	// in a call that Waits lists, and the network has done all its work.
	Stands bool
	// Inside is the number of goroutines in calls that may not return before a stream makes
	// progress, or another rank makes a call.
	Inside int
	// Watched reports whether the sanitizer watches kernels, which then take many times as long.
	Watched bool
	// Compiles is the compiler for which this rank waits, "" if there is none; CompilesFor is for
	// how long, CompilesCaller where in the program.
	Compiles       string
	CompilesFor    time.Duration
	CompilesCaller int
	Exchanged      []Exchanged // with the ranks that the network reaches
	Waits          []Wait      // as Waits returns them, without the counts of other ranks
}

// Exchanged counts the numbered messages between this rank and another one since the network was
// connected. No message is under way if one rank has sent as many as the other has finished.
type Exchanged struct {
	Peer         int
	Sent, Landed uint64
}

// Progress looks at this rank. It may be called at any time, and waits for no other rank.
func (rt *Runtime) Progress() Progress {
	rt.looking.Lock() // Close takes the page away
	defer rt.looking.Unlock()
	if rt.closed.Load() {
		return Progress{}
	}
	p := Progress{Moves: rt.moves.Load(), Inside: int(rt.inside.Load()), Stands: true, Watched: rt.sanitizer.On()}
	moves := calls.Digest(p.Moves)
	if c, counts := rt.dev.(device.Counter); counts {
		moves.Mix(c.Works())
	}
	var in []int // the streams that wait, by their ids
	for r := range waits.Pending(rt.watch) {
		moves.Mix(uint64(r.Ordinal))
		moves.Mix(uint64(r.Peer))
		if c, ok := rt.find(r.Ordinal); ok {
			in = append(in, c.InStream())
		}
	}
	for _, s := range rt.allStreams() {
		if !slices.Contains(in, s.id) && !s.rests(true) && !rt.awaitsOther(s) {
			p.Stands = false
		}
	}
	rt.underway(&p, &moves)
	p.Moves = uint64(moves)
	p.Waits = rt.listWaits(false)
	if c := rt.calls.Compilation(); c != nil {
		p.Compiles, p.CompilesFor, p.CompilesCaller = c.By, time.Since(c.Since), c.Caller
	}
	p.Inside += len(rt.calls.Waits())
	return p
}

// awaitsOther reports whether a stream only waits for an event of another stream of this process.
// It does not wait to find out.
func (rt *Runtime) awaitsOther(s *Stream) bool {
	if !rt.mu.TryLock() { // with which no stream is closed
		return false
	}
	defer rt.mu.Unlock()
	a, tells := s.d.(device.Awaiter)
	return tells && slices.Contains(rt.streams, s) && a.Awaits()
}

// underway adds the state of the network.
func (rt *Runtime) underway(p *Progress, moves *calls.Digest) {
	n := rt.net.Load()
	if n == nil {
		return
	}
	p.Stands = p.Stands && rt.flushed()
	for _, peer := range n.Engine.Peers() {
		if peer.Rank == rt.rank {
			continue
		}
		// What this rank asks others for a table, and answers them, moves nothing: only numbered
		// messages count.
		p.Stands = p.Stands && peer.Posted == peer.Sent && peer.Parked == 0
		p.Exchanged = append(p.Exchanged, Exchanged{peer.Rank, peer.Numbered, peer.Landed})
		for _, count := range []uint64{peer.Posted, peer.Sent, peer.Numbered, peer.Landed} {
			moves.Mix(count)
		}
	}
}

// countIn counts a goroutine that is in a call of a stream, until countOut.
func (rt *Runtime) countIn() {
	rt.inside.Add(1)
}

func (rt *Runtime) countOut() {
	rt.moves.Add(1)
	rt.inside.Add(-1)
}

// compiling notes that this rank waits for a compiler, until the function it returns is called.
func (rt *Runtime) compiling() (done func()) {
	by := "a compiler"
	if n, ok := rt.dev.(device.CompilerNamer); ok {
		by = n.CompilerName()
	}
	compiled := rt.calls.Compile(by)
	return func() {
		rt.moves.Add(1)
		compiled()
	}
}

// allStreams is rt.streams, for callers that must not wait for rt.mu.
func (rt *Runtime) allStreams() []*Stream {
	if list := rt.lanes.Load(); list != nil {
		return *list
	}
	return nil
}

// keepStreams keeps the list for allStreams. rt.mu is held.
func (rt *Runtime) keepStreams() { rt.lanes.Store(ptr(slices.Clone(rt.streams))) }

// progress has the counts of Runtime.Progress.
type progress struct {
	moves  atomic.Uint64
	inside atomic.Int64
	lanes  atomic.Pointer[[]*Stream] // rt.streams
}
