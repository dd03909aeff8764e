package controller

import "sync"

// runEvents are the events of a run that have not been handled. Ranks that end without an error are
// told to the goroutine that handles them when the last rank ends, or at its next tick: waking it
// for each costs as much as handling all.
type runEvents struct {
	some chan struct{} // has a value if there are events to handle at once

	mu      sync.Mutex
	list    []runEvent
	ended   int // number of ranks in list that end without an error
	awaited int // number of ranks that had not finished when list was emptied
}

// newRunEvents returns the events of a run on the given number of ranks.
func newRunEvents(ranks int) *runEvents {
	return &runEvents{some: make(chan struct{}, 1), awaited: ranks}
}

// add adds an event, and reports whether the goroutine that handles the events was told.
func (q *runEvents) add(e runEvent) (told bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, e)
	if e.Done != nil && e.Done.Err == nil {
		if q.ended += len(e.ranks); q.ended < q.awaited {
			return false
		}
	}
	select {
	case q.some <- struct{}{}:
	default:
	}
	return true
}

// take removes and returns the events. awaited is the number of ranks that have not finished.
func (q *runEvents) take(awaited int) []runEvent {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list, q.ended, q.awaited = nil, 0, awaited
	return list
}
