package jupyter

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

// queue holds the entries and the events of widgets that wait for their turn.
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
	q.wake()
}

// replace adds an event, in the place of an earlier one of the same widget, which it returns.
func (q *queue) replace(r *request) (older *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.requests, func(other *request) bool { return other.change == r.change })
	if at >= 0 {
		older, q.requests[at] = q.requests[at], r
		return older
	}
	q.requests = append(q.requests, r)
	q.wake()
	return nil
}

// wake makes next look again.
func (q *queue) wake() {
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
	quiet = 50 * time.Millisecond // pause that ends a series of entries which a front end sends at once, as to run all cells
	// if a pause lasts longer by this, or threads have waited so long for a processor, entries may
	// have come that the process has not read
	heldUp   = quiet / 4
	settleBy = time.Second // bound of the wait
)

// settle removes and returns all entries that have come, and entries that follow at once; it leaves
// events. The first of several cells may fail within a millisecond, before the front end has sent
// the others. A front end that waits for each answer sends no entry meanwhile.
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
			for _, r := range requests {
				if r.change != nil {
					q.requests = append(q.requests, r)
				}
			}
			q.mu.Unlock()
			return slices.DeleteFunc(requests, func(r *request) bool { return r.change != nil })
		}
		q.mu.Unlock()
		var starvation procfs.Starvation
		starvation.Look()
		pause := time.Now()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		late = time.Since(pause) > wait+heldUp || starvation.Look() > heldUp
	}
}
