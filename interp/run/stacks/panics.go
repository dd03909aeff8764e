package stacks

import (
	"reflect"
	"sync"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// panicStacks has, for each goroutine, the panics because of which its deferred calls run,
// innermost last.
type panicStacks struct {
	mu sync.Mutex
	by map[int64][]*Panic

	// number of deferred calls that run because of a panic; read by lowered code, written under mu
	count *int

	flying *Panic // the panic raised last, until raised returns it
}

// enter notes that the calling goroutine runs a deferred call because of p, until leave is called.
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

// current returns the panic because of which the calling goroutine runs a deferred call, or nil.
func (s *panicStacks) current() *Panic {
	id := goid.Get()
	s.mu.Lock()
	defer s.mu.Unlock()
	if stack := s.by[id]; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return nil
}

// raise stores a panic that is about to begin, so that raised can find it: recover returns only its
// value.
func (s *panicStacks) raise(p *Panic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying = p
}

// raised returns the panic with a value that was recovered: the one stored by raise, or a new one.
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

// Count sets the variable contract.PanickingVar.
func (s *Stacks) Count(panicking *int) { s.panics.count = panicking }

// Raised returns the panic with a value that was recovered.
func (s *Stacks) Raised(v any) *Panic { return s.panics.raised(PanicValue(v)) }

// beganUnder records that p, or the first of the panics before it, began in a deferred call that
// ran because of q.
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

// sameValue reports whether two panics have the same value.
func sameValue(v, w any) bool {
	if reflect.TypeOf(v) != reflect.TypeOf(w) {
		return false
	}
	if reflect.ValueOf(v).Comparable() {
		return v == w
	}
	return reflect.DeepEqual(v, w)
}

// Panic is a panic because of which deferred calls run.
type Panic struct {
	Value      any
	Recovered  bool
	Repanicked bool   // it was recovered once, and the program panicked again with its value
	Before     *Panic // the panic in whose deferred calls this one began, or nil
	at         int    // the position of the statement that panicked
	depth      int    // depth of the deferred function that runs; see deferred
	frames     []Call // the stack on which it began, if stacks are recorded
}

// PanicValue returns the value with which a program panicked, given the recovered value: yaegi
// wraps values, and words runtime errors differently.
func PanicValue(v any) any {
	if r, ok := v.(reflect.Value); ok && r.IsValid() {
		v = r.Interface()
	}
	return faults.Of(v)
}
