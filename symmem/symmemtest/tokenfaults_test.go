package symmemtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// tokenRefusedCase makes invalid routings. All ranks get an error, no row moves, and the switch
// stays usable.
func tokenRefusedCase(t *T) {
	last := t.size - 1
	for _, c := range tokenConfigs(t.size) {
		if c.MaxRecv > 0 {
			c.MaxRecv = 6
		}
		c.MaxTokens = 7
		ts := symmem.NewTokenSwitch(c)
		good := randomRouting(ts.Config(), t.size, 0)
		for q := range good.top {
			good.top[q] = good.top[q][:0]
		}
		one := slices.Repeat([]int{-1}, c.TopK)
		one[0] = t.size - 1
		good.top[last] = [][]int{one}
		with := func(k, e int) *routed {
			m := *good
			m.top = slices.Clone(good.top)
			bad := slices.Clone(one)
			bad[k] = e
			m.top[last] = [][]int{one, bad}
			return &m
		}
		tests := []struct {
			m     *routed
			words []string
		}{
			{with(c.TopK-1, c.Experts), []string{fmt.Sprintf("selection %d of token 1 of rank %d is %d: it must be in [0, %d), or -1, which masks it", c.TopK-1, last, c.Experts, c.Experts)}},
			{with(0, -2), []string{fmt.Sprintf("selection 0 of token 1 of rank %d is -2", last)}},
			{with(c.TopK-1, t.size-1), []string{fmt.Sprintf("token 1 of rank %d is sent to expert %d twice", last, t.size-1)}},
		}
		if c.MaxRecv > 0 {
			m := *good
			m.top = slices.Clone(good.top)
			m.top[last] = slices.Repeat([][]int{one}, 7)
			peer := one[0] / (c.Experts / t.size)
			tests = append(tests, struct {
				m     *routed
				words []string
			}{&m, []string{fmt.Sprintf("rank %d would receive %d rows, and the switch has room for 6, its MaxRecv", peer,
				m.need(peer)), "larger MaxRecv"}})
		}
		for _, test := range tests {
			topk, x, weights := t.inputs(test.m)
			r := ts.Routing(topk)
			d := ts.Dispatch(r, x, weights)
			y := ts.Combine(r, d.Tokens)
			t.refused(symmem.KindMisuse, symmem.Synchronize, append(test.words, "token_routing")...)
			t.equal("the counts", d.Counts.Ints(), make([]int, d.Counts.Numel()))
			t.equal("tokens", slices.Max(append(d.Tokens.Ints(), 0)), 0)
			_ = y.Ints() // undefined
		}
		topk, x, weights := t.inputs(good)
		r := ts.Routing(topk)
		y := ts.Combine(r, t.checkDispatched(good.kind()+" afterwards", good, ts.Dispatch(r, x, weights)))
		t.equal(good.kind()+", sums afterwards", append([]int{}, y.Ints()...), append([]int{}, good.sums(t.rank)...))
		ts.Free()
	}
}

// tokenMisuseCase makes calls that the host refuses.
func tokenMisuseCase(t *T) {
	config := func(change func(c *symmem.TokenSwitchConfig)) func() {
		c := smallSwitch(t.size)
		change(&c)
		return func() { symmem.NewTokenSwitch(c) }
	}
	zones := func(c *symmem.TokenSwitchConfig) { c.Mode, c.MaxRecv = "high_throughput", 10 }
	c := smallSwitch(t.size)
	ts, other := symmem.NewTokenSwitch(c), symmem.NewTokenSwitch(c)
	topk, x, weights := symmem.Local(symmem.I64, 3, 2).Fill(-1), symmem.Local(symmem.F32, 3, 8), symmem.Local(symmem.F32, 3, 2)
	out := symmem.Local(symmem.F32, 2, 5*t.size, 8)
	r := ts.Routing(topk)
	for _, test := range []struct {
		f     func()
		words []string
	}{
		{config(func(c *symmem.TokenSwitchConfig) { c.Mode = "fast" }),
			[]string{`no mode "fast" with layout "expert_major"`, `"low_latency" has`}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Layout = "flat" }), []string{`no mode "low_latency" with layout "flat"`}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Experts = 0 }), []string{"Experts must be in [1, "}},
		{config(func(c *symmem.TokenSwitchConfig) { c.TopK = c.Experts + 1 }),
			[]string{fmt.Sprintf("TopK is %d, and there are %d experts", 2*t.size+1, 2*t.size)}},
		{config(func(c *symmem.TokenSwitchConfig) { c.MaxTokens = -1 }), []string{"MaxTokens must be in [1, ", "not -1"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.MaxTokens = 1 << 24; c.Hidden = 1 << 20 }), []string{"would take"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Hidden = 6 }), []string{"24 bytes", "multiple of 16"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.DType = symmem.I32 }), []string{"bf16, f16 or f32, not i32"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Payload = symmem.F16 }), []string{"a dispatch sends f32 or f8e4m3, not f16"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Payload = symmem.F8E4M3 }), []string{"multiple of 128, not 8"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.MaxRecv = 3 }), []string{"room for all tokens", "leave it out"}},
		{config(func(c *symmem.TokenSwitchConfig) { c.Align = 2 }), []string{"Align is of"}},
		{config(func(c *symmem.TokenSwitchConfig) { zones(c); c.Align = 3 }), []string{"power of two"}},
		{config(func(c *symmem.TokenSwitchConfig) { zones(c); c.MaxRecv = 0 }),
			[]string{"MaxRecv must be in [1, ", "rows are the most that can arrive"}},
		{func() { ts.Routing(symmem.Local(symmem.I32, 3, 2)) }, []string{"topk must be i64[tokens, 2]", "i32[3, 2]"}},
		{func() { ts.Routing(symmem.Local(symmem.I64, 3, 3)) }, []string{"topk must be i64[tokens, 2]"}},
		{func() { ts.Routing(symmem.Local(symmem.I64, 6, 2)) },
			[]string{"topk has 6 tokens", "room for 5 of a rank, its MaxTokens", "larger MaxTokens"}},
		{func() { ts.Combine(r, out) }, []string{"nothing was dispatched", "call Dispatch first"}},
		{func() { ts.Dispatch(r, x.Slice(0, 2), weights) }, []string{"x is f32[2, 8], expected f32[3, 8]"}},
		{func() { ts.Dispatch(r, x, weights.View(2, 3)) }, []string{"weights must be f32[3, 2], not f32[2, 3]"}},
		{func() { ts.Dispatch(r, symmem.Local(symmem.F32, 25).Slice(1, 25).View(3, 8), weights) },
			[]string{"x begins at an address", "multiple of 16"}},
		{func() { ts.Dispatch(other.Routing(topk), x, weights) }, []string{"of another switch"}},
		{func() { ts.Dispatch(r, x, weights, symmem.MajorAlign(2)) }, []string{"option of AllToAllVDev2D"}},
	} {
		t.refused(symmem.KindMisuse, test.f, test.words...)
	}
	d := ts.Dispatch(r, x, weights)
	t.refused(symmem.KindMisuse, func() { ts.Combine(r, x) }, "out is f32[3, 8], expected f32[2, ")
	t.refused(symmem.KindMisuse, func() { ts.Complete(d) }, "was not sent by DispatchSend")
	t.refused(symmem.KindMisuse, d.Tokens.Free, "view of memory")
	ts.Routing(topk)
	ts.Combine(r, out)
	ts.Routing(topk)
	t.refused(symmem.KindMisuse, func() { ts.Combine(r, out) }, "2 routings were made since")
	if t.size > 1 {
		c.MaxTokens += t.rank
		t.refused(symmem.KindMismatch, func() { symmem.NewTokenSwitch(c) }, "NewTokenSwitch", "tokens of f32[8] a rank")
	}
	t.equal("its name", ts.String(), fmt.Sprintf("token switch of world, low_latency expert_major: 2 of %d experts, 5 tokens of f32[8] a rank", 2*t.size))
	ts.Free()
	other.Free()
	t.refused(symmem.KindMisuse, func() { ts.Routing(topk) }, "was freed")
}

// tokenTimeoutCase lets ranks wait for others in vain, in each kernel of a switch; after a Recover
// they are usable.
func tokenTimeoutCase(t *T) {
	ts := symmem.NewTokenSwitch(smallSwitch(t.size))
	m := randomRouting(ts.Config(), t.size, 2)
	topk, x, weights := t.inputs(m)
	limit := symmem.Timeout(50 * time.Millisecond)
	for _, step := range []string{"token_routing", "token_dispatch", "token_complete", "token_combine"} {
		var r *symmem.TokenRouting
		var d *symmem.Dispatched
		if step != "token_routing" {
			r = ts.Routing(topk)
		}
		if step == "token_combine" {
			d = ts.Dispatch(r, x, weights)
		}
		symmem.Synchronize()
		t.meet()
		if t.rank == 0 {
			switch step {
			case "token_routing":
				r = ts.Routing(topk, limit)
			case "token_dispatch":
				ts.Dispatch(r, x, weights, limit)
			case "token_complete":
				ts.Complete(ts.DispatchSend(r, x, weights), limit)
			case "token_combine":
				ts.Combine(r, d.Tokens, limit)
			}
			e := t.refused(symmem.KindTimeout, symmem.Synchronize, step, "must make the same call")
			if e.Peer < 1 {
				t.Errorf("the peer is %d", e.Peer)
			}
		}
		symmem.Recover()
		if r != nil {
			t.refused(symmem.KindMisuse, func() { ts.Dispatch(r, x, weights) }, "before a Recover", "call Routing again")
		}
		r = ts.Routing(topk)
		y := ts.Combine(r, t.checkDispatched("after "+step, m, ts.Dispatch(r, x, weights)))
		t.equal("sums after "+step, y.Ints(), m.sums(t.rank))
	}
	ts.Free()
}

// tokenExplainCase checks Explain's description of a switch.
func tokenExplainCase(t *T) {
	ts := symmem.NewTokenSwitch(smallSwitch(t.size))
	topk, x, weights := symmem.Local(symmem.I64, 3, 2).Fill(-1), symmem.Local(symmem.F32, 3, 8), symmem.Local(symmem.F32, 3, 2)
	got := symmem.Explain(func() {
		r := ts.Routing(topk)
		ts.Dispatch(r, x, weights)
		ts.Combine(r, ts.Dispatch(r, x, weights).Tokens)
	})
	head := fmt.Sprintf("token_dispatch f32[8] low_latency expert_major%%s on world (%d ranks, 96 bytes): ", t.size)
	want := fmt.Sprintf(head, "") + "stores into places, then a barrier, because the counts of the routing told that the region is free everywhere\n" +
		fmt.Sprintf(head, " again") + "stores into places between barriers, because the routing's region was in use before"
	if caps := symmem.Caps(); len(caps.Hosts) > 1 {
		over := "direct: puts over " + caps.Between + " between hosts, stores within, because low latency: nobody in between"
		other := strings.NewReplacer("dispatch", "routing", "96", "48").Replace(fmt.Sprintf(head, ""))
		want = other + over + "\n" + fmt.Sprintf(head, "") + over + "\n" + fmt.Sprintf(head, " again") + over + "\n" +
			strings.Replace(fmt.Sprintf(head, ""), "dispatch", "combine", 1) + over
	}
	t.equal("Explain", got, want)
	ts.Free()
}
