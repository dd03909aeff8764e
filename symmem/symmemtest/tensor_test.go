package symmemtest

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

var computing = []symmem.DType{
	symmem.F16, symmem.BF16, symmem.F32, symmem.F64, symmem.I8, symmem.U8, symmem.I32, symmem.U32, symmem.I64, symmem.U64,
}

// unreduced are the types of numbers that are not reduced between ranks.
var unreduced = []symmem.DType{symmem.I16, symmem.U16, symmem.F8E4M3, symmem.F8E5M2}

func numbersCase(t *T) {
	for _, d := range append(unreduced, computing...) {
		x := symmem.Local(d, 7)
		t.equal("zeros", x.Ints(), make([]int, 7))
		t.equal("filled", x.Fill(3).Float64s(), []float64{3, 3, 3, 3, 3, 3, 3})
		t.equal("copied", x.CopyFrom([]int{0, 1, 2, 3, 4, 5, 96}).Ints(), []int{0, 1, 2, 3, 4, 5, 96})
		t.equal("from a tensor", symmem.Local(d, 7).CopyFrom(x).Float32s(), []float32{0, 1, 2, 3, 4, 5, 96})
	}
	x := symmem.Local(symmem.BF16, 4).CopyFrom([]float64{0.1, -257, math.Inf(-1), 0x1p-133})
	t.equal("rounded", x.Float64s(), []float64{0.10009765625, -256, math.Inf(-1), 0x1p-133})
	t.equal("exact types", symmem.Local(symmem.F64, 2).CopyFrom([]float64{math.Pi, math.MaxFloat64}).Float64s(),
		[]float64{math.Pi, math.MaxFloat64})
	t.equal("i64", symmem.Local(symmem.I64, 2).CopyFrom([]int64{math.MinInt64, math.MaxInt64}).Ints(), []int{math.MinInt64, math.MaxInt64})
	t.equal("u8 wide", symmem.Local(symmem.U8, 3).CopyFrom([]uint8{0, 128, 255}).Ints(), []int{0, 128, 255})
	t.equal("an array", symmem.Local(symmem.I32, 2).CopyFrom([2]int16{-5, 5}).Ints(), []int{-5, 5})
	symmem.Local(symmem.F32, 0).Fill(1).CopyFrom([]float32{}).Float32s()

	// The slice may change as soon as CopyFrom has returned.
	data := make([]float32, 1<<16)
	for i := range data {
		data[i] = float32(i)
	}
	y := symmem.Local(symmem.F32, len(data)).CopyFrom(data)
	clear(data)
	got := y.Float32s()
	for i, v := range got {
		if v != float32(i) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

// numbersThatDoNotFitCase gives every type numbers around the bounds of all types, by Fill and by
// CopyFrom: each number is stored, rounded if the type is a float, or both refuse it. Only floats
// accept NaN and infinities.
func numbersThatDoNotFitCase(t *T) {
	numbers := []any{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.5, 1e300, -1e300, 449.0, 57345.0, 65505.0,
		65520.0, 3.5e38, 0x1p63, 0x1p64, -0x1p63,
		float32(math.NaN()), float32(math.MaxFloat32), uint64(math.MaxUint64), uint32(math.MaxUint32), math.MinInt, math.MaxInt}
	for _, bits := range []int{7, 8, 15, 16, 24, 31, 32, 53} {
		for _, n := range []int{1<<bits - 1, 1 << bits, 1<<bits + 1} {
			numbers = append(numbers, n, -n, uint64(n), float64(n), float64(-n))
		}
	}
	for _, d := range append(unreduced, computing...) {
		x, y := symmem.Local(d, 1), symmem.Local(d, 1)
		isFloat := !slices.Contains([]symmem.DType{symmem.I8, symmem.U8, symmem.I16, symmem.U16, symmem.I32, symmem.U32, symmem.I64,
			symmem.U64}, d)
		for _, n := range numbers {
			list := reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(n)), 1, 1)
			list.Index(0).Set(reflect.ValueOf(n))
			filled, copied := symmem.Maybe(func() { x.Fill(n) }), symmem.Maybe(func() { y.CopyFrom(list.Interface()) })
			what := fmt.Sprintf("%T %v as %v", n, n, d)
			if (filled == nil) != (copied == nil) {
				t.Errorf("%s: Fill says %v, CopyFrom %v", what, filled, copied)
				continue
			}
			if filled != nil {
				t.equal(what, filled.(*symmem.Error).Kind, symmem.KindMisuse)
				continue
			}
			t.equal(what+": the same", x.As(symmem.U8).Ints(), y.As(symmem.U8).Ints())
			want := reflect.ValueOf(n)
			if !isFloat {
				if want.CanFloat() {
					want = reflect.ValueOf(int(want.Float()))
				}
				if f, ok := n.(float64); ok && f >= 0x1p63 {
					want = reflect.ValueOf(uint64(f))
				}
				t.equal(what, x.String(), fmt.Sprintf("%v[1] on %s [%v]", d, t.rt.DeviceName(), want))
				continue
			}
			f, got := float64(0), x.Float64s()[0]
			switch {
			case want.CanFloat():
				f = want.Float()
			case want.CanInt():
				f = float64(want.Int())
			default:
				f = float64(want.Uint())
			}
			if math.IsNaN(f) != math.IsNaN(got) || math.IsInf(f, 0) != math.IsInf(got, 0) || math.Abs(got-f) > math.Abs(f)/8 {
				t.Errorf("%s: %v", what, got)
			}
		}
	}
}

func generatorsCase(t *T) {
	for _, d := range append([]symmem.DType{symmem.I16, symmem.U16}, computing...) {
		n := 300
		if d == symmem.I8 {
			n = 128
		} else if d == symmem.U8 {
			n = 256
		}
		got := symmem.Local(d, n).Arange().Float64s()
		for i, v := range got {
			want := float64(i)
			if d == symmem.BF16 {
				want = rounded(d, want)
			}
			if v != want {
				t.Fatalf("arange of %v: element %d is %v", d, i, v)
			}
		}
		a, b, c := symmem.Local(d, 1000).Rand(1).Float64s(), symmem.Local(d, 1000).Rand(1).Float64s(), symmem.Local(d, 1000).Rand(2).Float64s()
		t.equal("the same seed", a, b)
		if fmt.Sprint(a) == fmt.Sprint(c) {
			t.Errorf("%v: seeds 1 and 2 give the same values", d)
		}
		for i, v := range a {
			if d.Size() >= 4 && strings.HasPrefix(d.String(), "f") && (v < 0 || v >= 1) || v < 0 || v > 127 {
				t.Fatalf("rand of %v: element %d is %v", d, i, v)
			}
		}
	}
	// The generator is SplitMix64: its first value for seed 0, shifted as documented.
	t.equal("rand u64", symmem.Local(symmem.U64, 1).Rand(0).Ints(), []int{0xe220a8397b1dcdaf >> 57})
	t.equal("rand f64", symmem.Local(symmem.F64, 1).Rand(0).Float64s(), []float64{float64(0xe220a8397b1dcdaf>>40) / (1 << 24)})
}

func shapesCase(t *T) {
	x := symmem.Local(symmem.I32, 4, 3).Arange()
	t.equal("shape", x.Shape(), []int{4, 3})
	t.equal("numel, bytes", []int{x.Numel(), x.Bytes()}, []int{12, 48})
	row := x.Slice(1, 3)
	t.equal("slice", row.Ints(), []int{3, 4, 5, 6, 7, 8})
	t.equal("slice's shape", row.Shape(), []int{2, 3})
	t.equal("slice's address", row.Ptr()-x.Ptr(), uintptr(12))
	row.Slice(1, 2).Fill(-1)
	t.equal("shared", x.Ints(), []int{0, 1, 2, 3, 4, 5, -1, -1, -1, 9, 10, 11})
	t.equal("view", x.View(2, -1).Slice(1, 2).Ints(), []int{-1, -1, -1, 9, 10, 11})
	t.equal("view's shape", x.View(2, -1, 2).Shape(), []int{2, 3, 2})
	t.equal("empty slice", x.Slice(4, 4).Ints(), []int{})
	t.equal("as", symmem.Local(symmem.F32, 2).Fill(1).As(symmem.U8).Ints(), []int{0, 0, 128, 63, 0, 0, 128, 63})
	t.equal("as larger", symmem.Local(symmem.U8, 2, 8).Fill(1).As(symmem.U32).Shape(), []int{2, 2})
	t.equal("scalar", symmem.Local(symmem.F64).Fill(7).Ints(), []int{7})
	t.equal("empty", symmem.Local(symmem.F64, 3, 0).Ints(), []int{})
	shape := x.Shape()
	shape[0] = 99
	t.equal("shape is a copy", x.Shape(), []int{4, 3})
}

func printingCase(t *T) {
	where := t.rt.DeviceName()
	t.equal("short", symmem.Local(symmem.BF16, 3).Arange().String(), "bf16[3] on "+where+" [0 1 2]")
	t.equal("long", symmem.Local(symmem.I64, 2, 50).Arange().String(), "i64[2, 50] on "+where+"\n   0  1  2  3 … 46 47 48 49\n  50 51 52 53 … 96 97 98 99")
	t.equal("rows", symmem.Local(symmem.I32, 20, 2).Arange().String(),
		"i32[20, 2] on "+where+"\n   0  1\n   2  3\n   4  5\n   6  7\n   …\n  32 33\n  34 35\n  36 37\n  38 39")
	t.equal("one row", symmem.Local(symmem.I32, 1, 3).String(), "i32[1, 3] on "+where+" [0 0 0]")
	t.equal("more dimensions", symmem.Local(symmem.I64, 2, 2, 25).Arange().String(), "i64[2, 2, 25] on "+where+" [0 1 2 3 … 96 97 98 99]")
	t.equal("floats", symmem.Local(symmem.F32, 2).CopyFrom([]float64{0.1, math.Inf(1)}).String(), "f32[2] on "+where+" [0.1 +Inf]")
	x := symmem.Empty(symmem.U64, 1).Fill(uint64(math.MaxUint64))
	t.equal("symmetric", x.String(), "u64[1] on "+where+", symmetric [18446744073709551615]")
	h := symmem.Rendezvous(x)
	t.equal("handle", h.String(), "handle of u64[1] in world")
	x.Free()
	t.equal("freed", x.String(), "u64[1] on "+where+", symmetric, freed")
	t.equal("freed handle", h.String(), "handle of u64[1] in world, freed")
	t.equal("freed table", x.HTML(), x.String())
	const laid = `<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start;margin-top:4px"><div style="max-width:100%;overflow-x:auto"><table class="dataframe">` + "\n"
	t.equal("table", symmem.Local(symmem.I32, 2, 1, 2).Arange().HTML(),
		`<div class="symm-tensor"><b>i32[2, 1, 2]</b> on `+where+"<br>min 0, max 3, mean 1.5"+laid+
			"<tr><th></th><th>0</th><th>1</th></tr>\n"+
			"<tr><th>0, 0</th><td>0</td><td>1</td></tr>\n"+
			"<tr><th>1, 0</th><td>2</td><td>3</td></tr>\n</table></div></div></div>")
	t.equal("table of bf16", symmem.Empty(symmem.BF16, 5).CopyFrom([]float64{1. / 3, 1000, -1e-5, math.NaN(), math.Inf(1)}).HTML(),
		`<div class="symm-tensor"><b>bf16[5]</b> on `+where+", symmetric<br>min -1.00136e-05, max +Inf, mean +Inf, <b>1 NaN</b>"+laid+
			"<tr><th></th><th>0</th><th>1</th><th>2</th><th>3</th><th>4</th></tr>\n"+
			"<tr><th></th><td>0.334</td><td>1000</td><td>-1e-05</td><td>NaN</td><td>+Inf</td></tr>\n</table></div></div></div>")
	cube := symmem.Local(symmem.F32, 7, 16, 3).Arange().HTML()
	t.equal("tabs of slices", strings.Count(cube, "<summary>"), 5)
	t.equal("the last slice", strings.Contains(cube, "<summary>[6]</summary>"), true)
	t.equal("its first row", strings.Contains(cube, "<tr><th>0</th><td>288</td><td>289</td><td>290</td></tr>"), true)
	t.equal("slices without a tab", strings.Contains(cube, "<small>2 more slices between the last two: "), true)
	t.equal("heat maps of slices", strings.Count(cube, `<img class="symm-heat"`), 5)
	large := symmem.Local(symmem.I32, 20, 20).Arange().HTML()
	t.equal("rows of a large table", strings.Count(large, "<tr>"), 14)
	t.equal("its first row", strings.Split(large, "\n")[2], "<tr><th>0</th><td>0</td><td>1</td><td>2</td><td>3</td><td>4</td><td>5</td><td>…</td>"+
		"<td>14</td><td>15</td><td>16</td><td>17</td><td>18</td><td>19</td></tr>")
	t.equal("table of nothing", symmem.Local(symmem.I32, 0).HTML(), "i32[0] on "+where+" []")
	t.equal("launch sizes", fmt.Sprint(symmem.Grid(8), symmem.Block(16, 2)), "grid 8 block 16,2")
}

func tensorMisuseCase(t *T) {
	x := symmem.Local(symmem.I8, 4)
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { x.Fill(128) }, "Fill", "128 is out of the range of i8")
	t.refused(misuse, func() { x.Fill(1.5) }, "not a whole number")
	t.refused(misuse, func() { x.Fill("one") }, "not with a string")
	t.refused(misuse, func() { symmem.Local(symmem.BF16, 1).Fill(257) }, "not exactly representable")
	t.refused(misuse, func() { symmem.Local(symmem.I8, 129).Arange() }, "128")
	t.refused(misuse, func() { symmem.Local(symmem.F8E4M3, 1).Rand(0) }, "storage type")
	t.refused(misuse, func() { x.CopyFrom([]int{1, 2}) }, "2 values for a tensor of 4")
	t.refused(misuse, func() { x.CopyFrom([]int{1, 2, 3, 400}) }, "element 3", "400")
	t.refused(misuse, func() { x.CopyFrom(7) }, "slice of numbers", "int")
	t.refused(misuse, func() { x.CopyFrom([]string{"a", "b", "c", "d"}) }, "[]string")
	t.refused(misuse, func() { x.CopyFrom(symmem.Local(symmem.F32, 4)) }, "f32", "i8", "Ints()")
	t.refused(misuse, func() { x.CopyFrom(symmem.Local(symmem.I8, 5)) }, "5 elements")
	t.refused(misuse, func() { symmem.Local(symmem.F32, 1).Fill(0.5).Ints() }, "element 0 is 0.5")
	t.refused(misuse, func() { x.Slice(1, 5) }, "[1, 5)")
	t.refused(misuse, func() { x.Slice(-1, 2) }, "[-1, 2)")
	t.refused(misuse, func() { symmem.Local(symmem.I8).Slice(0, 1) }, "without dimensions")
	t.refused(misuse, func() { x.View(3) }, "3 elements")
	t.refused(misuse, func() { x.View(-1, 3) }, "elements")
	t.refused(misuse, func() { x.Slice(1, 4).As(symmem.U32) }, "does not divide")
	t.refused(misuse, func() { symmem.Local(symmem.F32, -1) }, "negative")
	t.refused(misuse, func() { symmem.Local(symmem.F32, 1<<40, 1<<40) }, "too large")
	t.refused(misuse, func() { symmem.Local(symmem.DType(99), 1) }, "DType(99)")
	t.refused(misuse, func() { symmem.Local(4) }, "DType(4) is not an element type (the element type is the first argument: symm.Local(symm.F32, 4))")
	t.refused(misuse, func() { symmem.Empty(4, 1024) }, "(the element type is the first argument: symm.Empty(symm.F32, 4, 1024))")
	t.refused(misuse, func() { x.As(3) }, "DType(3) is not an element type (give one such as symm.F32)")
	t.refused(misuse, func() { x.Slice(0, 2).Free() }, "part of another")
	x.Free()
	t.refused(misuse, func() { x.Fill(1) }, "i8[4] was freed")
	t.refused(misuse, func() { x.Free() }, "was freed")
	t.refused(misuse, func() { x.Ints() }, "was freed")
	var none *symmem.Tensor
	if err := symmem.Maybe(func() { none.Fill(1) }); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("a nil tensor: %v", err)
	}
}

// localMemoryCase checks that later tensors reuse the memory of freed and dropped ones, and that
// live tensors keep their memory.
func localMemoryCase(t *T) {
	x := symmem.Local(symmem.F32, 1000).Fill(1)
	p := x.Ptr()
	x.Free()
	y := symmem.Local(symmem.F32, 1000)
	t.equal("the same memory", y.Ptr(), p)
	t.equal("zeros again", y.Ints(), make([]int, 1000))

	seen := map[uintptr]bool{}
	for range 200 {
		for range 10 {
			z := symmem.Local(symmem.U8, 100<<10).Fill(9)
			seen[z.Ptr()] = true
		}
		runtime.GC()
	}
	if len(seen) > 1500 {
		t.Errorf("2000 dropped tensors used %d pieces of memory", len(seen))
	}
	kept := make([]*symmem.Tensor, 50)
	for i := range kept {
		kept[i] = symmem.Local(symmem.I32, 256).Fill(i)
	}
	for range 5 {
		for range 100 {
			symmem.Local(symmem.I32, 256).Fill(-1)
		}
		runtime.GC()
	}
	for i, k := range kept {
		if v := k.Ints(); v[0] != i || v[255] != i {
			t.Errorf("tensor %d holds %d", i, v[0])
		}
	}
}

// significant is the number of significant bits of each type of floats.
var significant = map[symmem.DType]int{symmem.F16: 11, symmem.BF16: 8, symmem.F32: 24, symmem.F64: 53, symmem.F8E4M3: 4, symmem.F8E5M2: 3}

// rounded returns x rounded to the nearest value of a type with few bits.
func rounded(d symmem.DType, x float64) float64 {
	bits := significant[d]
	if x == 0 || math.IsInf(x, 0) || x != x {
		return x
	}
	frac, exp := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(frac, bits)), exp-bits)
}
