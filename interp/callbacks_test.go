package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// TestPanicsOnForeignGoroutines checks that when compiled code calls a function of a cell on its
// own goroutine, a panic of the function is an error of the cell, and the process survives.
func TestPanicsOnForeignGoroutines(t *testing.T) {
	const unknown = "panic in a function that compiled code called on a goroutine of its own"
	for _, c := range []struct{ name, cell, err string }{
		{"go", "go func() { panic(1) }()\nselect {}", "cell[2]:1:13: panic: 1 (in a goroutine)"},
		{"WaitGroup.Go", "import \"sync\"\nvar wg sync.WaitGroup\nwg.Go(func() { panic(1) })\nselect {}", "cell[2]:3:16: panic: 1 (in a goroutine)"},
		{"WaitGroup.Go as a value", "import \"sync\"\nvar wg sync.WaitGroup\nstart := wg.Go\nstart(func() {\n\tpanic(1)\n})\nselect {}", "cell[2]:5:2: " + unknown},
		{"time.AfterFunc", "time.AfterFunc(0, func() { panic(1) })\nselect {}", "cell[2]:1:28: panic: 1 (in a goroutine)"},
		{"context.AfterFunc", "import \"context\"\nctx, cancel := context.WithCancel(context.Background())\ncontext.AfterFunc(ctx, func() { panic(1) })\ncancel()\nselect {}",
			"cell[2]:3:33: panic: 1 (in a goroutine)"},
		{"a writer of os/exec", "import \"os/exec\"\ntype W struct{ n int }\nfunc (w *W) Write(p []byte) (int, error) {\n\tpanic(1)\n}\nc := exec.Command(\"echo\", \"a\")\nc.Stdout = &W{}\nc.Run()",
			"cell[2]:4:2: " + unknown},
		{"below a recover", "import \"sync\"\nvar wg sync.WaitGroup\nstart := wg.Go\nch := make(chan any)\nstart(func() { defer func() { ch <- recover() }(); panic(1) })\nv := <-ch\npanic(v)", ": panic: 1"},
		{"sync.OnceFunc", "import \"sync\"\nf := sync.OnceFunc(func() { panic(1) })\nf()", "cell[2]:2:29: panic: 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := open(t, Options{})
			mustEval(t, in, "kept := 1\nnext := func() int { kept++; return kept }")
			ctx, cancel := context.WithTimeout(context.Background(), patient())
			defer cancel()
			r := in.Eval(ctx, session.Cell{ID: 2, Source: c.cell})
			if r.Err == nil || !strings.HasSuffix(r.Err.Error(), c.err) {
				t.Errorf("got %v, want %s", r.Err, c.err)
			}
			if got := mustEval(t, in, "next()"); got != "2" {
				t.Errorf("a closure returns %s, not 2", got)
			}
		})
	}
}

// TestFinalizerPanics checks that the goroutine of finalizers survives a panic.
func TestFinalizerPanics(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "1")
	said := written(t)
	for i := 1; i <= 2; i++ {
		in.runtime.SetFinalizer(&[100]int{i}, func(a *[100]int) { panic(a[0]) })
		want := fmt.Sprintf("panic: %d (in a goroutine)\n", i)
		for start := time.Now(); !strings.HasSuffix(said(), want); time.Sleep(time.Millisecond) {
			if runtime.GC(); time.Since(start) > patient() {
				t.Fatalf("standard error is %q, want %q at its end", said(), want)
			}
		}
	}
}
