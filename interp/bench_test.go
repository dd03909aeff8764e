package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkCell measures a cell in a session that has run setup. Beside the time it reports the
// processor time, cpu-ns/op, that the process takes, which hardly depends on the machine's load.
func benchmarkCell(b *testing.B, setup, src string) {
	in := open(b, Options{Packages: testPackage(func() {})})
	mustEval(b, in, setup)
	runtime.GC()
	start := processorTime(b)
	for b.Loop() {
		if r := in.Eval(context.Background(), session.Cell{ID: 1, Source: src}); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
	b.ReportMetric(float64((processorTime(b)-start)/time.Duration(b.N)), "cpu-ns/op")
}

// processorTime returns the processor time that the process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkDefine(b *testing.B) { benchmarkCell(b, "", "x := 1") }
func BenchmarkValue(b *testing.B)  { benchmarkCell(b, "x := 1", "x + 1") }
func BenchmarkLoop(b *testing.B) {
	benchmarkCell(b, "s := 0", "for i := 0; i < 1000; i++ { s += i }")
}
func BenchmarkIndexLoop(b *testing.B) {
	benchmarkCell(b, "a := make([]float32, 1000)", "for i := range 1000 { a[i] = a[i] * 2 }")
}
func BenchmarkCompiledCalls(b *testing.B) {
	benchmarkCell(b, "import \"test/blocking\"", "for i := 0; i < 1000; i++ { blocking.Wait() }")
}
func BenchmarkFunctionCalls(b *testing.B) {
	benchmarkCell(b, "func f(a int) int { return a + 1 }", "for i := 0; i < 1000; i++ { f(i) }")
}
func BenchmarkFib(b *testing.B) {
	benchmarkCell(b, "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }", "fib(15)")
}
func BenchmarkPrint(b *testing.B) {
	benchmarkCell(b, "import (\"fmt\"; \"io\")", "for i := 0; i < 1000; i++ { fmt.Fprintln(io.Discard, i) }")
}

// BenchmarkLargeCell measures a cell of 41 KB that defines functions. Each run defines all of them
// again.
func BenchmarkLargeCell(b *testing.B) {
	var cell strings.Builder
	for i := 0; cell.Len() < 41<<10; i++ {
		fmt.Fprintf(&cell, `
func step%[1]d(list []float64, by map[string]int, name string) (total float64, err error) {
	for i, v := range list {
		if v > 0.5 && i%%2 == 0 {
			total += v * float64(i)
		} else if n, ok := by[name]; ok {
			total -= float64(n)
		}
	}
	if len(list) == 0 {
		return 0, fmt.Errorf("step %%d: nothing in %%s", %[1]d, name)
	}
	switch {
	case total > 100:
		total = math.Sqrt(total)
	case strings.HasPrefix(name, "x"):
		by[name]++
	}
	return total, nil
}
`, i)
	}
	benchmarkCell(b, "import (\"fmt\"; \"math\"; \"strings\")", cell.String())
}

// BenchmarkDebugged runs a loop in a cell that is debugged, without breakpoints.
func BenchmarkDebugged(b *testing.B) {
	for _, debugged := range []bool{false, true} {
		b.Run(fmt.Sprint(debugged), func(b *testing.B) {
			in := open(b, Options{})
			r := evaluate(in, session.Cell{ID: 1, Debugged: debugged,
				Source: "func add(a, b int) int { return a + b }\nfunc loop(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\tx := i % 7\n\t\tif x > 3 {\n\t\t\ts += x\n\t\t}\n\t\ts = add(s, 1)\n\t}\n\treturn s\n}"})
			if r.Err != nil {
				b.Fatal(r.Err)
			}
			b.ResetTimer()
			mustEval(b, in, fmt.Sprintf("loop(%d)", b.N))
		})
	}
}
