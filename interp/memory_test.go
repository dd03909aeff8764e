package interp

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func mustEval(t testing.TB, in *Interp, src string) string {
	t.Helper()
	r := in.Eval(context.Background(), session.Cell{ID: 1, Source: src})
	if r.Err != nil {
		t.Fatalf("%s: %v\n%s", src, r.Err, r.Err.Detail)
	}
	return r.Value
}

// TestManyCells holds that cells leave nothing behind but what they define.
func TestManyCells(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	cells := func(from, to int) {
		for i := from; i < to; i++ {
			mustEval(t, in, fmt.Sprintf("x := %d", i))
			switch i % 5 {
			case 0:
				mustEval(t, in, fmt.Sprintf("func f(a int) int { return a + %d }", i))
			case 1:
				mustEval(t, in, "s := 0\nfor i := range 3 { s += f(i) }\ns")
			case 2:
				mustEval(t, in, fmt.Sprintf("y := \"text %d\"\ny", i))
			case 3:
				mustEval(t, in, "y := 5\ny + x")
			case 4:
				mustEval(t, in, "m := map[string]int{\"a\": x}\nm[\"a\"]")
			}
		}
	}
	cells(0, 1000)
	first := heap()
	cells(1000, 5000)
	if last := heap(); last > first+first/10 {
		t.Errorf("heap grew from %d to %d bytes over 8000 cells", first, last)
	}
	runtime.KeepAlive(in)
}

func TestRedefinitionFrees(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{"x := []byte{1}", "x := 5", "x = nil"} {
		before := heap()
		mustEval(t, in, "x := make([]byte, 64<<20)")
		if held := heap(); held < before+60<<20 {
			t.Fatalf("64 MB in use as %d bytes", held-before)
		}
		mustEval(t, in, again)
		mustEval(t, in, "0")
		if after := heap(); after > before+4<<20 {
			t.Errorf("after %s %d bytes more are in use than before", again, after-before)
		}
	}
}
