package nccl

import (
	"slices"
	"sync"
)

// Ending is a communicator that can be given up.
type Ending interface {
	comparable
	Ended() (ended bool, why error)
	GiveUp()
}

// List is the communicators of a world that are alive or ending. Its methods may be called from
// several goroutines.
type List[C Ending] struct {
	mu   sync.Mutex
	list []C
}

// Add adds a communicator.
func (l *List[C]) Add(c C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, c)
}

// All lists the communicators.
func (l *List[C]) All() []C {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// TakeEnded takes those that have ended off the list.
func (l *List[C]) TakeEnded() (ended []C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(c C) bool {
		over, _ := c.Ended()
		if over {
			ended = append(ended, c)
		}
		return over
	})
	return ended
}

// GiveUp gives all of them up.
func (l *List[C]) GiveUp() {
	for _, c := range l.All() {
		c.GiveUp()
	}
}
