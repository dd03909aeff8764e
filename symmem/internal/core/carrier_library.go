package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// byLibrary carries calls of handles by a library that has a package of its own.
type byLibrary struct{ seam.Library }

// Takes takes what Compare sends by the library.
func (w byLibrary) Takes(c *Call) bool {
	p := c.rt.comparing.Load()
	return p != nil && w.Does(c.of) && p.heapCall(w.Refuses(c) == nil)
}

func (w byLibrary) Refuses(c *Call) error {
	r := c.request()
	r.Captured = c.Capturing()
	return w.Library.Refuses(r)
}

func (w byLibrary) Run(c *Call) {
	p, h := &c.passage, c.passage.h
	defer c.Enter().Leave()
	c.PickStream()
	var used []*Tensor
	if c.of.Manner < operators.Signalling {
		used = append(used, h.t)
	}
	if p.t != nil {
		used = append(used, p.t)
	}
	c.Admit(used...)
	c.told = true // Explain gets the way below
	r := c.request()
	by, err := w.Issue(r)
	c.issued(err)
	c.Chose(r.Bytes, &tuning.Way{Path: by, Why: "the call asks for it by Via"})
}

// request describes a call of a handle to a library.
func (c *Call) request() *seam.Request {
	p, h := &c.passage, c.passage.h
	g := h.g
	r := &seam.Request{
		Of: c.of, Group: members{g}, Whole: g == c.rt.all, Tensor: h.t.kind(), Segment: h.t.st.alloc.seg,
		Copy: h.buffers[g.rank], Pad: h.pads[g.rank], Peer: g.ranks[p.peer], Index: p.index, Value: p.val, AtLeast: p.atLeast,
		Timeout: c.opts.timeout, ID: c.Record.ID, Stream: resting{c.stream},
	}
	if p.t != nil {
		r.Operand, r.Bytes = p.t.pointer(), p.t.Bytes()
	}
	return r
}
