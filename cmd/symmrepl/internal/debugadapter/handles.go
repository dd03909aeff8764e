package debugadapter

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/go-dap"
)

// opener returns the rows below a variable or a scope that a client opens.
type opener func(ctx context.Context) ([]dap.Variable, error)

// handles are the numbers by which a client opens scopes and variables.
type handles struct {
	mu          sync.Mutex
	last        int
	now, before map[int]opener
}

// add returns the number of something that can be opened.
func (h *handles) add(open opener) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == nil {
		h.now = map[int]opener{}
	}
	h.last++
	h.now[h.last] = open
	return h.last
}

// renew forgets the numbers that were given before the previous call. The latest ones are kept,
// because a client may have sent a request with one of them meanwhile.
func (h *handles) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now, h.before = nil, h.now
}

// find returns the opener of a number.
func (h *handles) find(number int) (opener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range []map[int]opener{h.now, h.before} {
		if open, ok := m[number]; ok {
			return open, nil
		}
	}
	return nil, fmt.Errorf("variablesReference %d is not valid any more: the ranks have gone on since", number)
}
