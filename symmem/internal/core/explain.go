package symmem

import (
	"cmp"
	"fmt"
	"slices"
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

// explaining is an Explain under way.
type explaining struct {
	blind
	list []choice
}

// choosing calls f and returns the choices of its calls.
func (rt *Runtime) choosing(f func()) []choice {
	e := &explaining{}
	defer rt.observeWith(e)()
	f()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return e.list
}

// explains reports whether an Explain is under way. rt.mu is held.
func (rt *Runtime) explains() bool {
	return slices.ContainsFunc(rt.observing(), func(o observer) bool { _, is := o.(*explaining); return is })
}

func (e *explaining) chose(c *sight, bytes int, w *tuning.Way) {
	path, why := w.Path, w.Why
	if c.staged > 0 {
		path += ", of a copy in symmetric memory"
		why += fmt.Sprintf("; %d bytes of ordinary memory are copied", c.staged)
	}
	e.list = append(e.list, choice{c.Record, bytes, path, why})
}

func (e *explaining) issued(c *sight) {
	if p := &c.route; p.way != "" && p.way != "by" { // of which a call says more
		e.chose(c, cmp.Or(p.size, p.bytes), c.stream.rt.wayOf(c.on, p, c.notNCCL))
	}
}

// wayOf describes the way of a call on g that has a route. notNCCL says why NCCL did not get it.
func (rt *Runtime) wayOf(g *Group, p *route, notNCCL string) *tuning.Way {
	far := g.far(p)
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
