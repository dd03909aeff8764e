package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// mostTicks is the maximum number of labels of an axis.
const mostTicks = 8

// ticks marks an axis at multiples of 1, 2 or 5 times a power of ten; with whole, at whole numbers
// only. label, unless nil, returns the label of a mark.
type ticks struct {
	whole bool
	label func(v float64) string
}

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	step := niceStep((hi - lo) / (mostTicks - 1))
	if t.whole {
		step = max(step, 1)
	}
	label := t.label
	if label == nil {
		label = func(v float64) string { return number(v, step, math.Max(math.Abs(lo), math.Abs(hi))) }
	}
	var marks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return marks
}

// niceStep returns the least step of 1, 2 or 5 times a power of ten that is not below one.
func niceStep(least float64) float64 {
	if !(least > 0) || math.IsInf(least, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// number formats a number for an axis whose marks are a step apart and go up to most, with enough
// digits to distinguish the marks.
func number(v, step, most float64) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	if most >= 1e6 || step < 1e-4 {
		digits := max(0, int(math.Floor(math.Log10(math.Abs(v))))-int(math.Floor(math.Log10(step)+1e-9)))
		return strconv.FormatFloat(v, 'e', digits, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)
}
