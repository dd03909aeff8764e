package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// How much Why remembers.
const (
	whyCells = 8   // the latest that have made calls
	whyCalls = 128 // the first of each
)

// Why is an observer that remembers the calls of the latest cells of a session. The lock of the world
// guards it.
type Why struct {
	seam.Blind
	World World

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
	call    calls.Entry
	group   seam.Members
	way     *tuning.Way // nil if it has one way
	bytes   int         // by which the way was chosen
	route   seam.Route
	notNCCL string
	kernels [4]string
	n       int // of the kernels, the first four of which have names here
	loaded  bool
	staged  int         // bytes of ordinary memory that symmetric memory stood for
	result  seam.Result // where the memory of the result is from
	graph   seam.Graph  // that was replayed, else nil
}

// Explained is a call of a cell: see [Why].
type Explained struct {
	Call    string   // "one_shot_all_reduce f32[1024] sum on world (4 ranks)"
	Caller  int      // where it was made, as Config.Caller said
	Details []string // "way: one shot by packets, because ...", "kernels: ..."
}

// BeginCell notes that the code of a cell runs from now on.
func (w *Why) BeginCell(cell int) { w.cell, w.now = cell, nil }

// Explained explains the calls of a cell, or of the latest one for 0, and returns the number of further
// calls that are not remembered.
func (w *Why) Explained(cell int) (calls []Explained, more int) {
	for _, c := range slices.Backward(w.cells) {
		if c.cell != cell && cell != 0 {
			continue
		}
		for j := range c.calls {
			calls = append(calls, w.explained(&c.calls[j]))
		}
		return calls, c.more
	}
	return nil, 0
}

// Admitted begins the record of a call.
func (w *Why) Admitted(c *seam.Sight) {
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
	last.calls = append(last.calls, passed{call: c.Entry, group: c.Group, notNCCL: c.NotNCCL, result: c.Result})
	w.now = &last.calls[len(last.calls)-1]
	w.now.call.Caller = w.World.Caller()
}

// Ran implements seam.Observer.
func (w *Why) Ran(kernel string, loaded bool) {
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

// Chose implements seam.Observer.
func (w *Why) Chose(c *seam.Sight, bytes int, way *tuning.Way) {
	if p := w.now; p != nil {
		p.bytes, p.way, p.staged = bytes, way, c.Staged
	}
}

// Replays implements seam.Observer.
func (w *Why) Replays(g seam.Graph) {
	if w.now != nil {
		w.now.graph = g
	}
}

// Issued implements seam.Observer.
func (w *Why) Issued(c *seam.Sight) {
	if w.now != nil && c.Route.Way != "" && c.Route.Way != "by" {
		w.now.route = c.Route
	}
}

// explained describes a remembered call.
func (w *Why) explained(p *passed) Explained {
	e := Explained{Call: p.call.Text(), Caller: p.call.Caller}
	if p.group != nil && p.call.Manner != operators.Alone {
		e.Call += fmt.Sprintf(" on %v (%s)", p.group, count.Of(len(p.group.Ranks()), "rank"))
	}
	add := func(format string, args ...any) { e.Details = append(e.Details, fmt.Sprintf(format, args...)) }
	way, bytes, far := p.way, p.bytes, false
	if way == nil && p.route.Way != "" {
		far, way = p.route.Far(p.group), wayOf(w.World, p.group, &p.route, p.notNCCL)
		bytes = max(p.route.Size, p.route.Bytes)
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
		add("fetches: %s over %s", count.Of(bytes, "byte"), medium(w.World.Device()))
	default:
		if n := Sent([]Choice{{Call: p.call, Group: p.group, Bytes: bytes}}); n > 0 {
			add("sends: %s at least over %s", count.Of(n, "byte"), medium(w.World.Device()))
		}
	}
	switch {
	case p.graph != nil && p.graph.Empty():
		add("kernels: none: the graph is empty")
	case p.graph != nil:
		add("kernels: the kernels of the graph, which has the calls %s", p.graph.Named())
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
	switch p.result {
	case seam.FromMemory:
		add("result: ordinary memory")
	case seam.FromPool:
		add("result: of the memory pool")
	}
	add("back end: %s", w.World.Backend())
	return e
}

// medium names the hardware that carries stores to other ranks of the host.
func medium(dev device.Device) string {
	if d, ok := dev.(device.Linked); ok {
		if _, links, err := d.Links(); err == nil && len(links) > 0 {
			return links[0].Kind
		}
		return "the GPU's memory"
	}
	return "shared memory of this host"
}
