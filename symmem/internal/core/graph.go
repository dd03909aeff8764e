package symmem

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/trace"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Graph is work that was captured once and can be replayed at the cost of a single launch.
type Graph struct {
	rt      *Runtime
	d       device.Graph
	stream  *Stream
	copying []*Group        // that copy by copy engines
	groups  []*Group        // whose signals it uses
	spare   *Tensor         // while it is captured: memory that its reductions may share
	comms   []*communicator // whose calls it captured
	builds  []int           // of these groups, when it was captured
	tensors []*Tensor       // that it uses, so that their memory stays theirs
	calls   []Record        // for the record of waits
	first   []Record        // its first calls, and
	begun   int             // how many it has, for Why
	posts   int             // operations that it posts for other hosts
	holds   bool            // kernels of the user's may post more
	of      func()          // the function that was captured: while it is kept, the positions of Config.Caller in it stay known

	replay calls.Replay // the latest
}

// Capture calls f and records the work that f issues on the current stream instead of running it.
// Within f, memory cannot be allocated (Empty, Local, operations that return a new tensor), the host
// cannot read or write tensors, and it cannot wait. Each of these is refused with a hint, and the
// capture is dropped. Ranks that capture communication must capture and replay the same.
func (rt *Runtime) Capture(f func()) *Graph {
	const op = "Capture"
	rt.needFunction(op, f)
	g := rt.beginCapture(op)
	g.of = f
	completed := false
	defer func() {
		if err := rt.endCapture(g, completed); err != nil && completed {
			panic(rt.failure(op, err))
		}
	}()
	f()
	completed = true
	return g
}

func (rt *Runtime) beginCapture(op string) *Graph {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.capture != nil {
		panic(rt.misuse(op, "", "", "a graph is being captured already"))
	}
	c := rt.ownCall(op)
	c.PickStream()
	g := &Graph{rt: rt, stream: c.stream, spare: rt.spareWork(op, c.stream)}
	g.stream.mu.Lock()
	defer g.stream.mu.Unlock()
	if err := g.stream.d.BeginCapture(); err != nil {
		panic(rt.failure(op, err))
	}
	rt.capture = g
	return g
}

// endCapture makes the graph usable, or drops it.
func (rt *Runtime) endCapture(g *Graph, keep bool) (err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.capture = nil
	if slices.Contains(g.tensors, g.spare) {
		rt.spare = nil // it is the graph's
	}
	g.spare = nil
	g.stream.mu.Lock()
	defer g.stream.mu.Unlock()
	if g.d, err = g.stream.d.EndCapture(); err != nil {
		return err
	}
	if !keep {
		return g.d.Close()
	}
	rt.setGraphs(append(slices.Clone(*rt.graphs.Load()), g))
	return nil
}

// keep keeps a tensor alive as long as the graph. rt.mu is held.
func (g *Graph) keep(t *Tensor) { g.tensors = append(g.tensors, t) }

// Replay issues the captured work on the current stream, or on the given one.
func (g *Graph) Replay(opts ...Option) {
	const op = "Replay"
	g.exists(op)
	rt := g.rt
	rt.refuseClosed(op)
	c := rt.newCall(operators.Replay, rt.all, opts)
	rt.hostCall(op)
	defer c.Enter().Leave()
	g.refuseFreed(op)
	for i := range g.calls {
		if r := &g.calls[i]; r.Manner == operators.Collective {
			r.group.mustTakePart(r.Op)
		}
	}
	c.PickStream()
	s := c.stream
	for _, t := range g.tensors {
		t.usable(op)
		if t.st.alloc != nil {
			t.st.alloc.usable(op)
			t.st.alloc.used |= s.bit()
		}
		if t.st.block != nil && t.st.block.Stream != s {
			t.st.block.Used |= s.bit()
		}
	}
	rt.inStep(op)
	for i, group := range g.groups {
		group.usable(op)
		if group.builds != g.builds[i] {
			panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Arg: "graph",
				Msg: fmt.Sprintf("%v was built again since the graph was captured", group), Hint: "capture it again"})
		}
		group.chain(op, s)
	}
	for _, comm := range g.comms {
		if comm.isEnded() {
			panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Arg: "graph",
				Msg: fmt.Sprintf("%v has another communicator of NCCL since the graph was captured", comm.g), Hint: "capture it again"})
		}
	}
	c.begins(false)
	g.replay.Caller.Store(int64(rt.calls.Caller()))
	g.replay.Stream.Store(int64(s.id))
	rt.expect(op, g.posts)
	if g.holds {
		rt.hold(op, s)
	}
	for _, o := range rt.observing() {
		o.Replays(graphSeen{g})
	}
	rt.countIn()
	s.mu.Lock()
	err := trace.Launch(g.d, s.d)
	s.mu.Unlock()
	rt.countOut()
	c.issued(err)
	for _, group := range g.groups {
		group.mark(op, s)
	}
	for _, group := range g.copying {
		group.watchCopies(s)
	}
	g.watchCalls(s)
}

// mostReplays is the maximum number of replays of one Elapsed.
const mostReplays = 100000

// Elapsed replays the graph n times, at most 100,000, on the current stream, waits, and returns the
// average device time of a replay. If communication was captured, all its ranks must call Elapsed.
func (g *Graph) Elapsed(n int) time.Duration {
	const op = "Graph.Elapsed"
	g.exists(op)
	if n < 1 || n > mostReplays {
		panic(g.rt.misuse(op, "n", "", "the number of replays must be positive and at most %d, not %d", mostReplays, n))
	}
	g.rt.hostCall(op)
	g.usable(op)
	return g.rt.Elapsed(func() {
		for range n {
			g.Replay()
		}
	}) / time.Duration(n)
}

// exists refuses a nil graph.
func (g *Graph) exists(op string) {
	if g == nil || g.rt == nil {
		panic(nilArgument(op, "graph"))
	}
}

// refuseFreed refuses a graph that was freed. rt.mu is held.
func (g *Graph) refuseFreed(op string) {
	if g.d == nil {
		panic(g.rt.misuse(op, "graph", hintFor("graph"), "the graph was freed"))
	}
}

func (g *Graph) usable(op string) {
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	g.refuseFreed(op)
}

// Free waits for this rank's work and gives the graph back.
func (g *Graph) Free() {
	const op = "Graph.Free"
	g.exists(op)
	rt := g.rt
	rt.hostCall(op)
	rt.synchronize(op)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if g.d == nil {
		panic(rt.misuse(op, "graph", hintFor("graph"), "the graph was freed already"))
	}
	rt.setGraphs(slices.DeleteFunc(slices.Clone(*rt.graphs.Load()), func(o *Graph) bool { return o == g }))
	err := g.d.Close()
	g.d, g.tensors, g.of = nil, nil, nil
	if err != nil {
		panic(rt.failure(op, err))
	}
}

// graphCallsNamed is the number of calls of a graph that Why names.
const graphCallsNamed = 4

// begin notes a call that the graph captures. rt.mu is held.
func (g *Graph) begin(c *Record) {
	if g.begun++; len(g.first) < graphCallsNamed {
		g.first = append(g.first, *c)
	}
}

// graphSeen is a graph as observers see it.
type graphSeen struct{ *Graph }

func (g graphSeen) Empty() bool { return g.begun == 0 }

func (g graphSeen) Named() string {
	var list []string
	for i := range g.first {
		list = append(list, g.first[i].Text())
	}
	text := strings.Join(list, ", ")
	if more := g.begun - len(g.first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (rt *Runtime) setGraphs(list []*Graph) { rt.graphs.Store(&list) }
