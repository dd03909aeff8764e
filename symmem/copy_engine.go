package symmem

import (
	"slices"

	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// byEngines does an exchange by copy engines.
func (e *exchange) byEngines(shape []int, n int, lay func(push bool)) *Tensor {
	g := e.g
	defer e.Enter().Leave()
	e.staged = e.Op() == "all_gather" && e.out != nil && (core.Operand(e.t).Overlaps(e.out) || !e.Maps(e.t))
	if e.staged = e.staged && e.Maps(e.out); e.staged {
		e.from = e.Mapped(e.out)
		e.Record.On(e.out)
	} else {
		e.reads()
	}
	e.PickStream()
	if e.out == nil {
		e.out = e.Fresh(e.t.DType(), slices.Clone(shape), numelOf(shape))
	}
	if n == 0 {
		return e.out
	}
	id := e.Admit(e.t, e.out).Ordinal
	w := enginesWay
	if e.staged {
		w = stagedWay
	}
	e.Chose(e.t.Bytes(), e.Engines(w))
	if own := core.Operand(e.out).Addr() + device.Ptr(g.Rank()*n); e.staged && own != core.Operand(e.t).Addr() {
		e.Copy(own, core.Operand(e.t).Addr(), n)
	}
	lay(false)
	e.CopyAll(id, e.args.Src[:e.args.Pieces], e.args.Dst[:e.args.Pieces], n, e.staged)
	return e.out
}

// Ways of an exchange by copy engines.
var (
	enginesWay = &tuning.Way{Path: "copy engines", Why: "CopyEngine was given: the multiprocessors stay free for other kernels"}
	stagedWay  = &tuning.Way{Path: "copy engines, from out", Why: "CopyEngine was given, and peers read the tensor at its place in out"}
)
