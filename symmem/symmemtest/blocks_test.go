package symmemtest

import (
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// TestBlocks runs the kernels that a GPU runs for reductions and transposes, where the threads of a
// block work together, on the cpu device, and compares the results with those of its own kernels.
func TestBlocks(t *testing.T) {
	rt, err := symmem.Init(symmem.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if err := symmem.Maybe(func() {
		for _, d := range []symmem.DType{symmem.BF16, symmem.F32, symmem.I8} {
			for _, formula := range []string{"sum(x0)", "argmax(x0)", "max(x0)"} {
				blockReductions(t, rt, formula, d)
			}
		}
		for _, d := range []symmem.DType{symmem.U8, symmem.BF16, symmem.F32, symmem.F64} {
			blockTransposes(t, rt, d)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// small sets elements to whole numbers below 20.
func small(rt *symmem.Runtime, d symmem.DType, shape ...int) *symmem.Tensor {
	x := rt.Local(d, shape...)
	return rt.Map("(i * 7 + i / 5) % 20", symmem.Into(x))
}

func blockReductions(t *testing.T, rt *symmem.Runtime, formula string, d symmem.DType) {
	of := element.Type(d)
	tree, err := expression.Parse(formula)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := tree.Check([]expression.Operand{{Type: of}})
	if err != nil {
		t.Fatal(err)
	}
	width := 16 / of.Size()
	for _, columns := range []bool{false, true} {
		r := calculate.Reduce{Formula: checked, Out: checked.Result, Operands: []calculate.Operand{{Type: of}}, Columns: columns, Width: width}
		k := rt.Compile(r.Text())
		outer, length, inner := 3, 700*width, 1
		if columns {
			length, inner = 211, 5*width
		}
		x := small(rt, d, outer, length, inner)
		want := rt.Reduce(formula, x, symmem.Along(1))
		for _, lanes := range []int{1, 8, 32, 256} {
			for _, chunks := range []int{1, 3} {
				share := (length + chunks - 1) / chunks
				share = (share + width - 1) / width * width
				chunks := (length + share - 1) / share
				items := outer * chunks * inner
				if columns {
					items /= width
				}
				out, partial := rt.Local(want.DType(), outer, inner), rt.Local(symmem.U8, outer*chunks*inner*calculate.PartialBytes)
				launch := func(name string, items, lanes int) {
					each := calculate.Threads / lanes
					k.Kernel(name).Launch(symmem.Grid((items+each-1)/each), symmem.Block(calculate.Threads), out, partial, x,
						x.Numel(), 0, 1, outer, length, inner, chunks, share, lanes)
				}
				launch(calculate.Wider, items, lanes)
				if chunks > 1 {
					launch(calculate.Finish, outer*inner, lanes)
				}
				if !out.Equal(want) {
					t.Errorf("%s of %v%v, %d lanes, %d chunks: %v, not %v", formula, d, x.Shape(), lanes, chunks, out.Float64s()[:3], want.Float64s()[:3])
				}
			}
		}
	}
}

func blockTransposes(t *testing.T, rt *symmem.Runtime, d symmem.DType) {
	of := element.Type(d)
	for _, shape := range [][]int{{160, 336}, {70, 131}, {2, 144, 32}} {
		x := small(rt, d, shape...)
		order := []int{1, 0}
		if len(shape) == 3 {
			order = []int{0, 2, 1}
		}
		want := x.Transpose(order)
		own := calculate.Strides(shape)
		strides := make([]int, len(order))
		for k, dim := range order {
			strides[k] = own[dim]
		}
		tiled := calculate.Transpose{Type: of}
		p, ok := tiled.Plan(calculate.Arrange(want.Shape(), calculate.Strides(want.Shape()), strides), true)
		if !ok || (p.Kernel == calculate.Wider) != (shape[0] != 70) {
			t.Fatalf("%v%v is transposed by %+v", d, shape, p)
		}
		out := rt.Local(d, want.Shape()...)
		args := []any{out, x}
		for _, a := range p.Args {
			args = append(args, int(a))
		}
		rt.Compile(tiled.Text()).Kernel(p.Kernel).Launch(symmem.Grid(3), symmem.Block(calculate.Threads), args...)
		if !out.Equal(want) {
			t.Errorf("%s: the result differs by %v", fmt.Sprint(d, shape), out.MaxDiff(want))
		}
	}
}
