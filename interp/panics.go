package interp

import (
	"sync"

	"github.com/petermattis/goid"
)

// panicStacks are the panics under which each goroutine's deferred calls run, innermost last.
type panicStacks struct {
	mu sync.Mutex
	by map[int64][]*panicking

	count *int // of deferred calls that run because of a panic, for lowered code; written under mu
}

// enter notes that the calling goroutine runs a deferred call under p, until leave.
func (s *panicStacks) enter(p *panicking) (leave func()) {
	id := goid.Get()
	panics := 0
	if !p.recovered {
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
func (s *panicStacks) current() *panicking {
	id := goid.Get()
	s.mu.Lock()
	defer s.mu.Unlock()
	if stack := s.by[id]; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return nil
}
