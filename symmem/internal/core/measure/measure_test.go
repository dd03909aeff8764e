package measure

import (
	"math"
	"strings"
	"testing"
	"time"
)

const us = time.Microsecond

func TestRuns(t *testing.T) {
	r := Runs{
		Took:   [][]time.Duration{{30 * us, 10 * us, 20 * us}, {90 * us, 25 * us, 24 * us}},
		Device: [][]time.Duration{{9 * us, 9 * us, 9 * us}, {20 * us, 10 * us, 30 * us}},
		Host:   [][]time.Duration{{us, us, us}, {2 * us, 2 * us, 2 * us}},
		Sent:   1000000, Link: 100,
	}
	want := `25µs: median of 3 runs on rank 1, the slowest (24µs to 90µs); device 20µs, host 2µs
1000000 bytes leave each rank: 50 % of the link's 100 GB/s
rank      median       least        most      device        host
   0        20µs        10µs        30µs         9µs         1µs
   1        25µs        24µs        90µs        20µs         2µs`
	if got := r.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	r.Host, r.Calls, r.Link = nil, 10, 0
	if got, want := r.String(), "25µs: median of 3 runs of a graph of 10 calls on rank 1, the slowest (24µs to 90µs)"; got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if got := (Runs{}).String() + ", " + (Turns{}).String(); got != "no runs, no runs" {
		t.Errorf("nothing prints as %q", got)
	}
}

// Chance agrees with sums of binomial coefficients.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		first, second int
		want          float64
	}{{0, 0, 1}, {1, 0, 1}, {5, 5, 1}, {8, 0, 2.0 / 256}, {0, 8, 2.0 / 256}, {9, 1, 22.0 / 1024}, {2, 1, 1}, {15, 5, 2 * 21700.0 / (1 << 20)}} {
		if got := Chance(c.first, c.second); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d and %d pairs: %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

func TestTurns(t *testing.T) {
	runs := func(ranks ...[]time.Duration) Runs { return Runs{Took: ranks, Device: ranks, Host: ranks} }
	var fast, slow, same []time.Duration
	for i := range 10 {
		fast = append(fast, time.Duration(100+i)*us)
		slow = append(slow, time.Duration(200+2*i)*us)
		same = append(same, time.Duration(100+i+2*(i%2)-1)*us)
	}
	for _, c := range []struct {
		first, second Runs
		real          bool
		says          string
	}{
		{runs(fast), runs(slow), true, "the second takes 2.00 times as long: a real difference, in 10 of 10 pairs (sign test, p = 0.002)"},
		{runs(slow), runs(fast), true, "the first takes 2.00 times as long"},
		{runs(fast), runs(same), false, "no difference is shown: the first is faster in 5 of 10 pairs, which chance does with probability 1"},
		{runs(fast, fast), runs(fast, slow), true, "the second takes 2.00 times"}, // one rank is enough
		{runs(fast[:6]), runs(slow[:6]), false, "the first is faster in 6 of 6 pairs, which chance does with probability 0.031"},
	} {
		turns := Turns{c.first, c.second}
		if got := turns.String(); turns.Real() != c.real || !strings.Contains(got, c.says) {
			t.Errorf("real: %v, printed\n%s\nwant %v and %q", turns.Real(), got, c.real, c.says)
		}
	}
}
