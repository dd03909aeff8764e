package symmem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/measure"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Comparison are the ways in which code ran: see [Runtime.Compare].
type Comparison = measure.Comparison

// Ways of running code that a Comparison has as names. After the first stand the ways that its calls
// took.
const (
	asChosen = "as chosen"
	engines  = "copy engines"
)

// compareRuns is the number of runs of each way.
const compareRuns = 5

// variant is a way that calls are made to take where they can.
type variant struct {
	name string
	way  *tuning.Way // of a reduction within a host
	via  Via
	ce   bool // by copy engines
}

// comparing is a Compare under way. Other goroutines make no calls meanwhile; the fields are guarded
// by rt.mu where calls of f use them.
type comparing struct {
	blind
	learning bool      // the first run, which finds the tensors and the ways
	forced   variant   // by which calls go, if they can
	variants []variant // that calls can take
	heap     reach     // of the calls of handles

	tensors []*Tensor // that calls use and that were there before, whole
	saved   []*Tensor // their values before the calls
	results []*Tensor // that the code has made
}

// Compare runs f as it is, and again by each way that its calls can take: reductions by each of
// their ways within a host, collectives over hosts flat and hierarchical, by NCCL where it is found,
// by copy engines, and with the back end NVSHMEM the puts, gets, signals, waits and barriers of
// handles by NVSHMEM, if it can do all of them and no kernel of f may wait for them. Calls that name
// their way by an option keep it. The others are codes that are compared with f too. Each way runs
// five times, from the values that the tensors of f's calls had
// before f: the tensors in this rank's memory that f passes to calls.
//
// What is compared is these tensors, and those that f makes and has not freed: by Local and Empty, and
// the results of calls. A way counts as equal if all
// bits are; sums of floats in another order may differ by some ulps. Each way's time is the median
// of its device times, on the slowest rank. Afterwards the tensors have the values that f as it is
// gives them.
//
// It is collective over all ranks and waits for the device. f is called once more to find the
// tensors.
//
// Errors: those of [Runtime.Rendezvous] and of f. A way that refuses f, and another code that does,
// is listed with its reason.
func (rt *Runtime) Compare(f func(), others ...func()) Comparison {
	const op = "Compare"
	m := rt.beginMeasure(op, append([]func(){f}, others...)...)
	defer m.end()
	p := &comparing{learning: true}
	defer rt.comparing.Store(nil)
	m.wait()
	var paths []string
	for _, c := range rt.choosing(func() { rt.within(p, f) }) {
		if !slices.Contains(paths, c.Path) {
			paths = append(paths, c.Path)
		}
	}
	m.offerNVSHMEM(p)
	p.learning = false
	first := m.tried(p, variant{name: strings.Join(append([]string{asChosen}, paths...), ", ")}, f)
	if first.failed != nil {
		panic(first.failed)
	}
	c := Comparison{Ways: []measure.Way{m.compared(first, first)}}
	for _, v := range p.variants {
		c.Ways = append(c.Ways, m.compared(first, m.tried(p, v, f)))
	}
	for i, other := range others {
		c.Ways = append(c.Ways, m.compared(first, m.tried(p, variant{name: fmt.Sprintf("code %d", i+2)}, other)))
	}
	if len(c.Ways) > 1 {
		m.restore(p)
		m.wait() // f may put into tensors of other ranks
		rt.within(p, f)
		m.wait()
	}
	m.whole = true
	return c
}

// within calls f while calls look at p.
func (rt *Runtime) within(p *comparing, f func()) {
	rt.comparing.Store(p)
	defer rt.comparing.Store(nil)
	defer rt.observeWith(p)()
	f()
}

// reach reports whether NVSHMEM has done some calls of handles, and whether it has refused some.
type reach struct{ Some, NotAll bool }

// agreed reports whether NVSHMEM does calls of some rank and refuses none of any: a signal that one
// rank gives by NVSHMEM another has to await by it.
func agreed(ranks []reach) bool {
	some := false
	for _, r := range ranks {
		if r.NotAll {
			return false
		}
		some = some || r.Some
	}
	return some
}

// heapCall notes while f is learnt whether NVSHMEM does a call of a handle that names no way, and
// reports whether the call goes by it now.
func (p *comparing) heapCall(can bool) bool {
	if p.learning {
		p.heap.Some, p.heap.NotAll = p.heap.Some || can, p.heap.NotAll || !can
	}
	return can && p.forced.via == ViaNVSHMEM
}

// offerNVSHMEM adds NVSHMEM to the ways if all ranks' calls of handles can go by it.
func (m *measuring) offerNVSHMEM(p *comparing) {
	if _, ok := m.rt.dev.(device.HeapDevice); !ok {
		return
	}
	m.rt.all.meeting.Lock()
	all, err := gatherValues(m.rt.all, m.op, "ways", p.heap, nil)
	m.rt.all.meeting.Unlock()
	if err != nil {
		panic(m.rt.failure(m.op, err))
	}
	if agreed(all) {
		p.offers(variant{name: string(ViaNVSHMEM), via: ViaNVSHMEM})
	}
}

// tried is the outcome of one way on this rank.
type tried struct {
	name    string
	failed  *Error // why the way was refused
	took    []time.Duration
	results []result
}

// result are the bytes of a tensor after a run.
type result struct {
	t    *Tensor
	data []byte
}

// wait waits until all ranks are here and none works.
func (m *measuring) wait() {
	m.rt.Synchronize()
	m.meet()
	m.rt.Synchronize()
}

// restore gives the tensors the values from before, once no rank works with them.
func (m *measuring) restore(p *comparing) {
	m.wait()
	for i, t := range p.tensors {
		c := m.rt.ownCall(m.op)
		func() {
			defer c.Enter().Leave()
			c.PickStream()
			c.Touch(t)
			c.issued(c.stream.copy(t.pointer(), p.saved[i].pointer(), t.Bytes()))
		}()
	}
}

// tried runs code by one way.
func (m *measuring) tried(p *comparing, v variant, f func()) (w tried) {
	w.name, p.forced = v.name, v
	for range compareRuns {
		m.restore(p)
		p.results = nil
		err := Maybe(func() {
			_, device, _ := m.run(func() { m.rt.within(p, f) })
			w.took = append(w.took, device)
		})
		if err == nil {
			continue
		}
		if w.failed, _ = errors.AsType[*Error](err); w.failed.Kind != KindMisuse {
			panic(err)
		}
		return w
	}
	for _, t := range append(slices.Clone(p.tensors), p.results...) {
		if t.n == 0 || t.st.isFreed() {
			continue
		}
		w.results = append(w.results, result{t, t.read(m.op, t.n)})
	}
	return w
}

// compared compares a way with the first, on all ranks.
func (m *measuring) compared(first, w tried) measure.Way {
	type report struct {
		Refused string
		Took    time.Duration
		Differs *measure.Difference
	}
	mine := report{Took: measure.Median(w.took)}
	if w.failed != nil {
		mine.Refused = w.failed.Msg
	} else {
		mine.Differs = differs(m.rt.rank, first.results, w.results)
	}
	m.rt.all.meeting.Lock()
	all, err := gatherValues(m.rt.all, m.op, "results", mine, nil)
	m.rt.all.meeting.Unlock()
	switch {
	case err != nil && w.failed != nil: // the others wait in the code that this rank refused
		panic(w.failed)
	case err != nil:
		panic(m.rt.failure(m.op, err))
	}
	way := measure.Way{Name: w.name}
	var list []*measure.Difference
	for _, r := range all {
		way.Took = max(way.Took, r.Took)
		if way.Refused == "" {
			way.Refused = r.Refused
		}
		list = append(list, r.Differs)
	}
	if way.Refused == "" {
		way.Differs = measure.Merge(list)
	}
	return way
}

// differs compares the results of a rank.
func differs(rank int, want, got []result) *measure.Difference {
	if len(want) != len(got) {
		return &measure.Difference{Rank: rank, Result: "the calls", Got: count.Of(len(got), "tensor"),
			Want: fmt.Sprint(len(want)), Count: 1}
	}
	var list []*measure.Difference
	for i := range want {
		if d := measure.Compare(want[i].t.dtype.element(), got[i].data, want[i].data); d != nil {
			d.Rank, d.Result = rank, fmt.Sprintf("%v, tensor %d of the calls", want[i].t.kind(), i+1)
			list = append(list, d)
		}
	}
	return measure.Merge(list)
}

// Admitted notes calls that may wait for signals of handles, such as kernels of the user's.
func (p *comparing) Admitted(c *seam.Sight) {
	if p.learning && c.Manner == operators.Communicating {
		p.heap.NotAll = true
	}
}

// touched saves the values of a tensor that calls use for the first time.
func (p *comparing) touched(op string, s *Stream, t *Tensor) {
	rt, st := s.rt, t.st
	ours := st.peer == rt.rank && (st.alloc == nil || !st.alloc.stands)
	known := func(list []*Tensor) bool {
		return slices.ContainsFunc(list, func(o *Tensor) bool { return o.st == st })
	}
	if !p.learning || !ours || t.n == 0 || rt.capture != nil || known(p.tensors) || known(p.results) {
		return
	}
	n := st.size / t.dtype.Size()
	whole := &Tensor{rt: rt, st: st, dtype: t.dtype, shape: []int{n}, n: n}
	saved := rt.ordinary(op, s, t.dtype, []int{n}, n)
	if err := s.copy(saved.pointer(), whole.pointer(), whole.Bytes()); err != nil {
		panic(rt.failure(op, err))
	}
	p.tensors, p.saved = append(p.tensors, whole), append(p.saved, saved)
}

func (p *comparing) made(t *Tensor) { p.results = append(p.results, t) }

// offers notes a way that calls can take.
func (p *comparing) offers(v variant) {
	if p.learning && !slices.Contains(p.variants, v) {
		p.variants = append(p.variants, v)
	}
}

// prefer gives a call the options of the way that Compare forces, if one is under way.
func (rt *Runtime) prefer(of *operators.Operator, o *options) {
	if p := rt.comparing.Load(); p != nil {
		p.options(rt, of, o)
	}
}

// options gives a call whose options were read those of the way that is forced, and notes which it
// could have.
func (p *comparing) options(rt *Runtime, of *operators.Operator, o *options) {
	free := o.given&(operators.Via|operators.CopyEngine) == 0
	spans := o.group != nil && o.group.split.Spans()
	if !free || o.group == nil {
		return
	}
	_, nccl := rt.dev.(device.CollectiveDevice)
	if of.Options&operators.Via != 0 && of.Manner == operators.Collective {
		if spans && rt.net.Load() != nil {
			p.offers(variant{name: string(Flat), via: Flat})
			if o.group.pipes().Rail > 0 {
				p.offers(variant{name: string(Hierarchical), via: Hierarchical})
			}
		}
		if of.NCCL && nccl {
			p.offers(variant{name: string(ViaNCCL), via: ViaNCCL})
		}
		if via := p.forced.via; via == ViaNCCL && of.NCCL || (via == Flat || via == Hierarchical) && spans {
			o.via, o.given = via, o.given|operators.Via
		}
	}
	if of.Options&operators.CopyEngine != 0 && !spans {
		p.offers(variant{name: engines, ce: true})
		if p.forced.ce {
			o.given |= operators.CopyEngine
		}
	}
}

// Comparing reports whether Compare runs the call, which then asks Way.
func (c *Call) Comparing() bool { return c.rt.comparing.Load() != nil }

// Way is the way of a call that would take w, and could take the others, while Compare runs it: the
// one that is forced.
func (c *Call) Way(w *tuning.Way, can ...*tuning.Way) *tuning.Way {
	p := c.rt.comparing.Load()
	for _, other := range can {
		if other != w {
			p.offers(variant{name: other.Path, way: other})
		}
	}
	if slices.Contains(can, p.forced.way) {
		return p.forced.way
	}
	return w
}
