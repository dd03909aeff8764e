package study

import (
	"cmp"
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// World is the world of which calls are studied.
type World interface {
	Caller() int           // where the program is
	HostOf(rank int) int   // of a world rank
	Between() string       // the network between hosts: "ucx"
	Backend() string       // which makes symmetric memory; the world is locked
	Device() device.Device // of this rank
}

// Choice records how one call was executed.
type Choice struct {
	Call  calls.Entry
	Group seam.Members
	Bytes int
	Path  string // "packets"
	Why   string
}

// String is "all_reduce bf16[2048] sum on world (4 ranks, 4096 bytes): packets, because ...".
func (c Choice) String() string {
	return fmt.Sprintf("%s on %v (%d ranks, %d bytes): %s, because %s", c.Call.Text(), c.Group, len(c.Group.Ranks()), c.Bytes, c.Path, c.Why)
}

// Explaining is an observer that records the choices of calls.
type Explaining struct {
	seam.Blind
	World World
	List  []Choice
}

// Chose implements seam.Observer.
func (e *Explaining) Chose(c *seam.Sight, bytes int, w *tuning.Way) {
	path, why := w.Path, w.Why
	if c.Staged > 0 {
		path += ", of a copy in symmetric memory"
		why += fmt.Sprintf("; %d bytes of ordinary memory are copied", c.Staged)
	}
	e.List = append(e.List, Choice{Call: c.Entry, Group: c.Group, Bytes: bytes, Path: path, Why: why})
}

// Issued implements seam.Observer.
func (e *Explaining) Issued(c *seam.Sight) {
	if p := &c.Route; p.Way != "" && p.Way != "by" { // of which a call says more
		e.Chose(c, cmp.Or(p.Size, p.Bytes), wayOf(e.World, c.Group, p, c.NotNCCL))
	}
}

// wayOf describes the way of a call on g that has a route. notNCCL says why NCCL did not get it.
func wayOf(w World, g seam.Members, p *seam.Route, notNCCL string) *tuning.Way {
	far, between := p.Far(g), w.Between()
	switch {
	case p.Splits > 0:
		return &tuning.Way{Path: fmt.Sprintf("%s, by puts of %d splits of this rank over %s between hosts, stores within", p.Of,
			p.Splits, between), Why: p.Why}
	case p.Unknown:
		return &tuning.Way{Path: fmt.Sprintf("%s over %s between hosts, stores within", p.Of, between), Why: p.Why}
	case p.Of != "":
		why := p.Why
		if notNCCL != "" {
			why += "; NCCL does not carry it: " + notNCCL
		}
		return &tuning.Way{Path: fmt.Sprintf("%s, %d bytes of this rank over %s", p.Of, p.Bytes, between), Why: why}
	case far && p.Way == "with":
		return &tuning.Way{Path: fmt.Sprintf("ring and messages over %s between hosts, loads and stores within", between),
			Why: fmt.Sprintf("members are on %d hosts", len(g.Split().Parts))}
	case far:
		r := g.Ranks()[p.Peer]
		return &tuning.Way{Path: "ring and messages over " + between,
			Why: fmt.Sprintf("rank %d is on host %d, whose memory is not mapped here", r, w.HostOf(r))}
	case p.Way == "with":
		return &tuning.Way{Path: "loads and stores", Why: "the memory of all members is mapped here"}
	}
	return &tuning.Way{Path: "loads and stores", Why: fmt.Sprintf("the memory of rank %d is mapped here", g.Ranks()[p.Peer])}
}

// Sent is the least that a rank must send to do these calls, in bytes. It is 0 if a call goes over a
// network or moves bytes that are not known here.
func Sent(list []Choice) (bytes int) {
	for _, c := range list {
		p := len(c.Group.Ranks())
		switch c.Call.Op {
		case operators.AllReduce.Name, operators.TwoShotAllReduce.Name:
			bytes += 2 * (p - 1) * c.Bytes / p
		case operators.OneShotAllReduce.Name, operators.AllGather.Name:
			bytes += (p - 1) * c.Bytes
		case operators.ReduceScatter.Name, operators.AllToAll.Name, operators.AllToAllPermute.Name:
			bytes += (p - 1) * c.Bytes / p
		case operators.Put.Name, operators.PutWithSignal.Name, operators.PutBlock.Name, operators.Broadcast.Name:
			bytes += c.Bytes
		case operators.Barrier.Name, operators.PutSignal.Name, operators.WaitSignal.Name, operators.WaitForSignal.Name,
			operators.SignalAdd.Name:
		default:
			return 0
		}
		if c.Group.Split().Spans() {
			return 0
		}
	}
	return bytes
}
