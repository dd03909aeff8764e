package symmemtest

import (
	_ "embed"
	"flag"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/symmem"
)

// numpyProgram compares results with numpy's.
//
//go:embed testdata/numpy.py
var numpyProgram string

var allNumpy = flag.Bool("numpy", false, "compare operations on all types with numpy's, not only those on three")

// TestNumpy does every operation on tensors of three types, or with -numpy of every type, with numbers of all sizes, infinities,
// NaN and subnormals among the elements, and lets numpy do the same. The program prints the table
// that docs/arithmetic.md has: what has the same bits, and what differs by how many units in the
// last place.
func TestNumpy(t *testing.T) {
	python := os.Getenv("SYMMREPL_JUPYTER")
	if python == "" {
		t.Skip("SYMMREPL_JUPYTER does not name a Python with numpy and ml_dtypes")
	}
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			rt, err := symmem.Init(symmem.Config{Device: device})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			dir := t.TempDir()
			types := []symmem.DType{symmem.BF16, symmem.F32, symmem.I32}
			if *allNumpy {
				types = everyType // their kernels take minutes to compile
			}
			if err := symmem.Maybe(func() { writeResults(t, rt, dir, types) }); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, "-c", numpyProgram, dir, fmt.Sprint(len(types))).CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// writeResults writes the operands and results of operations to files: X-TYPE, Y-TYPE, and
// OPERATION-TYPE-RESULT's type.
func writeResults(t *testing.T, rt *symmem.Runtime, dir string, types []symmem.DType) {
	const n = 4000
	write := func(name string, x *symmem.Tensor) {
		raw := x.View(x.Numel()).As(symmem.U8).Ints()
		data := make([]byte, len(raw))
		for i, b := range raw {
			data[i] = byte(b)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one := func(x *symmem.Tensor) *symmem.Tensor { return x.View(1) }
	for _, d := range types {
		r := rand.New(rand.NewSource(int64(d)))
		x, y := operands(rt, r, d, n), operands(rt, r, d, n)
		write(fmt.Sprintf("X-%v", d), x)
		write(fmt.Sprintf("Y-%v", d), y)
		for name, f := range map[string]func() *symmem.Tensor{
			"Add": func() *symmem.Tensor { return x.Add(y) }, "Sub": func() *symmem.Tensor { return x.Sub(y) }, "Mul": func() *symmem.Tensor { return x.Mul(y) },
			"Div": func() *symmem.Tensor { return x.Div(y) }, "Mod": func() *symmem.Tensor { return x.Mod(y) }, "Pow": func() *symmem.Tensor { return x.Abs().Pow(2) },
			"Minimum": func() *symmem.Tensor { return x.Minimum(y) }, "Maximum": func() *symmem.Tensor { return x.Maximum(y) },
			"Eq": func() *symmem.Tensor { return x.Eq(y) }, "Lt": func() *symmem.Tensor { return x.Lt(y) }, "Ge": func() *symmem.Tensor { return x.Ge(1) },
			"Where": func() *symmem.Tensor { return x.Where(y, 1) }, "Neg": func() *symmem.Tensor { return x.Neg() }, "Abs": func() *symmem.Tensor { return x.Abs() },
			"Exp": func() *symmem.Tensor { return x.Exp() }, "Log": func() *symmem.Tensor { return x.Abs().Log() }, "Sqrt": func() *symmem.Tensor { return x.Abs().Sqrt() },
			"Max": func() *symmem.Tensor { return one(x.Max()) }, "ArgMax": func() *symmem.Tensor { return one(x.ArgMax()) },
			"Sum": func() *symmem.Tensor { return one(finite(x).Sum()) }, "Mean": func() *symmem.Tensor { return one(finite(x).Mean()) }, "Norm": func() *symmem.Tensor { return one(finite(x).Norm()) },
		} {
			out := f()
			write(fmt.Sprintf("%s-%v-%v", name, d, out.DType()), out)
		}
		for _, to := range []symmem.DType{symmem.F16, symmem.BF16, symmem.F32, symmem.I32, symmem.U8, symmem.F8E4M3, symmem.F8E5M2} {
			write(fmt.Sprintf("Convert-%v-%v", d, to), x.Convert(to))
		}
	}
}

// operands are random elements: every fourth has random bits, and the others are of moderate size.
func operands(rt *symmem.Runtime, r *rand.Rand, d symmem.DType, n int) *symmem.Tensor {
	raw := make([]uint8, n*d.Size())
	r.Read(raw)
	x := rt.Local(symmem.U8, len(raw)).CopyFrom(raw).As(d)
	small := rt.Local(d, n)
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(r.NormFloat64() * 8)
		if d == symmem.U8 || d == symmem.U32 || d == symmem.U64 {
			values[i] = math.Abs(values[i])
		} else if d != symmem.I8 && d != symmem.I32 && d != symmem.I64 {
			values[i] += r.Float64()
		}
	}
	small.CopyFrom(values)
	return rt.Map("i % 4 == 0 ? x0 : x1", x, small)
}

// finite is the part of a tensor whose elements are of moderate size.
func finite(x *symmem.Tensor) *symmem.Tensor {
	return x.Slice(1, 4)
}
