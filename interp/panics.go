package interp

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// panicStacks are the panics under which each goroutine's deferred calls run, innermost last.
type panicStacks struct {
	mu sync.Mutex
	by map[uint64][]*panicking
}

// enter notes that the calling goroutine runs a deferred call under p, until leave.
func (s *panicStacks) enter(p *panicking) (leave func()) {
	id := goroutine()
	s.mu.Lock()
	s.by[id] = append(s.by[id], p)
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if stack := s.by[id]; len(stack) > 1 {
			s.by[id] = stack[:len(stack)-1]
		} else {
			delete(s.by, id)
		}
	}
}

// recover stops the panic under which the calling goroutine's deferred call runs and returns its value.
func (s *panicStacks) recover() any {
	id := goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	stack := s.by[id]
	if len(stack) == 0 || stack[len(stack)-1].recovered {
		return nil
	}
	p := stack[len(stack)-1]
	p.recovered = true
	return p.value
}

// goroutine returns the number of the calling goroutine.
func goroutine() uint64 {
	var buf [64]byte
	b := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(b, ' '); i > 0 {
		b = b[:i]
	}
	id, _ := strconv.ParseUint(string(b), 10, 64)
	return id
}
