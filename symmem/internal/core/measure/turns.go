package measure

import (
	"fmt"
	"math"
	"time"
)

// Turns are the times of two pieces of code that ran in turns.
type Turns struct {
	First, Second Runs
}

// Certain is the largest probability of chance with which a difference counts as real.
const Certain = 0.01

// Pairs compares each run of the first code with the run of the second beside it, by the time until
// the last rank was done. Equal times count for neither.
func (t Turns) Pairs() (firstFaster, secondFaster int) {
	a, b := t.First.whole(), t.Second.whole()
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] < b[i]:
			firstFaster++
		case b[i] < a[i]:
			secondFaster++
		}
	}
	return firstFaster, secondFaster
}

// Chance is the probability that as many of the pairs or more agree on the faster code if neither is
// faster: the two-sided sign test (W. J. Conover, Practical Nonparametric Statistics, section 3.4).
// It asks nothing of the distribution of times, and a drift over the runs meets both codes alike.
func Chance(firstFaster, secondFaster int) float64 {
	n, k := firstFaster+secondFaster, max(firstFaster, secondFaster)
	if n == 0 {
		return 1
	}
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(choose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, 2*sum)
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	chosen, _ := math.Lgamma(float64(k + 1))
	rest, _ := math.Lgamma(float64(n - k + 1))
	return all - chosen - rest
}

// Ratio is the median over pairs of the second's time divided by the first's.
func (t Turns) Ratio() float64 {
	a, b := t.First.whole(), t.Second.whole()
	var ratios []time.Duration // in billionths
	for i := range min(len(a), len(b)) {
		if a[i] > 0 {
			ratios = append(ratios, time.Duration(1e9*float64(b[i])/float64(a[i])))
		}
	}
	return float64(Median(ratios)) / 1e9
}

// Real reports whether the difference is one, rather than chance.
func (t Turns) Real() bool { return Chance(t.Pairs()) < Certain }

// String describes both codes and their difference.
func (t Turns) String() string {
	if len(t.First.Took) == 0 || len(t.Second.Took) == 0 {
		return "no runs"
	}
	text := "first:  " + t.First.String() + "\nsecond: " + t.Second.String() + "\n"
	first, second := t.Pairs()
	n, faster, k := len(t.First.Took[0]), "first", first
	if second > first {
		faster, k = "second", second
	}
	p := Chance(first, second)
	if p >= Certain {
		return text + fmt.Sprintf("no difference is shown: the %s is faster in %d of %d pairs, which chance does with probability %.2g", faster, k, n, p)
	}
	ratio := t.Ratio()
	if faster == "first" {
		return text + fmt.Sprintf("the second takes %.2f times as long: a real difference, in %d of %d pairs (sign test, p = %.2g)", ratio, k, n, p)
	}
	return text + fmt.Sprintf("the first takes %.2f times as long: a real difference, in %d of %d pairs (sign test, p = %.2g)",
		1/ratio, k, n, p)
}
