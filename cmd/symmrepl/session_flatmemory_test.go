package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
)

var (
	flatFor   = flag.Duration("flat", 0, "how long to run mixed cells and measure the memory they leave behind")
	flatCells = flag.Int("cells", 0, "least number of mixed cells to run")
	flatHeap  = flag.String("heap", "", "folder for heap profiles of rank 0, written after each thousand cells")
)

// mixed are cells of every sort. %d is the number of the cell.
var mixed = []string{
	"x := %d; y := fmt.Sprint(x)",
	"func f(n int) int { return n + %d }",
	"f(%d)",
	"type T struct{ A, B int }\nfunc (t T) Sum() int { return t.A + t.B + %d }\nT{1, 2}.Sum()",
	"k.Launch(symm.Grid(1), symm.Block(32), t, %d)",
	"symm.OneShotAllReduce(t, \"sum\").Free()",
	"{ u := symm.Empty(symm.F32, 64); symm.Rendezvous(u); u.Free() }",
	"fmt.Println(\"line\", %d, symm.Rank())",
	"[]int{1, 2}[%d]",
	"undefined%d + 1",
	"panic(fmt.Sprint(\"panic \", %d))",
	"{ c := make(chan int); go func() { c <- %d }(); <-c }",
	"g := func(n int) func() int { return func() int { n++; return n } }(%d); g()",
	"m := map[string][]int{\"a\": {%d}}; m",
	"for i := range 100 { x += i }",
	"import \"sort\"\nsort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })",
	"t.Fill(%d); t.Float32s()[0]",
	"if symm.Rank() == 0 { panic(%d) }",
}

// After the first thousand, a cell leaves only two things behind: its text in the history, and the
// types that it declares. For each 10,000 cells the memory of the workers and the controller grows
// by at most 2 per cent beyond that.
func TestFlatMemory(t *testing.T) {
	if *flatFor == 0 && *flatCells == 0 {
		t.Skip("takes long: runs with -flat 1h or -cells 21000 only")
	}
	const (
		ranks   = 2
		settled = 1000
		most    = 0.02 // for each 10,000 cells
		// Bytes that are kept on purpose: by the controller for each cell, in the history, and by a
		// worker for each declared type, which package reflect never frees.
		history  = 300
		declared = 2 << 10
	)
	s := launchHere(t, ranks)
	eval := func(source string) session.Reply {
		return s.Eval(t.Context(), session.Cell{Source: source, Output: func(session.Output) {}})
	}
	for _, cell := range []string{
		"import (\"os\"; \"runtime\"; \"runtime/debug\"; \"runtime/pprof\")",
		"t := symm.Empty(symm.F32, 1024).Fill(1); symm.Rendezvous(t)",
		"k := symm.Compile(`__global__ void k(float* p, int n) { p[threadIdx.x] = n; }`)",
		"xs := []int{3, 1, 2}",
		"func live() uint64 { debug.FreeOSMemory(); debug.FreeOSMemory(); var m runtime.MemStats; runtime.ReadMemStats(&m); return m.HeapAlloc + m.StackInuse }",
	} {
		if reply := eval(cell); len(reply.Errors) > 0 {
			t.Fatal(reply.Errors)
		}
	}
	var (
		began = time.Now()
		first map[string]taken
		cells int
	)
	for cells < *flatCells || time.Since(began) < *flatFor {
		for range settled {
			source := mixed[cells%len(mixed)]
			if strings.Contains(source, "%") {
				source = fmt.Sprintf(source, cells)
			}
			eval(source)
			cells++
		}
		now := take(t, s)
		if first == nil {
			first = now
		}
		if *flatHeap != "" {
			eval(fmt.Sprintf("if symm.Rank() == 0 { f, _ := os.Create(\"%s/heap%d\"); pprof.WriteHeapProfile(f); f.Close() }", *flatHeap,
				cells))
		}
		t.Logf("%6d cells, %4.0f s: rank 0 %v, the controller %v", cells, time.Since(began).Seconds(), now["rank 0"], now["the controller"])
		if cells < 21*settled { // before, momentary garbage would distort the rate
			continue
		}
		for who, after := range now {
			before := first[who]
			grown := after.live - before.live
			if who == "the controller" {
				grown -= float64((cells - settled) * history)
			} else {
				grown -= float64((cells - settled) / len(mixed) * declared)
			}
			if part := grown / before.resident / float64(cells-settled) * 10_000; part > most {
				t.Errorf("after %d cells %s has grown by %.1f %% for each 10,000", cells, who, 100*part)
			}
		}
	}
}

// taken is the memory of a process in bytes: its values that are not garbage, and its resident set.
type taken struct{ live, resident float64 }

func (m taken) String() string {
	return fmt.Sprintf("%.2f MiB (%.1f resident)", m.live/(1<<20), m.resident/(1<<20))
}

// take measures rank 0 and the controller, which is this process.
func take(t *testing.T, s session.Session) map[string]taken {
	t.Helper()
	reply := s.Eval(t.Context(), session.Cell{Source: "live()", Ranks: []int{0}, Silent: true})
	if len(reply.Errors) > 0 || len(reply.Values) != 1 {
		t.Fatal(reply)
	}
	live, err := strconv.ParseFloat(reply.Values[0].Text, 64)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := s.Ranks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := procfs.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return map[string]taken{"rank 0": {live, float64(infos[0].RSS)},
		"the controller": {float64(m.HeapAlloc + m.StackInuse), float64(own.RSS)}}
}
