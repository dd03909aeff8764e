package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const (
	watchEvery = 5 * time.Millisecond
	// maxStacks bounds by how much the stacks of all goroutines may grow, in bytes, without stackEach for each of them. A stack doubles when it is full, and
	// both are there while it is copied: one of 64 MB may come to be, and one of 128 MB is stopped, before Go would end the process.
	maxStacks = 160 << 20
	stackEach = 64 << 10
	// heapStep is by how much the heap grows until the machine's memory is looked at again.
	heapStep = 64 << 20
	// Cells leave a sixteenth of the machine's memory, or of what this process may have of it, but not more than maxKept.
	keptPart = 16
	maxKept  = 8 << 30
)

// watch looks at the memory that code of cells takes while any runs, and stops all of it when that runs away: endless recursion ends a
// Go process, and a machine without memory ends whatever it likes.
type watch struct {
	rt      *cellRuntime
	armed   atomic.Bool
	samples []metrics.Sample
	idle    uint64 // bytes of stacks when nothing ran
	looked  uint64 // bytes on the heap when the machine's memory was looked at
	// available says how many bytes of memory there are to be had, and how many there are.
	available func() (free, total uint64)
}

// What is sampled.
const (
	stacksSample = iota
	goroutinesSample
	heapSample
)

func newWatch(rt *cellRuntime) *watch {
	return &watch{rt: rt, available: availableMemory, samples: []metrics.Sample{
		stacksSample:     {Name: "/memory/classes/heap/stacks:bytes"},
		goroutinesSample: {Name: "/sched/goroutines:goroutines"},
		heapSample:       {Name: "/memory/classes/heap/objects:bytes"},
	}}
}

// arm makes the watch look for as long as code of cells runs.
func (w *watch) arm() {
	if !w.armed.Swap(true) {
		metrics.Read(w.samples)
		w.idle = w.samples[stacksSample].Value.Uint64()
		time.AfterFunc(watchEvery, w.look)
	}
}

func (w *watch) look() {
	if w.rt.busy.Load() == 0 {
		w.looked = 0
		w.armed.Store(false)
		if w.rt.busy.Load() > 0 { // since a moment ago
			w.arm()
		}
		return
	}
	if e := w.runaway(); e != nil {
		w.rt.in.stopAll(e)
		debug.FreeOSMemory()
	}
	time.AfterFunc(watchEvery, w.look)
}

// runaway returns the error with which code of cells has to stop, nil if it may go on.
func (w *watch) runaway() *session.Error {
	metrics.Read(w.samples)
	stacks := w.samples[stacksSample].Value.Uint64()
	goroutines := w.samples[goroutinesSample].Value.Uint64()
	heap := w.samples[heapSample].Value.Uint64()
	w.idle = min(w.idle, stacks)
	if stacks > w.idle+maxStacks+goroutines*stackEach {
		e := &session.Error{Kind: session.KindPanic, Peer: -1, Hint: "look at the condition that ends the recursion"}
		function := w.rt.in.locate(e, w.rt.position())
		e.Msg = fmt.Sprintf("stack overflow in %s: calls are nested too deep, their stacks take %d MB", function, stacks>>20)
		return e
	}
	if heap < w.looked+heapStep {
		return nil
	}
	if w.looked == 0 { // since the cell began
		w.looked = heap
		return nil
	}
	free, total := w.available()
	kept := min(total/keptPart, maxKept)
	if free < kept {
		debug.FreeOSMemory()
		free, _ = w.available()
		metrics.Read(w.samples)
		heap = w.samples[heapSample].Value.Uint64()
	}
	w.looked = heap
	if free >= kept {
		return nil
	}
	e := &session.Error{Kind: session.KindPanic, Peer: -1, Hint: "set variables that hold much to nil, or define them again"}
	function := w.rt.in.locate(e, w.rt.position())
	e.Msg = fmt.Sprintf("out of memory in %s: values take %d MB here, and of %d MB in all %d MB are left", function, heap>>20, total>>20, free>>20)
	return e
}

// stopAll ends the cell that runs with an error, and returns when it has ended. When none does, it ends the goroutines of earlier cells, and the error is only
// written.
func (in *Interp) stopAll(e *session.Error) {
	r := in.runtime.current()
	if in.turn.TryLock() {
		fmt.Fprintln(os.Stderr, e)
		in.stop(r, unwindGrace)
		in.turn.Unlock()
	} else if r.failWith(e) {
		<-r.done
	}
}

// locate puts a position into e and returns what to call the function there.
func (in *Interp) locate(e *session.Error, at token.Pos) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, text := range in.cells {
		if text.place(e, at) {
			return text.functionAt(at)
		}
	}
	return "a function"
}

// functionAt says in which function of a cell a position is.
func (c *cellText) functionAt(at token.Pos) string {
	line, column, _ := c.position(at)
	const header = "package main\n"
	fset := token.NewFileSet()
	items, _ := split(c.cell.Source)
	file, _ := parser.ParseFile(fset, "", header+blank(c.cell.Source, items, true), parser.SkipObjectResolution)
	if file == nil {
		return "a function"
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start, end := fset.Position(f.Pos()), fset.Position(f.End())
		here := token.Position{Line: line + 1, Column: column}
		if before(start, here) && before(here, end) {
			return f.Name.Name
		}
	}
	return "a function literal"
}

func before(a, b token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column <= b.Column
}
