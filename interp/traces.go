package interp

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// traces collects, for each goroutine, what is known about its panics.
type traces struct {
	mu     sync.Mutex
	lines  map[uint64][]string
	defers deferStacks
}

func newTraces() *traces {
	return &traces{lines: map[uint64][]string{}, defers: deferStacks{by: map[uint64][]*panicking{}}}
}

// Write receives what yaegi says when a panic leaves a function: one line a function, from the innermost.
func (t *traces) Write(p []byte) (int, error) {
	id := goroutine()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines[id] = append(t.lines[id], string(bytes.TrimSpace(p)))
	return len(p), nil
}

// take returns and forgets the lines of the calling goroutine.
func (t *traces) take() []string {
	id := goroutine()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines[id]
	delete(t.lines, id)
	return lines
}

// enter notes that the calling goroutine runs a deferred call under p, until leave.
func (t *traces) enter(p *panicking) (leave func()) {
	id := goroutine()
	d := &t.defers
	d.mu.Lock()
	d.by[id] = append(d.by[id], p)
	d.mu.Unlock()
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if stack := d.by[id]; len(stack) > 1 {
			d.by[id] = stack[:len(stack)-1]
		} else {
			delete(d.by, id)
		}
	}
}

// recover stops the panic under which the calling goroutine's deferred call runs and returns its value.
func (t *traces) recover() any {
	id := goroutine()
	d := &t.defers
	d.mu.Lock()
	defer d.mu.Unlock()
	stack := d.by[id]
	if len(stack) == 0 || stack[len(stack)-1].recovered {
		return nil
	}
	p := stack[len(stack)-1]
	p.recovered = true
	t.mu.Lock()
	delete(t.lines, id)
	t.mu.Unlock()
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
