package symmem

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// How much Why remembers.
const (
	whyCells = 8   // the latest that have made calls
	whyCalls = 128 // the first of each
)

// remembered are the calls of the latest cells of a session, for Why; guarded by rt.mu. In a program
// the number of the cell stays 0, and nothing is remembered.
type remembered struct {
	blind
	cell  int           // that runs
	cells []*cellsCalls // from the oldest to the latest
	now   *passed       // the record of the call under way, or nil
}

// cellsCalls are the calls of a cell.
type cellsCalls struct {
	cell  int
	calls []passed // with a capacity of whyCalls, so that calls under way can point into it
	more  int      // that are left out
}

// passed is a call as it was executed. The words are made when somebody asks.
type passed struct {
	call    Record
	group   *Group
	way     *tuning.Way // nil if it has one way
	bytes   int         // by which the way was chosen
	route   route
	notNCCL string
	kernels [4]string
	n       int // of the kernels, the first four of which have names here
	loaded  bool
	staged  int    // bytes of ordinary memory that symmetric memory stood for
	fresh   int8   // where the memory of the result is from
	graph   *Graph // that was replayed, else nil
}

// Explained is a call of a cell: see [Runtime.Why].
type Explained struct {
	Call    string   // "one_shot_all_reduce f32[1024] sum on world (4 ranks)"
	Caller  int      // where it was made, as Config.Caller said
	Details []string // "way: one shot by packets, because ...", "kernels: ..."
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
	rt.why.cell, rt.why.now = cell, nil
	rt.observe(&rt.why, cell != 0)
}

// Why explains the execution of this rank's calls in a cell, and returns the number of further
// calls that it does not remember. It remembers the latest eight cells that have made calls, and
// the first 128 calls of each. A cell is any number; 0 stands for the latest cell that has made
// calls. Why neither runs nor waits for anything.
func (rt *Runtime) Why(cell int) (calls []Explained, more int) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for i := len(rt.why.cells) - 1; i >= 0; i-- {
		c := rt.why.cells[i]
		if c.cell != cell && cell != 0 {
			continue
		}
		for j := range c.calls {
			calls = append(calls, rt.explained(&c.calls[j]))
		}
		return calls, c.more
	}
	return nil, 0
}

// admitted begins the record of a call.
func (w *remembered) admitted(c *sight) {
	w.now = nil
	n := len(w.cells)
	if n == 0 || w.cells[n-1].cell != w.cell {
		if n == whyCells {
			oldest := w.cells[0]
			copy(w.cells, w.cells[1:])
			w.cells[n-1] = &cellsCalls{cell: w.cell, calls: oldest.calls[:0]}
		} else {
			w.cells = append(w.cells, &cellsCalls{cell: w.cell, calls: make([]passed, 0, whyCalls)})
		}
		n = len(w.cells)
	}
	last := w.cells[n-1]
	if len(last.calls) == whyCalls {
		last.more++
		return
	}
	last.calls = append(last.calls, passed{call: c.Record, group: c.on, notNCCL: c.notNCCL, fresh: c.fresh})
	w.now = &last.calls[len(last.calls)-1]
	w.now.call.Caller = c.stream.rt.calls.Caller()
}

func (w *remembered) ran(kernel string, loaded bool) {
	p := w.now
	if p == nil {
		return
	}
	if p.n < len(p.kernels) {
		p.kernels[p.n] = kernel
	}
	p.n++
	p.loaded = p.loaded || loaded
}

func (w *remembered) chose(c *sight, bytes int, way *tuning.Way) {
	if p := w.now; p != nil {
		p.bytes, p.way, p.staged = bytes, way, c.staged
	}
}

func (w *remembered) replays(g *Graph) {
	if w.now != nil {
		w.now.graph = g
	}
}

func (w *remembered) issued(c *sight) {
	if w.now != nil && c.route.way != "" && c.route.way != "by" {
		w.now.route = c.route
	}
}

// explained describes a remembered call. rt.mu is held.
func (rt *Runtime) explained(p *passed) Explained {
	e := Explained{Call: p.call.Text(), Caller: p.call.Caller}
	if p.group != nil && p.call.Manner != operators.Alone {
		e.Call += fmt.Sprintf(" on %v (%s)", p.group, count.Of(len(p.group.ranks), "rank"))
	}
	add := func(format string, args ...any) { e.Details = append(e.Details, fmt.Sprintf(format, args...)) }
	way, bytes, far := p.way, p.bytes, false
	if way == nil && p.route.way != "" {
		far, way = p.group.far(&p.route), rt.wayOf(p.group, &p.route, p.notNCCL)
		bytes = max(p.route.size, p.route.bytes)
	}
	switch {
	case way != nil && bytes > 0:
		add("way: %s, because %s (%s)", way.Path, way.Why, count.Of(bytes, "byte"))
	case way != nil:
		add("way: %s, because %s", way.Path, way.Why)
	default:
		add("way: the only one")
	}
	if p.notNCCL != "" {
		add("not by NCCL: %s", p.notNCCL)
	}
	switch {
	case way == nil || p.group == nil:
	case !far && bytes > 0 && (p.call.Op == operators.Get.Name || p.call.Op == operators.GetBlock.Name):
		add("fetches: %s over %s", count.Of(bytes, "byte"), rt.medium())
	default:
		if n := sent([]choice{{call: p.call, bytes: bytes}}); n > 0 {
			add("sends: %s at least over %s", count.Of(n, "byte"), rt.medium())
		}
	}
	switch {
	case p.graph != nil && p.graph.begun == 0:
		add("kernels: none: the graph is empty")
	case p.graph != nil:
		add("kernels: the kernels of the graph, which has the calls %s", p.graph.named())
	case p.n == 0:
		add("kernels: none: the device copies or fills by itself, or the host does the work")
	case p.n > len(p.kernels):
		add("kernels: %s and %d more", strings.Join(p.kernels[:], ", "), p.n-len(p.kernels))
	default:
		add("kernels: %s", strings.Join(p.kernels[:p.n], ", "))
	}
	if p.loaded {
		e.Details[len(e.Details)-1] += ", loaded for this call"
	} else if p.n > 0 {
		e.Details[len(e.Details)-1] += ", loaded before"
	}
	if p.staged > 0 {
		add("operands: %s of ordinary memory, staged in symmetric memory", count.Of(p.staged, "byte"))
	}
	switch p.fresh {
	case fromMemory:
		add("result: ordinary memory")
	case fromPool:
		add("result: of the memory pool")
	}
	add("back end: %s", rt.backend.name)
	return e
}

// medium names the hardware that carries stores to other ranks of the host.
func (rt *Runtime) medium() string {
	if d, ok := rt.dev.(device.Linked); ok {
		if _, links, err := d.Links(); err == nil && len(links) > 0 {
			return links[0].Kind
		}
		return "the GPU's memory"
	}
	return "shared memory of this host"
}
