package measure

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Comparison are the ways in which code ran, each from the same inputs. The first is the code as it
// is, with whose results those of the others are compared.
type Comparison struct{ Ways []Way }

// Way is one of them.
type Way struct {
	Name    string
	Refused string        // why it cannot run; "" if it ran
	Took    time.Duration // the median of the slowest rank's device times
	Differs *Difference   // nil if all results are the same bits
}

// Difference describes how results differ from those of the first way.
type Difference struct {
	Rank    int
	Result  string // "f32[8], tensor 2 of the calls"
	Element int    // the first that differs
	Got     string
	Want    string // of the first way
	ULPs    uint64 // between the two, of a type of floats; 0 for integers
	Most    uint64 // the most between any two elements of all ranks
	Count   int    // elements that differ, on all ranks
}

// String is "element 3 of f32[8], tensor 2 of the calls, on rank 1: 1.5, not 1.25, 3 ulps apart; 4
// elements differ, 7 ulps at most".
func (d *Difference) String() string {
	text := fmt.Sprintf("element %d of %s, on rank %d: %s, not %s", d.Element, d.Result, d.Rank, d.Got, d.Want)
	if d.ULPs > 0 {
		text += ", " + count.Of(d.ULPs, "ulp") + " apart"
	}
	if d.Count > 1 {
		text += fmt.Sprintf("; %d elements differ", d.Count)
		if d.Most > 0 {
			text += ", " + count.Of(d.Most, "ulp") + " at most"
		}
	}
	return text
}

// Same reports whether all ways that ran have the same results, bit by bit.
func (c Comparison) Same() bool {
	for _, w := range c.Ways {
		if w.Differs != nil {
			return false
		}
	}
	return true
}

// String is a table of the ways.
func (c Comparison) String() string {
	if len(c.Ways) == 0 {
		return "nothing was compared"
	}
	width := 0
	for _, w := range c.Ways {
		width = max(width, len([]rune(w.Name)))
	}
	var lines []string
	for i, w := range c.Ways {
		took, result := Short(w.Took), "equal"
		switch {
		case w.Refused != "":
			took, result = "-", "cannot: "+w.Refused
		case i == 0:
			result = "the others are compared with it"
		case w.Differs != nil:
			result = "differs: " + w.Differs.String()
		}
		lines = append(lines, fmt.Sprintf("%-*s  %10s  %s", width, w.Name, took, result))
	}
	return strings.Join(lines, "\n")
}

// Compare compares two results of one shape, as bytes of elements. It returns nil if they are the
// same; the caller sets Rank and Result.
//
// Complex elements differ in a part, and the difference shows that part alone.
func Compare(d element.Type, got, want []byte) (diff *Difference) {
	parts := d.Size() / d.Part().Size()
	d = d.Part()
	for i := range min(len(got), len(want)) / d.Size() {
		a, b := d.BitsAt(got, i), d.BitsAt(want, i)
		if a == b {
			continue
		}
		apart := uint64(0)
		if d.IsFloat() {
			apart = ulps(d, a, b)
		}
		if diff == nil {
			diff = &Difference{Element: i / parts, Got: text(d, a), Want: text(d, b), ULPs: apart}
		}
		diff.Most = max(diff.Most, apart)
		diff.Count++
	}
	return diff
}

// Merge combines the differences of ranks: the first stands for all.
func Merge(list []*Difference) (all *Difference) {
	for _, d := range list {
		switch {
		case d == nil:
		case all == nil:
			all = d
		default:
			all.Most, all.Count = max(all.Most, d.Most), all.Count+d.Count
		}
	}
	return all
}

// ulps returns the distance between two numbers, counted in representable numbers of the type. Its
// result for NaNs means nothing.
func ulps(d element.Type, a, b uint64) uint64 {
	bits := 8 * d.Size()
	place := func(x uint64) int64 { // in the order of the numbers
		magnitude := int64(x &^ (1 << (bits - 1)))
		if x>>(bits-1) != 0 {
			return -magnitude
		}
		return magnitude
	}
	x, y := place(a), place(b)
	if cmp.Less(x, y) {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

func text(d element.Type, bits uint64) string {
	switch {
	case d.IsFloat():
		return fmt.Sprint(d.Float(bits))
	case d == element.U64:
		return fmt.Sprint(bits)
	}
	return fmt.Sprint(d.Integer(bits))
}
