package calculate

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

var gpu = Device{Processors: 4, Tuned: &tuning.Plan{ElementThreads: 256, ElementBlocks: 2}}

// tensor returns an f32 tensor at an address.
func tensor(at device.Ptr, shape ...int) Operand {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return Operand{Type: element.F32, Shape: shape, N: n, At: at}
}

func bound(t *testing.T, formula string, reduces bool, operands ...Operand) *Calculation {
	t.Helper()
	c, err := new(Cache).Bind(formula, operands, reduces, gpu)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLaunches checks the kernels, blocks and arguments of plans on a GPU.
func TestLaunches(t *testing.T) {
	const out, partial = 0x10000, 0x20000
	one := -1
	for name, c := range map[string]struct {
		plan    func() (*Plan, error)
		kernels string
		blocks  int // of the first kernel
		partial bool
	}{
		"aligned": {func() (*Plan, error) {
			return bound(t, "x0 + x1", false, tensor(0x100, 1024), tensor(0x4100, 1024)).Map(nil)
		},
			Wider, 1, false},
		"not aligned": {func() (*Plan, error) { return bound(t, "-x0", false, tensor(0x104, 1024)).Map(nil) }, Single, 4, false},
		"a column": {func() (*Plan, error) {
			return bound(t, "x0 + x1", false, tensor(0x100, 64, 4), tensor(0x1000, 64, 1)).Map(nil)
		}, Wider, 1, false},
		"turned": {func() (*Plan, error) {
			return bound(t, "x0", false, tensor(0x100, 512, 256)).Transposed(nil, []int{1, 0})
		},
			Wider, 32, false},
		"all":  {func() (*Plan, error) { return bound(t, "sum(x0)", true, tensor(0x100, 1<<20)).Reduce(nil, nil) }, Wider + " " + Finish, 16, true},
		"rows": {func() (*Plan, error) { return bound(t, "max(x0)", true, tensor(0x100, 4096, 64)).Reduce(nil, &one) }, Wider, 64, false},
	} {
		p, err := c.plan()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var kernels []string
		list := p.Launches(out, partial, 0, 1)
		for _, l := range list {
			kernels = append(kernels, l.Kernel)
			if !strings.Contains(p.text(), l.Kernel+"(") || l.args[0] != out || c.partial && l.args[1] != partial {
				t.Errorf("%s: the text or the arguments %#x do not fit %s", name, l.args, l.Kernel)
			}
		}
		if got := strings.Join(kernels, " "); got != c.kernels || list[0].Grid[0] != c.blocks || (p.Partial > 0) != c.partial || p.Partial > MostPartial {
			t.Errorf("%s: kernels %s, %d blocks and %d bytes for parts, want %s, %d, %v", name, got, list[0].Grid[0], p.Partial,
				c.kernels, c.blocks, c.partial)
		}
	}
}

// TestRefusals checks the words with which operands and results are refused.
func TestRefusals(t *testing.T) {
	x := tensor(0x100, 4)
	into := tensor(0x104, 4)
	whole := Operand{Type: element.I32, Shape: []int{4}, N: 4, At: 0x1000}
	third := 3
	for want, f := range map[string]func() error{
		"the shapes do not fit: x0 is f32[4], x1 is f32[3]": func() error {
			_, err := bound(t, "x0 + x1", false, x, tensor(0x200, 3)).Map(nil)
			return err
		},
		"Into overlaps x0, f32[4]":   func() error { _, err := bound(t, "-x0", false, x).Map(&into); return err },
		"which would drop fractions": func() error { _, err := bound(t, "-x0", false, x).Map(&whole); return err },
		"[0 0] is no order of the 2 dimensions of": func() error {
			_, err := bound(t, "x0", false, tensor(0, 2, 2)).Transposed(nil, []int{0, 0})
			return err
		},
		"the dimensions are 0 to 0":             func() error { _, err := bound(t, "sum(x0)", true, x).Reduce(nil, &third); return err },
		"the max of no elements does not exist": func() error { _, err := bound(t, "max(x0)", true, tensor(0, 0)).Reduce(nil, nil); return err },
		"tensor 1 is f32[2, 3], which does not continue f32[2, 2]": func() error {
			_, err := Joined(0, []Operand{tensor(0, 2, 2), tensor(0, 2, 3)})
			return err
		},
		`the formula "x0" has no reduction`: func() error { _, err := new(Cache).Bind("x0", []Operand{x}, true, gpu); return err },
		"the formula \"x0\" has no operand": func() error { _, err := new(Cache).Bind("x0", []Operand{x, x}, false, gpu); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
