package calls

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

func TestText(t *testing.T) {
	for want, m := range map[string]Made{
		"put_signal":                            {Op: "put_signal"},
		"one_shot_all_reduce bf16[16] sum":      {Op: "one_shot_all_reduce", DType: element.BF16, N: 16, Reduction: "sum"},
		"broadcast f32[8] from 1":               {Op: "broadcast", DType: element.F32, N: 8, Detail: "from 1"},
		"all_reduce f16[2] sum accumulated f32": {Op: "all_reduce", DType: element.F16, N: 2, Reduction: "sum", Detail: "accumulated f32"},
	} {
		if got := m.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Counts are equal where the same calls were made in the same order.
func TestCount(t *testing.T) {
	a, b := Made{Op: "a", N: 1}, Made{Op: "b"}
	var x, y, z Count
	x.Add(&a)
	y.Add(&a)
	if x != y || x.Add(&b) != 2 {
		t.Errorf("counts are %+v and %+v", x, y)
	}
	z.Add(&b)
	z.Add(&a)
	if x == z || z.Calls != 2 {
		t.Errorf("other orders are counted alike: %+v", z)
	}
}

type record struct{ Entry }

// A log finds the latest calls, and no others.
func TestLog(t *testing.T) {
	at := 7
	l := NewLog(func() int { return at }, func(r *record) *Entry { return &r.Entry })
	first, caller := l.Note(record{Entry{Made: Made{Op: "first"}}})
	if first != 1 || caller != 7 {
		t.Errorf("the first call is %d, made at %d", first, caller)
	}
	if r, ok := l.Find(first); !ok || r.Op != "first" || r.Caller != 7 || r.ID != 1 {
		t.Errorf("found %+v, %v", r, ok)
	}
	if _, ok := l.Find(0); ok {
		t.Error("there is a call 0")
	}
	for range kept {
		l.Note(record{})
	}
	if r, ok := l.Find(first); ok {
		t.Errorf("still found: %+v", r)
	}
	l.Launched("k")
	at = 8
	if name, launch := l.LatestKernel(); name != "k" || launch.Caller != 7 {
		t.Errorf("the latest kernel is %q, launched at %d", name, launch.Caller)
	}
	l.Drained()
	if name, _ := l.LatestKernel(); name != "" || l.LaunchOf("k") != 7 {
		t.Errorf("after all work the latest kernel is %q, launched at %d", name, l.LaunchOf("k"))
	}
	done := l.Wait(Wait{Op: "Meet"})
	if w := l.Waits(); len(w) != 1 || w[0].Op != "Meet" || w[0].Caller != 8 {
		t.Errorf("waits are %+v", w)
	}
	compiled := l.Compile("c++")
	if c := l.Compilation(); c == nil || c.By != "c++" {
		t.Errorf("the compilation is %+v", c)
	}
	done()
	compiled()
	if len(l.Waits()) != 0 || l.Compilation() != nil {
		t.Errorf("at the end: %+v, %+v", l.Waits(), l.Compilation())
	}
}
