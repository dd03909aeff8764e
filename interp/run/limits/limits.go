package limits

import "sync/atomic"

// Limits are the limits of the code of one session.
type Limits struct {
	busy           func() bool
	stop           func(what, detail, hint string)
	stacks, memory watch
	values         *memoryLimit
}

// New returns limits of which memory is the number of bytes that values may take. Busy reports whether
// any code of cells runs; stop stops all of it because of an exceeded limit, and returns when it has
// ended.
func New(memory uint64, busy func() bool, stop func(what, detail, hint string)) *Limits {
	l := &Limits{busy: busy, stop: stop, values: &memoryLimit{most: memory, available: availableMemory}}
	l.stacks.of, l.stacks.limit = l, newStackLimit()
	l.memory.of, l.memory.limit = l, l.values
	return l
}

// Begin starts the checks, which go on while code of cells runs. First says that no code of cells ran
// before.
func (l *Limits) Begin(first bool) {
	l.stacks.arm(first)
	l.memory.arm(first)
}

// MeasureBy replaces the function that measures the machine's memory: available returns how many
// bytes the process may still allocate, and how many there are in total.
func (l *Limits) MeasureBy(available func() (free, total uint64)) { l.values.available = available }

// limit limits one resource that code of cells uses.
type limit interface {
	// begin is called when code of cells starts to run and none ran before. It may be called during
	// a call of exceeded.
	begin()
	// exceeded describes the exceeded limit if code of cells has to stop; otherwise the result what
	// is "".
	exceeded() (what, detail, hint string)
}

// watch checks a limit while any code of cells runs, as often as the process has used some processor time:
// without it no stack and no heap grows. If the limit is exceeded, it stops all of that code. Each limit has
// its own watch, because a check that collects garbage first may take long.
type watch struct {
	of    *Limits
	limit limit
	armed atomic.Bool
}

// arm is Begin for one limit.
func (w *watch) arm(first bool) {
	if first {
		w.limit.begin()
	}
	if !w.armed.Swap(true) {
		clock.after(w.look)
	}
}

func (w *watch) look() {
	if !w.of.busy() {
		w.armed.Store(false)
		if w.of.busy() { // code started just now
			w.arm(false)
		}
		return
	}
	if what, detail, hint := w.limit.exceeded(); what != "" {
		w.of.stop(what, detail, hint)
	}
	clock.after(w.look)
}
