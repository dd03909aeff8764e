package symmemtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// smallSwitch returns a low-latency configuration with rows by expert.
func smallSwitch(ranks int) symmem.TokenSwitchConfig {
	return symmem.TokenSwitchConfig{Mode: "low_latency", Layout: "expert_major", Experts: 2 * ranks, TopK: 2, MaxTokens: 5,
		Hidden: 8, DType: symmem.F32}
}

// tokenAgainCase uses one routing several times, with other tokens each time, without a barrier
// between the rounds, and with experts that work in place.
func tokenAgainCase(t *T) {
	for _, c := range tokenConfigs(t.size) {
		ts := symmem.NewTokenSwitch(c)
		m := randomRouting(ts.Config(), t.size, 2)
		topk, x, weights := t.inputs(m)
		r := ts.Routing(topk)
		times := symmem.Compile(`extern "C" __global__ void twice(symm::u8* x, int n, int size, int shift) {
				for (int i = threadIdx.x; i < n; i += blockDim.x) {
					if (size == 4) ((float*)x)[i] *= 2;
					else if (((unsigned short*)x)[i] & 0x7fff) ((unsigned short*)x)[i] += 1 << shift;
				}
			}`)
		shift := map[symmem.DType]int{symmem.F16: 10, symmem.BF16: 7}[c.DType]
		results := symmem.Local(c.DType, 4, max(x.Numel(), 1))
		for round := range 4 {
			if (round+t.rank)%t.size == 1 {
				time.Sleep(time.Millisecond)
			}
			d := ts.Dispatch(r, x, weights)
			for range round { // the rows are doubled
				times.Launch(symmem.Grid(1), symmem.Block(64), d.Tokens.As(symmem.U8), d.Tokens.Numel(), c.DType.Size(), shift)
			}
			y := ts.Combine(r, d.Tokens)
			if y.Numel() > 0 {
				results.Slice(round, round+1).View(y.Shape()...).CopyFrom(y)
			}
		}
		for round := range 4 {
			var want []int
			for _, sum := range m.plain(t.rank) {
				want = append(want, sum<<round)
			}
			t.equal(fmt.Sprint(m.kind(), ", round ", round), append([]int{}, results.Slice(round, round+1).Ints()[:len(want)]...),
				append([]int{}, want...))
		}
		ts.Free()
	}
}

// tokenGraphCase captures a routing, a dispatch and a combine, and replays them while a kernel
// changes the routing; and a dispatch and a combine of a routing that was made before.
func tokenGraphCase(t *T) {
	for _, c := range tokenConfigs(t.size) {
		ts := symmem.NewTokenSwitch(c)
		var models []*routed
		var flat []int
		for k := range 6 {
			m := randomRouting(ts.Config(), t.size, 2+3*k) // routing of all tokens
			models = append(models, m)
			flat = append(flat, slices.Concat(m.top[t.rank]...)...)
		}
		topk, x, weights := t.inputs(models[0])
		table := symmem.Local(symmem.I64, len(flat)).CopyFrom(flat)
		count := symmem.Local(symmem.I32, 1).Fill(-1)
		next := symmem.Compile(`extern "C" __global__ void pick(long long* top, const long long* table, int n, int* count) {
			int k = ++*count;
			for (int i = 0; i < n; i++) top[i] = table[k * n + i];
		}`)
		var d *symmem.Dispatched
		sums := symmem.Local(c.DType, c.MaxTokens, c.Hidden)
		step := func() {
			next.Launch(symmem.Grid(1), symmem.Block(1), topk, table, topk.Numel(), count)
			r := ts.Routing(topk)
			d = ts.Dispatch(r, x, weights)
			sums.CopyFrom(ts.Combine(r, d.Tokens))
		}
		g := symmem.Capture(step)
		for k := range models {
			if k == 3 { // several replays without a barrier
				continue
			}
			g.Replay()
			if k == 2 {
				g.Replay()
				k = 3
			}
			t.checkDispatched(fmt.Sprint(models[k].kind(), ", replay ", k), models[k], d)
			t.equal(fmt.Sprint(models[k].kind(), ", sums of replay ", k), sums.Ints(), models[k].plain(t.rank))
		}
		g.Free()

		m := models[1]
		topk.CopyFrom(slices.Concat(m.top[t.rank]...))
		r := ts.Routing(topk)
		g = symmem.Capture(func() {
			d = ts.DispatchSend(r, x, weights)
			ts.Complete(d)
			sums.CopyFrom(ts.Combine(r, d.Tokens))
		})
		for k := range 3 {
			if k == t.rank {
				time.Sleep(2 * time.Millisecond)
			}
			sums.Fill(-1)
			g.Replay()
		}
		t.checkDispatched(m.kind()+", replays of a dispatch", m, d)
		t.equal(m.kind()+", replays of a combine", sums.Ints(), m.plain(t.rank))
		g.Free()
		ts.Free()
	}
}

// plain returns the sums that rank q gets back if experts return their input.
func (m *routed) plain(q int) (sums []int) {
	for i, experts := range m.top[q] {
		for j := range m.Hidden {
			sum, ranks := 0, map[int]bool{}
			for k, e := range experts {
				switch {
				case e < 0:
				case m.kind() == "low_latency expert_major":
					sum += weight(q, i, k) * value(q, i, j)
				case m.Layout == "expert_major" || !ranks[e/m.locals()]:
					sum += value(q, i, j)
					ranks[e/m.locals()] = true
				}
			}
			sums = append(sums, sum)
		}
	}
	return sums
}

// tokenSendCase has dispatches of two switches under way at the same time, together with a kernel
// and other communication.
func tokenSendCase(t *T) {
	configs := tokenConfigs(t.size)
	for seed := range 3 {
		a, b := symmem.NewTokenSwitch(configs[seed]), symmem.NewTokenSwitch(configs[3])
		ma, mb := randomRouting(a.Config(), t.size, seed), randomRouting(b.Config(), t.size, seed+1)
		topa, xa, wa := t.inputs(ma)
		topb, xb, wb := t.inputs(mb)
		ra, rb := a.Routing(topa), b.Routing(topb)
		da := a.DispatchSend(ra, xa, wa)
		if t.rank == seed%t.size {
			time.Sleep(2 * time.Millisecond)
		}
		db := b.DispatchSend(rb, xb, wb)
		xa.Fill(50)
		xb.Fill(50)
		sum := symmem.Empty(symmem.I32, 10).Fill(t.rank)
		symmem.Rendezvous(sum)
		symmem.AllReduce(sum, "sum")
		t.refused(symmem.KindMisuse, func() { a.Combine(ra, symmem.Local(configs[seed].DType, da.Tokens.Shape()...)) },
			"token_combine", "call Complete")
		t.refused(symmem.KindMisuse, func() { a.Routing(topa) }, "token_routing", "call Complete")
		t.refused(symmem.KindMisuse, func() { a.Complete(db) }, "routing is of another switch")
		b.Complete(db)
		a.Complete(da)
		t.refused(symmem.KindMisuse, func() { a.Complete(da) }, "token_complete", "it is complete")
		outb, outa := t.checkDispatched(fmt.Sprint("b, seed ", seed), mb, db), t.checkDispatched(fmt.Sprint("a, seed ", seed), ma, da)
		ya, yb := a.Combine(ra, outa), b.Combine(rb, outb)
		t.equal(fmt.Sprint("a, seed ", seed, ": the sums"), append([]int{}, ya.Ints()...), append([]int{}, ma.sums(t.rank)...))
		t.equal(fmt.Sprint("b, seed ", seed, ": the sums"), append([]int{}, yb.Ints()...), append([]int{}, mb.sums(t.rank)...))
		t.equal("the sum beside", sum.Ints(), slices.Repeat([]int{t.size * (t.size - 1) / 2}, 10))
		sum.Free()
		a.Free()
		b.Free()
	}
}

// tokenQuantisedCase sends f8e4m3 with scales.
func tokenQuantisedCase(t *T) {
	for i, c := range tokenConfigs(t.size) {
		c.Payload, c.Hidden = symmem.F8E4M3, 128*(1+3*i)
		c.DType = []symmem.DType{symmem.BF16, symmem.F16, symmem.F32, symmem.BF16, symmem.F16}[i]
		ts := symmem.NewTokenSwitch(c)
		m := randomRouting(ts.Config(), t.size, 2+i)
		topk, x, weights := t.inputs(m)
		r := ts.Routing(topk)
		d := ts.Dispatch(r, x, weights)
		t.equal("the type", d.Tokens.DType(), symmem.F8E4M3)
		y := ts.Combine(r, t.checkDispatched(m.kind()+" of f8e4m3", m, d))
		t.equal(m.kind()+" of f8e4m3: the sums", append([]int{}, y.Ints()...), append([]int{}, m.sums(t.rank)...))
		ts.Free()
	}
	// Every value of the type, and values between them, with a scale of 1.
	c := smallSwitch(t.size)
	c.Payload, c.Hidden = symmem.F8E4M3, 256
	ts := symmem.NewTokenSwitch(c)
	all := symmem.Local(symmem.F8E4M3, 256)
	codes := make([]int, 256)
	for i := range codes {
		if codes[i] = i; i&0x7f == 0x7f {
			codes[i] = 0x7e // not a NaN
		}
	}
	all.As(symmem.U8).CopyFrom(codes)
	exact := all.Float64s()
	between := make([]float64, 256)
	for i := range between {
		if between[i] = exact[i]; i&0x7f < 0x7e {
			between[i] = (exact[i] + exact[i+1]) / 2
		}
	}
	x, weights := symmem.Local(symmem.F32, 2, 256).CopyFrom(slices.Concat(exact, between)), symmem.Local(symmem.F32, 2, 2)
	topk := symmem.Local(symmem.I64, 2, 2).CopyFrom([]int{t.rank * 2, -1, t.rank * 2, -1})
	d := ts.Dispatch(ts.Routing(topk), x, weights)
	got := d.Tokens.View(2*t.size*5, 256).Slice(0, 2).As(symmem.U8).Ints()
	want := slices.Clone(codes)
	t.equal("scales", d.Scales.View(2*t.size*5, 2).Slice(0, 2).Float64s(), []float64{1, 1, 1, 1})
	t.equal("every value", got[:256], want)
	for i := range between {
		if even := i + i&1; i&0x7f < 0x7e {
			want[i] = even
		}
	}
	t.equal("ties", got[256:], want)
	ts.Free()
}

// tokenIntoCase lets dispatches and combines deliver into the caller's tensors: repeatedly into the
// same one, and into a part of one.
func tokenIntoCase(t *T) {
	for _, c := range tokenConfigs(t.size) {
		ts := symmem.NewTokenSwitch(c)
		var rows, sums *symmem.Tensor
		for seed := range 4 {
			m := randomRouting(ts.Config(), t.size, 2+3*seed) // routing of all tokens
			topk, x, weights := t.inputs(m)
			r := ts.Routing(topk)
			if rows == nil {
				shape := ts.Dispatch(r, x, weights).Tokens.Shape()
				shape[0]++
				all := symmem.Empty(c.DType, shape...)
				symmem.Rendezvous(all)
				rows, sums = all.Slice(1, shape[0]), symmem.Empty(c.DType, c.MaxTokens, c.Hidden)
			}
			what := fmt.Sprint(m.kind(), ", seed ", seed, ", into")
			if (seed+t.rank)%t.size == 1 {
				time.Sleep(time.Millisecond)
			}
			var d *symmem.Dispatched
			if seed%2 == 0 {
				d = ts.Dispatch(r, x, weights, symmem.Into(rows))
			} else {
				d = ts.DispatchSend(r, x, weights, symmem.Into(rows))
				ts.Complete(d)
			}
			t.equal(what+": its tensor", d.Tokens == rows, true)
			rows.CopyFrom(t.checkDispatched(what, m, d))
			y := ts.Combine(r, rows, symmem.Into(sums))
			t.equal(what+": its sums", y == sums, true)
			t.equal(what+": the sums", sums.Ints(), m.sums(t.rank))
			t.refused(symmem.KindMisuse, func() { ts.Dispatch(r, x, weights, symmem.Into(topk)) }, "Into is ", ", expected ")
			t.refused(symmem.KindMisuse, func() { ts.Dispatch(r, x, weights, symmem.Into(symmem.Local(c.DType, rows.Shape()...))) },
				"is not symmetric")
			t.refused(symmem.KindMisuse, func() { ts.Combine(r, rows, symmem.Into(topk)) }, "Into is ", ", expected ")
			t.refused(symmem.KindMisuse, func() { ts.Routing(topk, symmem.Into(rows)) }, "Into is an option of TokenSwitch.Dispatch")
			t.refused(symmem.KindMisuse, func() {
				ts.Combine(r, rows,
					symmem.Into(rows.View(-1).Slice(0, sums.Numel()).View(sums.Shape()...)))
			}, "where out is")
		}
		symmem.Synchronize()
		ts.Free()
	}
}

// tokenGroupCase uses a switch of some ranks, whose group is an option.
func tokenGroupCase(t *T) {
	g := symmem.NewGroup(0, t.size-1)
	if t.rank != 0 && t.rank != t.size-1 {
		t.refused(symmem.KindMisuse, func() { symmem.NewTokenSwitch(smallSwitch(2), g) }, "NewTokenSwitch")
		t.meet()
		return
	}
	ts := symmem.NewTokenSwitch(smallSwitch(2), g)
	member := &T{rank: g.Rank(), size: 2}
	m := randomRouting(ts.Config(), 2, 5)
	topk, x, weights := member.inputs(m)
	r := ts.Routing(topk)
	y := ts.Combine(r, member.checkDispatched("in a group", m, ts.Dispatch(r, x, weights)))
	member.equal("the sums", append([]int{}, y.Ints()...), append([]int{}, m.sums(member.rank)...))
	if member.failed {
		t.Errorf("%s", member.log.String())
	}
	t.equal("its group", ts.Group(), g)
	ts.Free()
	t.meet()
}
