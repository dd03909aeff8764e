package jupyter

import (
	"context"
	"sync"
)

// queue holds the entries that wait for their turn.
type queue struct {
	mu       sync.Mutex
	requests []*request
	more     chan struct{}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(r *request) {
	q.mu.Lock()
	q.requests = append(q.requests, r)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// next waits for an entry. It returns nil when ctx is done.
func (q *queue) next(ctx context.Context) *request {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.requests) > 0 {
			r := q.requests[0]
			q.requests = q.requests[1:]
			q.mu.Unlock()
			return r
		}
		q.mu.Unlock()
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
	return nil
}

// clear removes all entries and returns them.
func (q *queue) clear() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	requests := q.requests
	q.requests = nil
	return requests
}
