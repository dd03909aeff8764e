package symmemtest

import (
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem"
)

// numpyProgram compares results with numpy's.
//
//go:embed testdata/numpy.py
var numpyProgram string

var allNumpy = flag.Bool("numpy", false, "compare operations on all types with numpy's, not only those on three")

// numpyTable begins the table of docs/arithmetic.md whose cells are the most units in the last place by
// which results differ from numpy's, or = for the same bits. Each row has one or more operations.
const (
	arithmeticPage = "../../docs/arithmetic.md"
	numpyTable     = "| Operation |"
)

// TestNumpy does every operation on tensors of three types, or with -numpy of every type, with numbers
// of all sizes, infinities, NaN and subnormals among the elements, and lets numpy do the same. On the
// cpu device no result may differ by more than the table of docs/arithmetic.md says, which has all
// operations and types; -numpy -write writes it.
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
			var failures strings.Builder
			command := exec.Command(python, "-c", numpyProgram, dir)
			command.Stderr = &failures
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, failures.String())
			}
			if device == "cpu" {
				compareTable(t, differences(t, string(out)), types)
			}
		})
	}
}

// differences are those that the program prints, by operation and type.
func differences(t *testing.T, printed string) map[string]map[string]string {
	found := map[string]map[string]string{}
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		if len(words) < 3 {
			t.Fatalf("the program prints %q", line)
		}
		op, of, off := strings.Join(words[:len(words)-2], " "), words[len(words)-2], words[len(words)-1]
		if found[op] == nil {
			found[op] = map[string]string{}
		}
		if off == "0" {
			off = "="
		}
		found[op][of] = off
	}
	return found
}

// compareTable checks the page's table, or writes it.
func compareTable(t *testing.T, found map[string]map[string]string, types []symmem.DType) {
	data, err := os.ReadFile(arithmeticPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	from := strings.Index(page, numpyTable)
	if from < 0 {
		t.Fatalf("%s has no table that begins with %q", arithmeticPage, numpyTable)
	}
	table, _, _ := strings.Cut(strings.TrimSpace(page[from:]), "\n\n")
	if *write && *allNumpy {
		if err := os.WriteFile(arithmeticPage, []byte(strings.Replace(page, table, numpyRows(found), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var names []string
	stated := map[string]map[string]string{}
	for i, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		switch {
		case i == 0:
			names = cells
		case i > 1:
			for _, op := range strings.Split(cells[0], ", ") {
				stated[op] = map[string]string{}
				for k := 1; k < len(cells); k++ {
					stated[op][names[k]] = cells[k]
				}
			}
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(stated))) {
		t.Errorf("these operations were compared: %v; the table has %v", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(stated)))
	}
	digits := strings.NewReplacer("=", "0") // of one digit each, as ALLOWED in the program
	for op, row := range found {
		for _, d := range types {
			got, want := row[d.String()], stated[op][d.String()]
			if digits.Replace(got) > digits.Replace(want) {
				t.Errorf("%s of %v differs from numpy's by %q, and the page says %q: go test -run TestNumpy -numpy -write measures all types", op, d, got, want)
			}
		}
	}
}

// numpyRows is the table: operations of the same differences share a row.
func numpyRows(found map[string]map[string]string) string {
	rows := map[string][]string{}
	for _, op := range slices.Sorted(maps.Keys(found)) {
		var cells strings.Builder
		for _, d := range everyType {
			fmt.Fprintf(&cells, " %s |", found[op][d.String()])
		}
		rows[cells.String()] = append(rows[cells.String()], op)
	}
	var b strings.Builder
	b.WriteString(numpyTable)
	for _, d := range everyType {
		fmt.Fprintf(&b, " %v |", d)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(everyType)))
	byName := func(a, b string) int { return strings.Compare(rows[a][0], rows[b][0]) }
	for _, cells := range slices.SortedFunc(maps.Keys(rows), byName) {
		fmt.Fprintf(&b, "\n| %s |%s", strings.Join(rows[cells], ", "), cells)
	}
	return b.String()
}

// writeResults writes the operands and results of operations to files: X-TYPE, Y-TYPE, and
// OPERATION-TYPE-RESULT's type.
func writeResults(t *testing.T, rt *symmem.Runtime, dir string, types []symmem.DType) {
	const n = 4000
	keep := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, x *symmem.Tensor) {
		keep(name, x.View(x.Numel()).As(symmem.U8).Uint8s())
	}
	one := func(x *symmem.Tensor) *symmem.Tensor { return x.View(1) }
	for _, d := range types {
		r := rand.New(rand.NewSource(int64(d)))
		x, y := operands(rt, r, d, n), operands(rt, r, d, n)
		write(fmt.Sprintf("X-%v", d), x)
		write(fmt.Sprintf("Y-%v", d), y)
		for name, f := range map[string]func() *symmem.Tensor{
			"Add": func() *symmem.Tensor { return x.Add(y) }, "Sub": func() *symmem.Tensor { return x.Sub(y) },
			"Mul": func() *symmem.Tensor { return x.Mul(y) },
			"Div": func() *symmem.Tensor { return x.Div(y) }, "Mod": func() *symmem.Tensor { return x.Mod(y) },
			"Pow":     func() *symmem.Tensor { return x.Abs().Pow(2) },
			"Minimum": func() *symmem.Tensor { return x.Minimum(y) }, "Maximum": func() *symmem.Tensor { return x.Maximum(y) },
			"Eq": func() *symmem.Tensor { return x.Eq(y) }, "Ne": func() *symmem.Tensor { return x.Ne(y) }, "Lt": func() *symmem.Tensor { return x.Lt(y) },
			"Le": func() *symmem.Tensor { return x.Le(y) }, "Gt": func() *symmem.Tensor { return x.Gt(y) }, "Ge": func() *symmem.Tensor { return x.Ge(1) },
			"Where": func() *symmem.Tensor { return x.Where(y, 1) }, "Neg": func() *symmem.Tensor { return x.Neg() },
			"Abs": func() *symmem.Tensor { return x.Abs() },
			"Exp": func() *symmem.Tensor { return x.Exp() }, "Log": func() *symmem.Tensor { return x.Abs().Log() },
			"Sqrt": func() *symmem.Tensor { return x.Abs().Sqrt() },
			"Min":  func() *symmem.Tensor { return one(x.Min()) }, "ArgMin": func() *symmem.Tensor { return one(x.ArgMin()) },
			"Max": func() *symmem.Tensor { return one(x.Max()) }, "ArgMax": func() *symmem.Tensor { return one(x.ArgMax()) },
			"Dot":  func() *symmem.Tensor { return one(finite(x).Dot(finite(y))) },
			"Sum":  func() *symmem.Tensor { return one(finite(x).Sum()) },
			"Mean": func() *symmem.Tensor { return one(finite(x).Mean()) }, "Norm": func() *symmem.Tensor { return one(finite(x).Norm()) },
		} {
			out := f()
			write(fmt.Sprintf("%s-%v-%v", name, d, out.DType()), out)
		}
		for _, to := range []symmem.DType{symmem.F16, symmem.BF16, symmem.F32, symmem.I32, symmem.U8, symmem.F8E4M3, symmem.F8E5M2} {
			write(fmt.Sprintf("Convert-%v-%v", d, to), x.Convert(to))
		}
		var equal, close, apart []byte
		comparisons(x, y, func(a *symmem.Tensor, b any) {
			equal, close = append(equal, byte(truth(a.Equal(b)))), append(close, byte(truth(a.AllClose(b, 0.5, 2))))
			apart = binary.LittleEndian.AppendUint64(apart, math.Float64bits(a.MaxDiff(b)))
		})
		keep(fmt.Sprintf("Equal-%v-u8", d), equal)
		keep(fmt.Sprintf("AllClose-%v-u8", d), close)
		keep(fmt.Sprintf("MaxDiff-%v-f64", d), apart)
	}
}

// comparisons gives f tensors with which they are compared: whole ones, and parts of moderate size.
func comparisons(x, y *symmem.Tensor, f func(a *symmem.Tensor, b any)) {
	f(x, x)
	f(x, y)
	f(y, 1)
	for _, other := range []*symmem.Tensor{x, y} {
		for k := 1; k < 400; k += 4 {
			f(x.Slice(k, k+3), other.Slice(k, k+3))
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
		switch kind := d.String()[:1]; kind {
		case "u":
			values[i] = math.Abs(values[i])
		case "f", "b":
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
