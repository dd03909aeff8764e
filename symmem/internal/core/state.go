package symmem

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
)

// State is the state of this rank at one moment: its streams, its groups, and the words with which
// other ranks have signalled it.
type State struct {
	Streams []StreamState
	// Groups are those that are alive, the world first. They are nil, and Locked is set, if a call
	// that holds the world does not return soon, for example because the queue of a stream is full.
	Groups []GroupState
	Words  []WordState // as Groups
	Locked bool
}

// StreamState describes a stream.
type StreamState struct {
	ID     int    // as String has it
	Rests  bool   // it has nothing to do
	Runs   string // the call in which it waits: "wait_signal"; "" if it does not wait, or for a kernel that tells nothing
	Caller int    // where that was called, as Config.Caller said
}

// GroupState describes a group.
type GroupState struct {
	Name     string // "world", "group 0,2"
	Ranks    []int  // the members, as world ranks
	Channels int
	Calls    uint64 // stream-ordered collective calls of this rank
	Last     string // the latest of them; "" if there was none
	Caller   int    // where that was called, as Config.Caller said
	Stale    string // why the group cannot be used any more; "" if it can
	Signals  []SignalState
}

// SignalState is a signal that was put to this rank and that no wait has consumed.
type SignalState struct {
	From    int // world rank
	Channel int
}

// WordState is a word that is not 0 in this rank's signal pad of a symmetric tensor.
type WordState struct {
	Tensor string // "f32[4]"
	Word   int
	Value  uint64
}

// State looks at this rank. It may be called at any time, and waits for no work and for no other
// rank: signals and words are those of this moment.
func (rt *Runtime) State() (s State) {
	rt.looking.Lock() // Close takes the page away
	defer rt.looking.Unlock()
	if rt.closed.Load() {
		return s
	}
	in := map[int]Record{} // the calls that wait, by stream
	for r := range waits.Pending(rt.watch) {
		if c, ok := rt.find(r.Ordinal); ok {
			in[c.InStream()] = c
		}
	}
	for _, stream := range rt.allStreams() {
		state := StreamState{ID: stream.id}
		if c, waits := in[stream.id]; waits {
			state.Runs, state.Caller = c.Text(), c.Caller
		} else {
			state.Rests = stream.rests(true)
		}
		s.Streams = append(s.Streams, state)
	}
	if s.Locked = !rt.lockSoon(); s.Locked {
		return s
	}
	defer rt.mu.Unlock()
	for _, g := range rt.groups {
		s.Groups = append(s.Groups, g.state())
	}
	for _, a := range rt.allocs {
		s.Words = append(s.Words, a.words()...)
	}
	return s
}

// lockPatience bounds how long State waits for rt.mu.
const lockPatience = 100 * time.Millisecond

// lockSoon locks rt.mu, unless that takes too long.
func (rt *Runtime) lockSoon() bool {
	for end := time.Now().Add(lockPatience); !rt.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// state describes the group. rt.mu is held.
func (g *Group) state() GroupState {
	s := GroupState{Name: g.String(), Ranks: slices.Clone(g.ranks), Channels: g.channels, Calls: g.count.Calls}
	if why := g.stale.Load(); why != nil {
		s.Stale = *why
	}
	if s.Calls > 0 {
		s.Last, s.Caller = g.latest.Text(), g.latest.Caller
	}
	for _, u := range g.unawaited() {
		s.Signals = append(s.Signals, SignalState{u.from, u.channel})
	}
	return s
}

// wordsRead is the number of 64-bit words of a pad that State reads.
const wordsRead = 8 << 10

// words lists the words of the signal pad that are not 0, among the first wordsRead. It leaves out a
// pad that it cannot read. rt.mu is held.
func (a *allocation) words() (list []WordState) {
	if a.freed.Load() || a.stands {
		return nil
	}
	halves, err := a.rt.wordsAt(a.at.PadIn(a.seg), min(a.at.PadBytes/8, wordsRead)*2)
	if err != nil {
		return nil
	}
	for i := 0; i+1 < len(halves); i += 2 {
		if value := uint64(halves[i]) | uint64(halves[i+1])<<32; value != 0 {
			list = append(list, WordState{a.desc, i / 2, value})
		}
	}
	return list
}
