package run

import (
	"reflect"
	"sync"

	"github.com/petermattis/goid"
)

// panicStacks are the panics under which each goroutine's deferred calls run, innermost last.
type panicStacks struct {
	mu sync.Mutex
	by map[int64][]*Panic

	count *int // of deferred calls that run because of a panic, for lowered code; written under mu

	flying *Panic // what was raised and not looked at since
}

// enter notes that the calling goroutine runs a deferred call under p, until leave.
func (s *panicStacks) enter(p *Panic) (leave func()) {
	id := goid.Get()
	panics := 0
	if !p.Recovered {
		panics = 1
	}
	s.mu.Lock()
	s.by[id] = append(s.by[id], p)
	*s.count += panics
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*s.count -= panics
		if stack := s.by[id]; len(stack) > 1 {
			s.by[id] = stack[:len(stack)-1]
		} else {
			delete(s.by, id)
		}
	}
}

// current returns the panic under which the calling goroutine's deferred call runs, nil if none does.
func (s *panicStacks) current() *Panic {
	id := goid.Get()
	s.mu.Lock()
	defer s.mu.Unlock()
	if stack := s.by[id]; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return nil
}

// raise notes a panic that is about to begin, for raised: what recovers from it gets only its value.
func (s *panicStacks) raise(p *Panic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying = p
}

// raised returns the panic of a value that was recovered from: what was raised with it, or a new one.
func (s *panicStacks) raised(v any) *Panic {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.flying
	s.flying = nil
	if p != nil && sameValue(p.Value, v) {
		return p
	}
	return &Panic{Value: v}
}

// Raised returns the panic of a value that was recovered from.
func (rt *Runtime) Raised(v any) *Panic { return rt.panics.raised(PanicValue(v)) }

// beganUnder notes that p, or the first of the panics before it, began in a deferred call that ran because of q.
func (p *Panic) beganUnder(q *Panic) {
	for p.Before != nil {
		p = p.Before
	}
	if q.Recovered && sameValue(p.Value, q.Value) {
		p.Repanicked, p.Before = true, q.Before
	} else {
		p.Before = q
	}
}

// sameValue reports whether two panics have one value.
func sameValue(v, w any) bool {
	if reflect.TypeOf(v) != reflect.TypeOf(w) {
		return false
	}
	if reflect.ValueOf(v).Comparable() {
		return v == w
	}
	return reflect.DeepEqual(v, w)
}

// Panic is the panic that deferred calls run under.
type Panic struct {
	Value      any
	Recovered  bool
	Repanicked bool        // it was recovered once, and its value panicked with again
	Before     *Panic      // in whose deferred calls it began, nil if in none
	at         int         // the position of the statement that panicked
	depth      int         // of the deferred function that runs, see deferred
	frames     []callFrame // of the stack that it began on, if that is kept
}

// PanicValue returns the value that a program panicked with, given what was recovered: yaegi wraps it, and words faults in its own way.
func PanicValue(v any) any {
	if r, ok := v.(reflect.Value); ok && r.IsValid() {
		v = r.Interface()
	}
	return fault(v)
}
