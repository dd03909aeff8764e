package symmem

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Wait is one thing this rank waits for.
type Wait = seam.Wait

// Progress describes the progress of this rank, and whether any of its work goes on by itself.
type Progress = seam.Progress

// Exchanged counts the numbered messages between this rank and another one.
type Exchanged = seam.Exchanged

// Progress looks at this rank. It may be called at any time, and waits for no other rank.
func (rt *Runtime) Progress() Progress {
	rt.looking.Lock() // Close takes the page away
	defer rt.looking.Unlock()
	if rt.closed.Load() {
		return Progress{}
	}
	p := Progress{Moves: rt.moves.Load(), Inside: int(rt.inside.Load()), Stands: true, Watched: rt.sanitizer.On()}
	if c, counts := rt.dev.(device.Counter); counts {
		p.Mix(c.Works())
	}
	var in []int // the streams that wait, by their ids
	for r := range waits.Pending(rt.watch) {
		p.Mix(uint64(r.Ordinal))
		p.Mix(uint64(r.Peer))
		if c, ok := rt.find(r.Ordinal); ok {
			in = append(in, c.InStream())
			if stand, stands := rt.stand(&c); stands { // before listWaits asks again
				p.Mix(stand.Number)
			}
		}
	}
	for _, s := range rt.allStreams() {
		if !slices.Contains(in, s.id) && !s.rests(true) && !rt.awaitsOther(s) {
			p.Stands = false
		}
	}
	for _, part := range rt.parts {
		part.Moves(&p)
	}
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

// stand describes the kernel that the stream of a call runs, if it stands still. Of a call that is
// not remembered the stream is not known.
func (rt *Runtime) stand(c *Record) (device.Stand, bool) {
	if c.ID == 0 {
		return device.Stand{}, false
	}
	for _, s := range rt.allStreams() {
		if s.id == c.InStream() && s.stands != nil {
			return s.stands()
		}
	}
	return device.Stand{}, false
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
