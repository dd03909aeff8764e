package run

import (
	"fmt"
	"runtime/metrics"
	"sync"
)

const (
	// MaxStacks bounds by how much the stacks of all goroutines may grow, in bytes, without stackEach for each of them. A stack doubles when it is full, and
	// both are there while it is copied: one of 64 MB is permitted, and one of 128 MB is stopped, before Go would end the process.
	MaxStacks = 160 << 20
	stackEach = 64 << 10
)

// stackLimit is the limit of the stacks of all goroutines.
type stackLimit struct {
	mu      sync.Mutex
	samples [2]metrics.Sample
	idle    uint64 // bytes of stacks when nothing ran, those among them that are not freed yet
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
	return "stack overflow", fmt.Sprintf("calls are nested too deep, their stacks take more than %d MB", MaxStacks>>20), "look at the condition that ends the recursion"
}
