package symmemtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// routed is the input of all ranks to a switch, which determines the output of each rank.
type routed struct {
	symmem.TokenSwitchConfig
	ranks int
	top   [][][]int // by rank and token: experts, -1 for none
}

// value returns element j of a token; weight returns the weight of a selection; expert returns an
// expert's result for a value. All sums of these values are exact in any type.
func value(rank, token, j int) int  { return (5*rank + 3*token + j) % 13 }
func weight(rank, token, k int) int { return 1 + (rank+token+k)%2 }
func expert(e, x int) int           { return x + e%4 }

// randomRouting returns random tokens of every rank: some ranks have none, and some selections are
// masked.
func randomRouting(c symmem.TokenSwitchConfig, ranks, seed int) *routed {
	m := &routed{TokenSwitchConfig: c, ranks: ranks}
	for q := range ranks {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(q)))
		n := r.IntN(c.MaxTokens + 1)
		if seed%3 == 1 && q == seed%ranks {
			n = 0
		}
		if seed%3 == 2 {
			n = c.MaxTokens
		}
		tokens := make([][]int, n)
		for t := range tokens {
			tokens[t] = r.Perm(c.Experts)[:c.TopK]
			if seed%5 == 4 { // all tokens go to the same experts
				tokens[t] = []int{seed % c.Experts}
				for e := range c.TopK - 1 {
					tokens[t] = append(tokens[t], (seed+e+1)%c.Experts)
				}
			}
			for k := range tokens[t] {
				if r.IntN(8) == 0 {
					tokens[t][k] = -1
				}
			}
		}
		m.top = append(m.top, tokens)
	}
	return m
}

// locals returns the number of experts of a rank.
func (m *routed) locals() int { return m.Experts / m.ranks }

// kind returns the mode and the layout.
func (m *routed) kind() string { return m.Mode + " " + m.Layout }

// arrived is one row that a rank must get: token t of rank q, for its selection k, or for all of
// its selections here if k is -1.
type arrived struct{ at, q, t, k int }

// rows returns the rows that rank d must get, and their counts and offsets.
func (m *routed) rows(d int) (rows []arrived, counts, offsets []int) {
	next := 0
	if m.Layout == "expert_major" {
		for local := range m.locals() {
			n := 0
			if m.Mode == "low_latency" {
				next = local * m.ranks * m.MaxTokens
			}
			offsets = append(offsets, next)
			for q, tokens := range m.top {
				for t, experts := range tokens {
					if k := slices.Index(experts, d*m.locals()+local); k >= 0 {
						rows = append(rows, arrived{next + n, q, t, k})
						n++
					}
				}
			}
			counts = append(counts, n)
			next += (n + m.Align - 1) / m.Align * m.Align
		}
		return rows, counts, append(offsets, next)
	}
	for q, tokens := range m.top {
		n := 0
		if m.Layout == "rank_major" {
			next = q * m.MaxTokens
		}
		for t, experts := range tokens {
			if slices.ContainsFunc(experts, func(e int) bool { return m.here(d, e) }) {
				rows = append(rows, arrived{next, q, t, -1})
				next++
				n++
			}
		}
		counts = append(counts, n)
	}
	return rows, counts, nil
}

// here reports whether an expert belongs to rank d.
func (m *routed) here(d, e int) bool { return e >= 0 && e/m.locals() == d }

// need returns the number of rows that rank d needs.
func (m *routed) need(d int) int {
	rows, _, offsets := m.rows(d)
	if offsets != nil {
		return offsets[len(offsets)-1]
	}
	return len(rows)
}

// made returns the result of rank d's experts for a row, in the form that a combine expects.
func (m *routed) made(d int, r arrived) []int {
	out := make([]int, m.Hidden)
	for k, e := range m.top[r.q][r.t] {
		if r.k >= 0 && k != r.k || !m.here(d, e) {
			continue
		}
		w := weight(r.q, r.t, k)
		if m.kind() == "low_latency expert_major" {
			w = 1 // the combine weights
		}
		for j := range out {
			out[j] += w * expert(e, value(r.q, r.t, j))
		}
	}
	return out
}

// sums returns the sums that rank q must get back.
func (m *routed) sums(q int) (sums []int) {
	for t, experts := range m.top[q] {
		for j := range m.Hidden {
			sum := 0
			for k, e := range experts {
				if e >= 0 {
					sum += weight(q, t, k) * expert(e, value(q, t, j))
				}
			}
			sums = append(sums, sum)
		}
	}
	return sums
}

// inputs returns this rank's tensors: the experts, the tokens and the weights.
func (t *T) inputs(m *routed) (topk, x, weights *symmem.Tensor) {
	mine := m.top[t.rank]
	n := len(mine)
	topk, x, weights = symmem.Local(symmem.I64, n, m.TopK), symmem.Local(m.DType, n, m.Hidden), symmem.Local(symmem.F32, n, m.TopK)
	if n == 0 {
		return topk, x, weights
	}
	var xs, ws []int
	for i := range mine {
		for j := range m.Hidden {
			xs = append(xs, value(t.rank, i, j))
		}
		for k := range m.TopK {
			ws = append(ws, weight(t.rank, i, k))
		}
	}
	topk.CopyFrom(slices.Concat(mine...))
	x.CopyFrom(xs)
	weights.CopyFrom(ws)
	return topk, x, weights
}

// checkDispatched compares the rows that arrived here with the model, and returns the experts'
// results for them, with other values in unused places.
func (t *T) checkDispatched(what string, m *routed, d *symmem.Dispatched) *symmem.Tensor {
	rows, counts, offsets := m.rows(t.rank)
	t.equal(what+": the counts", d.Counts.Ints(), counts)
	if d.Offsets != nil {
		t.equal(what+": the offsets", d.Offsets.Ints(), offsets)
	}
	shape := d.Tokens.Shape()
	h, k := m.Hidden, m.TopK
	got := d.Tokens.Float64s()
	var scales, weights []float64
	var index []int
	if d.Scales != nil {
		scales = d.Scales.Float64s()
	}
	if d.Weights != nil {
		weights = d.Weights.Float64s()
	}
	if d.Index != nil {
		index = d.Index.Ints()
	}
	out := slices.Repeat([]int{77}, len(got))
	for _, r := range rows {
		name := fmt.Sprintf("%s: row %d, token %d of rank %d", what, r.at, r.t, r.q)
		want := make([]float64, h)
		for j := range want {
			want[j] = float64(value(r.q, r.t, j))
		}
		row := slices.Clone(got[r.at*h : (r.at+1)*h])
		if scales != nil {
			t.checkScaled(name, row, want, scales[r.at*h/128:(r.at+1)*h/128])
		} else {
			t.equal(name, row, want)
		}
		if r.k < 0 {
			for i, e := range m.top[r.q][r.t] {
				w, x := 0, -1
				if m.here(t.rank, e) {
					w, x = weight(r.q, r.t, i), e-t.rank*m.locals()
				}
				t.equal(fmt.Sprint(name, ", weight ", i), weights[r.at*k+i], float64(w))
				t.equal(fmt.Sprint(name, ", index ", i), index[r.at*k+i], x)
			}
		} else if weights != nil {
			t.equal(name+", weight", weights[r.at], float64(weight(r.q, r.t, r.k)))
		}
		copy(out[r.at*h:], m.made(t.rank, r))
	}
	return symmem.Local(m.DType, shape...).CopyFrom(out)
}

// checkScaled checks that scaled values have the precision of three bits of mantissa: within a
// sixteenth.
func (t *T) checkScaled(name string, got, want, scales []float64) {
	for g := range scales {
		most := slices.Max(want[g*128 : (g+1)*128])
		if scale := float64(float32(most) / 448); most > 0 && scales[g] != scale {
			t.Errorf("%s: scale %d is %v, want %v", name, g, scales[g], scale)
		}
		for j := g * 128; j < (g+1)*128; j++ {
			if x := got[j] * scales[g]; x < want[j]*15/16 || x > want[j]*17/16 {
				t.Errorf("%s: element %d is %v, want about %v", name, j, x, want[j])
				return
			}
		}
	}
}

// tokenConfigs returns configurations of switches with every layout for the given number of ranks.
func tokenConfigs(ranks int) []symmem.TokenSwitchConfig {
	return []symmem.TokenSwitchConfig{
		{Mode: "low_latency", Layout: "expert_major", Experts: 3 * ranks, TopK: 3, MaxTokens: 9, Hidden: 16, DType: symmem.BF16},
		{Mode: "low_latency", Layout: "rank_major", Experts: 4 * ranks, TopK: 4, MaxTokens: 7, Hidden: 24, DType: symmem.F16},
		{Mode: "high_throughput", Layout: "flat", Experts: 2 * ranks, TopK: 2, MaxTokens: 40, MaxRecv: 40 * ranks, Hidden: 12,
			DType: symmem.F32},
		{Mode: "high_throughput", Layout: "expert_major", Experts: 3 * ranks, TopK: 3, MaxTokens: 40, MaxRecv: 40*3*ranks + 12,
			Hidden: 264, DType: symmem.BF16, Align: 4},
		// Tokens that several blocks share, if there are several blocks.
		{Mode: "low_latency", Layout: "expert_major", Experts: 2 * ranks, TopK: 2, MaxTokens: 3, Hidden: 1032, DType: symmem.BF16},
	}
}

// tokenRandomCase compares random routings with the model. Ranks are sometimes late.
func tokenRandomCase(t *T) {
	seeds := 8
	if t.size > 4 {
		seeds = 5
	}
	t.randomRoutings(0, seeds)
}

// randomRoutings runs the routings of a range of seeds, with every layout.
func (t *T) randomRoutings(first, last int) {
	for _, c := range tokenConfigs(t.size) {
		ts := symmem.NewTokenSwitch(c)
		for seed := first; seed < last; seed++ {
			m := randomRouting(ts.Config(), t.size, seed)
			what := fmt.Sprint(m.kind(), ", seed ", seed)
			topk, x, weights := t.inputs(m)
			late := func(k int) {
				if (seed+k)%t.size == t.rank && seed%4 == 0 {
					time.Sleep(2 * time.Millisecond)
				}
			}
			late(0)
			r := ts.Routing(topk)
			topk.Fill(-7)
			late(1)
			d := ts.Dispatch(r, x, weights)
			x.Fill(50)
			weights.Fill(50)
			out := t.checkDispatched(what, m, d)
			late(2)
			y := ts.Combine(r, out)
			out.Fill(50)
			got := y.Ints()
			t.equal(what+": the sums", append([]int{}, got...), append([]int{}, m.sums(t.rank)...))
		}
		ts.Free()
	}
}

var routings = flag.Int("routings", 0, "compare so many random routings of each layout with the model")

// routingsVariable passes a child the number of routings for tokenSeedsCase.
const routingsVariable = "SYMMTEST_CHILD_ROUTINGS"

// TestTokenSeeds compares many random routings with the model, on one host and on several.
// TestSuite and TestOverHosts run the first few.
func TestTokenSeeds(t *testing.T) {
	if *routings == 0 {
		t.Skip("-routings is not given: it takes minutes")
	}
	for _, device := range devices(t) {
		for _, n := range rankCounts(t, device) {
			for _, hosts := range []int{1, 2, 4} {
				if n%hosts != 0 || hosts > 1 && device != "cpu" && !shared() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%dranks/%dhosts", device, n, hosts), func(t *testing.T) {
					t.Setenv(routingsVariable, strconv.Itoa(*routings))
					on, network := "", "none"
					if hosts > 1 {
						on, network = strconv.Itoa(hosts), fmt.Sprintf("null reorder=on seed=%d", 10*n+hosts)
					}
					w := startOn(t, device, n, on, network)
					for first := 0; first < *routings; first += routingsAtOnce {
						w.run(t, "TokenSeeds"+strconv.Itoa(first))
					}
				})
			}
		}
	}
}

// routingsAtOnce is the number of routings in one case, because each case has a time limit.
const routingsAtOnce = 25

// tokenSeedCases are the cases of TestTokenSeeds.
func tokenSeedCases() (list []testCase) {
	all, _ := strconv.Atoi(os.Getenv(routingsVariable))
	for first := 0; first < all; first += routingsAtOnce {
		list = append(list, testCase{name: "TokenSeeds" + strconv.Itoa(first),
			run: func(t *T) { t.randomRoutings(first, min(first+routingsAtOnce, all)) }})
	}
	return list
}
