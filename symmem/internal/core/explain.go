package symmem

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// choice records how one call was executed.
type choice struct {
	call  Record
	bytes int
	path  string // "packets"
	why   string
}

// String is "all_reduce bf16[2048] sum on world (4 ranks, 4096 bytes): packets, because ...".
func (c choice) String() string {
	return fmt.Sprintf("%s on %v (%d ranks, %d bytes): %s, because %s", c.call.Text(), c.call.group, len(c.call.group.ranks),
		c.bytes, c.path, c.why)
}

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
func (rt *Runtime) choosing(f func()) []choice {
	rt.mu.Lock()
	outer := rt.choices
	mine := new([]choice)
	rt.choices = mine
	rt.mu.Unlock()
	defer func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		if rt.choices = outer; outer != nil {
			*outer = append(*outer, *mine...)
		}
	}()
	f()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return *mine
}

// Chose notes for Explain which way an admitted call goes. bytes is the size by which it was
// chosen.
func (c *Call) Chose(bytes int, w *tuning.Way) {
	c.copied = c.copied || len(c.stages) > 0
	c.passed.chose(c, bytes, w)
	if list := c.rt.choices; list != nil {
		w = c.explained(w)
		*list = append(*list, choice{c.Record, bytes, w.Path, w.Why})
	}
}

// route describes the traffic of a call for Explain and Trace: the peer, the direction and the
// bytes. The zero value means none.
type route struct {
	way   string // "to" or "from" a member, or "with" all
	peer  int    // by its rank in the group; of "with" it means nothing
	bytes int
	of    string // of a collective over hosts: the name of its way, and why; bytes is then what this rank sends
	why   string
	size  int // of the message, by which the way was chosen

	signal signalling // that the call gives or awaits

	splits  int  // numbers in device memory that give further bytes; 0 if there are none
	unknown bool // only the device knows how many bytes it moves
}

// noteRoute notes for Explain and for a trace which way the call went, once its work was issued.
// rt.mu is held.
func (c *Call) noteRoute() {
	p, t := &c.route, c.rt.trace.Load()
	if c.passed != nil {
		c.passed.call.Far, c.passed.notNCCL = c.Record.Far, c.notNCCL
		if p.way != "" {
			c.passed.route = *p
		}
	}
	if t != nil && p.signal.group != nil {
		t.Signals(p.signal.names())
		p.signal = signalling{}
	}
	if p.way == "" || t == nil && c.rt.choices == nil {
		return
	}
	g := c.opts.group
	far := g.split.Spans() && (p.way == "with" || !g.split.Near(p.peer))
	c.Chose(cmp.Or(p.size, p.bytes), c.rt.wayOf(g, p, c.notNCCL, far))
	if far && t != nil {
		t.Crosses(c.rt.between()+" "+g.farEnd(p), p.bytes)
	}
	p.way = "" // said, whatever else the call issues
}

// wayOf describes the way of a call on g that has a route. notNCCL says why NCCL did not get it.
func (rt *Runtime) wayOf(g *Group, p *route, notNCCL string, far bool) *tuning.Way {
	switch {
	case p.splits > 0:
		return &tuning.Way{Path: fmt.Sprintf("%s, by puts of %d splits of this rank over %s between hosts, stores within", p.of,
			p.splits, rt.between()), Why: p.why}
	case p.unknown:
		return &tuning.Way{Path: fmt.Sprintf("%s over %s between hosts, stores within", p.of, rt.between()), Why: p.why}
	case p.of != "":
		why := p.why
		if notNCCL != "" {
			why += "; NCCL does not carry it: " + notNCCL
		}
		return &tuning.Way{Path: fmt.Sprintf("%s, %d bytes of this rank over %s", p.of, p.bytes, rt.between()), Why: why}
	case far && p.way == "with":
		return &tuning.Way{Path: fmt.Sprintf("ring and messages over %s between hosts, loads and stores within", rt.between()),
			Why: fmt.Sprintf("members are on %d hosts", len(g.split.Parts))}
	case far:
		r := g.ranks[p.peer]
		return &tuning.Way{Path: "ring and messages over " + rt.between(),
			Why: fmt.Sprintf("rank %d is on host %d, whose memory is not mapped here", r, rt.hostOf(r))}
	case p.way == "with":
		return &tuning.Way{Path: "loads and stores", Why: "the memory of all members is mapped here"}
	}
	return &tuning.Way{Path: "loads and stores", Why: fmt.Sprintf("the memory of rank %d is mapped here", g.ranks[p.peer])}
}

// farEnd names the other end of the network: "to rank 3 on host 1", "with hosts 1,2".
func (g *Group) farEnd(p *route) string {
	if p.way != "with" {
		r := g.ranks[p.peer]
		return fmt.Sprintf("%s rank %d on host %d", p.way, r, g.rt.hostOf(r))
	}
	var hosts []int
	for i, part := range g.split.Parts {
		if i != g.split.Home {
			hosts = append(hosts, g.rt.hostOf(part[0]))
		}
	}
	if len(hosts) == 1 {
		return fmt.Sprintf("with host %d", hosts[0])
	}
	return "with hosts " + places.Joined(hosts)
}
