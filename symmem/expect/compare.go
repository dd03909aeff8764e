package expect

import (
	"fmt"
	"math"
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/expect/formula"
)

// Equal compares a tensor with a formula, whose names stand for what the tensors held first. The
// formula's values become elements of the tensor's type first, so Equal holds if the kernel's elements
// have the same bits: 0 and -0 are different, all NaN are equal. It returns nil, a *Difference, or an
// error of the formula. With ranks it compares on these only, and returns nil on the others.
//
// It is collective over the group, also for the ranks that do not compare, and waits for all work: see
// the package's documentation.
func (s *Tensors) Equal(name, text string, ranks ...int) error {
	return s.compare("expect.Equal", name, text, nil, ranks)
}

// Close is Equal with tolerances: an element may differ from the formula's value, rounded to the
// tensor's type, by atol + rtol*|value|. Infinities are close to themselves alone, NaN to NaN. The
// tolerances are finite and not negative; those of torch.testing.assert_close are 1.3e-6 and 1e-5 for
// f32, 1e-3 and 1e-5 for f16, 1.6e-2 and 1e-5 for bf16.
func (s *Tensors) Close(name, text string, rtol, atol float64, ranks ...int) error {
	const op = "expect.Close"
	for i, v := range []float64{rtol, atol} {
		if !(v >= 0) || math.IsInf(v, 0) {
			arg := []string{"rtol", "atol"}[i]
			return misuse(op, arg, "", nil, "%s is finite and not negative, not %v", arg, v)
		}
	}
	return s.compare(op, name, text, &tolerance{rtol, atol}, ranks)
}

// tolerance is the difference that Close allows.
type tolerance struct{ relative, absolute float64 }

func (s *Tensors) compare(op, name, text string, within *tolerance, ranks []int) error {
	x, f, err := s.expected(op, name, text, ranks)
	if err != nil {
		return err
	}
	concerned := len(ranks) == 0 || slices.Contains(ranks, s.rank)
	var got formula.Numbers
	s.meet()
	if concerned {
		got = read(x.t)
	}
	s.meet()
	if !concerned {
		return nil
	}
	want, err := f.Eval(initial{s}, formula.Type(x.t.DType()), s.rank, s.size, x.t.Numel())
	if err != nil {
		return misuse(op, "formula", "", err, "what %s should hold: %v", name, err)
	}
	if d := differences(x.t, want, got, within); d != nil {
		d.Name, d.Formula, d.Rank = name, text, s.rank
		return d
	}
	return nil
}

// expected checks the arguments of a comparison, without the other ranks.
func (s *Tensors) expected(op, name, text string, ranks []int) (x *tensor, f *formula.Formula, err error) {
	if err := symmem.Maybe(func() { x = s.find(op, name) }); err != nil {
		return nil, nil, err
	}
	for _, r := range ranks {
		if r < 0 || r >= s.size {
			return nil, nil, misuse(op, "ranks", "", nil, "the ranks are 0 to %d, not %d", s.size-1, r)
		}
	}
	f, err = formula.Parse(text, s.names...)
	if err == nil {
		err = f.Fits(formula.Type(x.t.DType()))
	}
	if err != nil {
		return nil, nil, misuse(op, "formula", "", err, "what %s should hold: %v", name, err)
	}
	return x, f, nil
}

// differences compares the elements of a tensor; it returns nil if there is no difference.
func differences(t *symmem.Tensor, want, got formula.Numbers, within *tolerance) *Difference {
	d := &Difference{Elements: t.Numel()}
	if within != nil {
		d.Tolerance = fmt.Sprintf("rtol %v, atol %v", within.relative, within.absolute)
	}
	for i := range d.Elements {
		var same bool
		var by float64
		if want.Floats != nil {
			same, by = sameFloats(want.Floats[i], got.Floats[i], within)
		} else {
			same, by = sameInts(t.DType() == symmem.U64, want.Ints[i], got.Ints[i], within)
		}
		if same {
			continue
		}
		e := Element{Index: i, At: position(i, t.Shape())}
		if d.Differ++; len(d.First) < shown || by > d.Most {
			e.Want, e.Got = text(t.DType(), want, i), text(t.DType(), got, i)
		}
		if len(d.First) < shown {
			d.First = append(d.First, e)
		}
		if by > d.Most {
			d.Most, d.Worst = by, e
		}
	}
	if d.Differ == 0 {
		return nil
	}
	return d
}

// sameFloats compares floats, and returns by how much they differ, NaN if that is no number.
func sameFloats(want, got float64, within *tolerance) (same bool, by float64) {
	by = math.Abs(want - got)
	switch {
	case want != want || got != got:
		return want != want && got != got, by
	case within == nil:
		return math.Float64bits(want) == math.Float64bits(got), by
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return want == got, by
	}
	return by <= within.absolute+within.relative*math.Abs(want), by
}

// sameInts compares integers, which are unsigned or not.
func sameInts(unsigned bool, want, got int64, within *tolerance) (same bool, by float64) {
	larger, value := want > got, math.Abs(float64(want))
	if unsigned {
		larger, value = uint64(want) > uint64(got), float64(uint64(want))
	}
	apart := uint64(got) - uint64(want) // exact, also where the difference is no int64
	if larger {
		apart = -apart
	}
	by = float64(apart)
	return apart == 0 || within != nil && by <= within.absolute+within.relative*value, by
}
