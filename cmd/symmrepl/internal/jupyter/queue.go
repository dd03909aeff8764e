package jupyter

import (
	"context"
	"sync"
	"time"
)

// queue holds the entries that wait for their turn.
type queue struct {
	mu       sync.Mutex
	requests []*request
	last     time.Time // when the last was added
	more     chan struct{}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(r *request) {
	q.mu.Lock()
	q.requests = append(q.requests, r)
	q.last = time.Now()
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

const (
	quiet    = 50 * time.Millisecond // how long no entry has come when those that a front end sends at once, as to run all cells, have come
	heldUp   = quiet / 4             // by how much a pause is too long when a busy machine has held up this process: it may not have read what came
	settleBy = time.Second           // when it does not wait any longer
)

// settle removes all entries that have come and those that follow them at once, and returns them. A front end that sends an entry for each cell of a
// notebook has sent the first only when that fails, which may take a millisecond; whoever waits for its answer sends nothing meanwhile.
func (q *queue) settle(ctx context.Context) []*request {
	start, late := time.Now(), false
	for {
		q.mu.Lock()
		wait := quiet - time.Since(q.last)
		if late && wait <= 0 {
			wait = quiet
		}
		if wait <= 0 || ctx.Err() != nil || time.Since(start) >= settleBy {
			requests := q.requests
			q.requests = nil
			q.mu.Unlock()
			return requests
		}
		q.mu.Unlock()
		pause := time.Now()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		late = time.Since(pause) > wait+heldUp
	}
}
