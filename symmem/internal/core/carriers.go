package symmem

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Carriers
//
// Kernels and copies on mapped memory carry calls, unless another carrier does: the network, with
// members on other hosts, and the libraries NCCL and NVSHMEM. Each is a row of rows.go, and the choice
// between them is made by [Call.goesBy] alone.

// carrier is a way to carry calls.
type carrier = seam.Carrier[*Call]

// passage describes a call to its carrier.
type passage struct {
	h       *Handle // whose tensor or signals; nil for a collective
	t       *Tensor // that is put, or into which is got
	at      device.Ptr
	val     uint64
	peer    int // the member
	index   int // the channel, or the word of the signal pad
	atLeast bool
}

// carry lets the first carrier that can run a call of the handle, which has not entered. The call is over
// then.
func (h *Handle) carry(c *Call, p passage) {
	c.passage = p
	c.passage.h = h
	c.carried()
}

func (c *Call) carried() {
	for _, w := range c.rt.carriers {
		if c.goesBy(w) {
			w.Run(c)
			*c = Call{}
			handleCalls.Put(c)
			return
		}
	}
}

// goesBy reports whether a carrier carries the call: one that has the way that the call asks for, unless
// it refuses the call, or one that takes the call if it asks for none.
func (c *Call) goesBy(w carrier) bool {
	if c.opts.via == "" {
		return w.Takes(c)
	}
	if !slices.Contains(w.Names(), string(c.opts.via)) {
		return false
	}
	if err := w.Refuses(c); err != nil {
		panic(c.rt.failure(c.Record.Op, err))
	}
	return true
}

// carrierOf returns the carrier that has a way, nil if none has.
func (rt *Runtime) carrierOf(v Via) carrier {
	for _, w := range rt.carriers {
		if slices.Contains(w.Names(), string(v)) {
			return w
		}
	}
	return nil
}

// ways lists the ways of some carriers as a sentence has them, with a word before the last.
func (rt *Runtime) ways(word string, of func(carrier) bool) string {
	var list []string
	for _, w := range slices.Backward(rt.carriers) {
		if of(w) {
			for _, name := range w.Names() {
				list = append(list, strconv.Quote(name))
			}
		}
	}
	last := len(list) - 1
	return strings.TrimPrefix(strings.Join(list[:last], ", ")+" "+word+" "+list[last], " "+word+" ")
}

// compares is the comparison of a wait for a word, as kernels have it.
func (p *passage) compares() uint32 {
	if p.atLeast {
		return 1
	}
	return 0
}

// pitches returns the bytes of a row of a block, and the bytes from one row of the handle's tensor to
// the next.
func (p *passage) pitches() (width, pitch int) {
	return p.t.shape[1] * p.t.dtype.Size(), p.h.t.shape[1] * p.t.dtype.Size()
}
