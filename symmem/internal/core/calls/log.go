package calls

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// Entry describes one stream-ordered call. Nothing is formatted until it is asked for.
type Entry struct {
	Made
	ID      uint32 // by which the kernel knows it
	Ordinal uint64 // of a collective call in its group, from 1
	Caller  int    // where it was made, as Config.Caller said
	Stream  int    // the one that it was put in
	Timeout time.Duration
	Far     bool             // it goes over the network
	Manner  operators.Manner // its relation to other ranks
	Replay  *Replay          // of the graph that captured it, or nil
}

// Replay is the latest replay of a graph: where it was called, as Config.Caller said, and in which
// stream; 0 if there was none.
type Replay struct{ Caller, Stream atomic.Int64 }

// InStream is the stream that the call is in: of a captured one, the stream of the latest replay.
func (e *Entry) InStream() int {
	if e.Replay != nil {
		return int(e.Replay.Stream.Load())
	}
	return e.Stream
}

// Replayed returns the place in the program of the last replay of the graph that captured the call;
// 0 if no graph did.
func (e *Entry) Replayed() int {
	if e.Replay == nil {
		return 0
	}
	return int(e.Replay.Caller.Load())
}

// kept is more than a device's queue holds, so that whatever still waits is remembered.
const kept = 4096

// Log remembers the latest calls, each as an R that has an Entry, and the host-side waits and
// compilations of this moment.
type Log[R any] struct {
	Caller func() int // where the program is now
	entry  func(*R) *Entry

	mu           sync.Mutex
	next         uint32
	recent       [kept]R
	waits        []*Wait
	compilations []*Compilation
	launches     map[string]Launch // the latest of each kernel of the user's, by its name
	latest       string            // the kernel of the user's that was launched last, "" once all work was done
}

// Wait is a collective call that the host is in.
type Wait struct {
	Op      string
	Group   string // as in messages
	Others  []int  // the world ranks of the other members
	Ordinal uint64
	Caller  int
	Since   time.Time
}

// Compilation is a text, or an operation, that a compiler is at work on.
type Compilation struct {
	By     string
	Since  time.Time
	Caller int
}

// Launch is a launch of a kernel of the user's.
type Launch struct {
	Caller int
	When   time.Time
}

// NewLog returns an empty log. caller may be nil.
func NewLog[R any](caller func() int, entry func(*R) *Entry) *Log[R] {
	if caller == nil {
		caller = func() int { return 0 }
	}
	return &Log[R]{Caller: caller, entry: entry, launches: map[string]Launch{}}
}

// Note remembers a call. It returns the call's ID, which is never 0, and where it was made.
func (l *Log[R]) Note(r R) (id uint32, caller int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next++; l.next == 0 {
		l.next++
	}
	slot := &l.recent[l.next%kept]
	*slot = r
	e := l.entry(slot)
	e.ID, e.Caller = l.next, l.Caller()
	return e.ID, e.Caller
}

// Find returns the call of an ID, if it is still remembered.
func (l *Log[R]) Find(id uint32) (r R, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.recent[id%kept]
	if id == 0 || l.entry(slot).ID != id {
		return r, false
	}
	return *slot, true
}

// Launched remembers where a kernel of the user's is launched.
func (l *Log[R]) Launched(kernel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.launches[kernel], l.latest = Launch{l.Caller(), time.Now()}, kernel
}

// Drained notes that no launched kernel runs any more.
func (l *Log[R]) Drained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = ""
}

// LatestKernel is the kernel of the user's that was launched last, and its launch, if work that was
// issued since may still run.
func (l *Log[R]) LatestKernel() (name string, at Launch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest, l.launches[l.latest]
}

// LaunchOf returns the place in the program of the last launch of a kernel.
func (l *Log[R]) LaunchOf(kernel string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.launches[kernel].Caller
}

// Wait notes a host-side wait that begins now, until the function it returns is called.
func (l *Log[R]) Wait(w Wait) (done func()) {
	w.Caller, w.Since = l.Caller(), time.Now()
	return during(&l.mu, &l.waits, &w)
}

// Waits lists the host-side waits of this moment.
func (l *Log[R]) Waits() []*Wait {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.waits)
}

// Compile notes that this rank waits for a compiler, until the function it returns is called.
func (l *Log[R]) Compile(by string) (done func()) {
	return during(&l.mu, &l.compilations, &Compilation{by, time.Now(), l.Caller()})
}

// Compilation returns the compilation that has lasted longest, nil if there is none.
func (l *Log[R]) Compilation() *Compilation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.compilations) == 0 {
		return nil
	}
	return l.compilations[0]
}

// during keeps x in a list that mu guards, until the function it returns is called.
func during[T any](mu *sync.Mutex, list *[]*T, x *T) (done func()) {
	mu.Lock()
	defer mu.Unlock()
	*list = append(*list, x)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		*list = slices.DeleteFunc(*list, func(o *T) bool { return o == x })
	}
}
