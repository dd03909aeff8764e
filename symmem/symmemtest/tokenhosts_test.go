package symmemtest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// overHostsTokensCase tests the differences of a switch between hosts: the way, the order of sums,
// which is the same on every run, many tokens, and groups with different numbers of ranks on the
// hosts.
func overHostsTokensCase(t *T) {
	hosts := len(symmem.Caps().Hosts)
	c := tokenConfigs(t.size)[3]
	c.MaxTokens, c.MaxRecv = 150, 150*c.TopK*t.size+12
	ts := symmem.NewTokenSwitch(c)
	m := randomRouting(ts.Config(), t.size, 2)
	topk, x, weights := t.inputs(m)
	r := ts.Routing(topk)
	var d *symmem.Dispatched
	said := symmem.Explain(func() { d = ts.Dispatch(r, x, weights) })
	if want := ": rails: puts to counterparts, which pass on, over " + symmem.Caps().Between +
		" between hosts, stores within, because high throughput: a token crosses to a host once"; !strings.HasSuffix(said, want) {
		t.Errorf("Explain says %q, want %q", said, want)
	}
	t.equal("sums of many tokens", ts.Combine(r, t.checkDispatched("many tokens", m, d)).Ints(), m.sums(t.rank))

	// Sums of the experts' results are not exact: the expected order is first the sums of each
	// host, then the sum over the hosts.
	made := func(q, tok, k int) float32 { return 1 / float32(3+q+7*tok+11*k) }
	out := slices.Repeat([]float64{0}, d.Tokens.Numel())
	rows, _, _ := m.rows(t.rank)
	for _, row := range rows {
		for j := range m.Hidden {
			out[row.at*m.Hidden+j] = rounded(m.DType, float64(made(row.q, row.t, row.k)))
		}
	}
	given := symmem.Local(m.DType, d.Tokens.Shape()...).CopyFrom(out)
	var want []float64
	for tok, experts := range m.top[t.rank] {
		var sum float32
		for h := range hosts {
			var part float32
			for k, e := range experts {
				if e >= 0 && e/m.locals()/(t.size/hosts) == h {
					part += float32(rounded(m.DType, float64(made(t.rank, tok, k))))
				}
			}
			sum += part
		}
		want = append(want, slices.Repeat([]float64{rounded(m.DType, float64(sum))}, m.Hidden)...)
	}
	for range 5 {
		if got := ts.Combine(r, given).Float64s(); !slices.EqualFunc(got, want,
			func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("sums that are not exact differ from those in the order of the hosts")
		}
	}
	ts.Free()

	// One host has more ranks than another.
	if t.size/hosts == 1 {
		return
	}
	g := symmem.NewGroup(symmem.World().Ranks()[1:]...)
	if g.Rank() >= 0 {
		member := &T{rank: g.Rank(), size: t.size - 1}
		for _, c := range tokenConfigs(member.size) {
			ts := symmem.NewTokenSwitch(c, g)
			for seed := range 3 {
				m := randomRouting(ts.Config(), member.size, seed)
				topk, x, weights := member.inputs(m)
				r := ts.Routing(topk)
				y := ts.Combine(r, member.checkDispatched(fmt.Sprint("in an uneven group, ", m.kind()), m, ts.Dispatch(r, x, weights)))
				member.equal("its sums", append([]int{}, y.Ints()...), append([]int{}, m.sums(member.rank)...))
			}
			ts.Free()
		}
		if member.failed {
			t.Errorf("%s", member.log.String())
		}
	}
	t.meet()
}

// lossInTokensCase: all ranks dispatch and combine when the last one is killed, and the live ranks
// end, also the one on its host.
func lossInTokensCase(t *T)        { t.lossInTokens(0) }
func lossInTokensByRailsCase(t *T) { t.lossInTokens(3) }

func (t *T) lossInTokens(config int) {
	ts := symmem.NewTokenSwitch(tokenConfigs(t.size)[config])
	m := randomRouting(ts.Config(), t.size, 2)
	topk, x, weights := t.inputs(m)
	symmem.Synchronize()
	t.bereft = true
	if t.rank == t.size-1 {
		t.ready()
	}
	e := t.refused(symmem.KindPeer, func() {
		for {
			r := ts.Routing(topk)
			ts.Combine(r, ts.Dispatch(r, x, weights).Tokens)
			symmem.Synchronize()
		}
	}, fmt.Sprintf("rank %d on host 1 is gone: ", t.size-1), "Recover")
	t.equal("the peer", e.Peer, t.size-1)
	t.refused(symmem.KindPeer, func() { ts.Routing(topk) }, "out of step", "Recover")
}
