package limits

import (
	"fmt"
	"runtime/metrics"
	"sync"
)

const (
	// MaxStacks bounds by how many bytes the stacks of all goroutines may grow, not counting
	// stackEach for each goroutine. A full stack is copied to one of twice the size, and both exist
	// during the copy. So a stack of 64 MB is permitted and one of 128 MB is stopped, before Go
	// would end the process.
	MaxStacks = 160 << 20
	stackEach = 64 << 10
)

// stackLimit is the limit of the stacks of all goroutines.
type stackLimit struct {
	mu      sync.Mutex
	samples [2]metrics.Sample
	idle    uint64 // bytes of stacks, including those not freed yet, when nothing ran
}

func newStackLimit() *stackLimit {
	return &stackLimit{samples: [2]metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/sched/goroutines:goroutines"}}}
}

func (l *stackLimit) sample() (stacks, goroutines uint64) {
	metrics.Read(l.samples[:])
	return l.samples[0].Value.Uint64(), l.samples[1].Value.Uint64()
}

func (l *stackLimit) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle, _ = l.sample()
}

func (l *stackLimit) exceeded() (what, detail, hint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stacks, goroutines := l.sample()
	l.idle = min(l.idle, stacks)
	if stacks <= l.idle+MaxStacks+goroutines*stackEach {
		return "", "", ""
	}
	return "stack overflow", fmt.Sprintf("calls are nested too deep, their stacks take more than %d MB", MaxStacks>>20),
		"look at the condition that ends the recursion"
}
