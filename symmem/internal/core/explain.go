package symmem

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/study"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Explained is a call of a cell: see [Runtime.Why].
type Explained = study.Explained

// Explain calls f and returns a line for each operation that f issued and that has several ways to
// do its work, as puts, gets, signals and barriers have, which stay within the host or go over a
// network. The line has the call, the numbers of ranks and bytes, the way that it went, and the
// reason. It is not collective, and waits for nothing.
func (rt *Runtime) Explain(f func()) string {
	rt.refuseClosed("Explain")
	rt.needFunction("Explain", f)
	var lines []string
	for _, c := range rt.choosing(f) {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// choosing calls f and returns the choices of its calls.
func (rt *Runtime) choosing(f func()) []study.Choice {
	e := &study.Explaining{World: studied{rt}}
	defer rt.observeWith(e)()
	f()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return e.List
}

// BeginCell sets the number of the session's cell whose code runs from now on, any number: Why
// finds the calls of the cell by it. 0 stands for no cell. Programs need not call it. After Close
// it does nothing.
func (rt *Runtime) BeginCell(cell int) {
	if rt.closed.Load() {
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.why.BeginCell(cell)
	rt.observe(&rt.why, cell != 0)
}

// Why explains the execution of this rank's calls in a cell, and returns the number of further
// calls that it does not remember. It remembers the latest eight cells that have made calls, and
// the first 128 calls of each. A cell is any number; 0 stands for the latest cell that has made
// calls. Why neither runs nor waits for anything.
func (rt *Runtime) Why(cell int) (calls []Explained, more int) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.why.Explained(cell)
}

// studied is a world as package study knows it.
type studied struct{ rt *Runtime }

func (w studied) Caller() int           { return w.rt.calls.Caller() }
func (w studied) HostOf(rank int) int   { return w.rt.hostOf(rank) }
func (w studied) Between() string       { return w.rt.between() }
func (w studied) Backend() string       { return w.rt.backend.name }
func (w studied) Device() device.Device { return w.rt.dev }
