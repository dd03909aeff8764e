package interp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// interrupt runs a cell, interrupts it once it has called started, and returns its error and how long Eval took from then.
func interrupt(t *testing.T, in *Interp, src string) (*session.Error, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	timer := time.AfterFunc(30*time.Millisecond, func() { at = time.Now(); cancel() })
	defer timer.Stop()
	r := in.Eval(ctx, session.Cell{ID: 1, Source: src})
	if at.IsZero() {
		t.Fatalf("%q ended by itself: %v", src, r.Err)
	}
	return r.Err, time.Since(at)
}

func TestInterrupt(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustEval(t, in, `import "sync"
total := 0
func counter() func() int { c := 0; return func() int { c++; return c } }
next := counter()
next()
func spin() { for { } }
func rec(n int) int { for i := 0; ; i++ { n += rec2(n) } }
func rec2(n int) int { return n + 1 }
ch := make(chan int)
var mu sync.Mutex
mu.Lock()
var wg sync.WaitGroup
wg.Add(1)`)
	want := 1
	for _, src := range []string{
		"for { }",
		"for i := 0; ; i++ { }",
		"for { total++ }",
		"func() { for { } }()",
		"spin()",
		"rec(1)",
		"<-ch",
		"v := <-ch\nv",
		"ch <- 1",
		"select {}",
		"select { case <-ch: case ch <- 1: }",
		"for range ch { }",
		"time.Sleep(time.Hour)",
		"for { time.Sleep(time.Millisecond) }",
		"mu.Lock()",
		"wg.Wait()",
		"<-time.After(time.Hour)",
		"go func() { for { total++ } }()\nselect {}",
		"func() { defer func() { recover() }(); for { } }()",
		"cl := func() { for { } }\ndefer cl()",
		"defer func() { for { } }()",
		"for { func() { total++ }() }",
		"for { fmt.Sprint(total) }",
		"for i := range func(yield func(int) bool) { for { if !yield(1) { return } } } { total += i }",
	} {
		err, took := interrupt(t, in, src)
		if err == nil || err.Kind != session.KindInterrupted {
			t.Errorf("%q ended with %v", src, err)
			continue
		}
		if took > time.Second {
			t.Errorf("%q took %v to end", src, took)
		}
		// Nothing goes on, and closures made before work as before.
		want++
		if got := mustEval(t, in, "next()"); got != fmt.Sprint(want) {
			t.Fatalf("after %q a closure returns %s, not %d", src, got, want)
		}
		a := mustEval(t, in, "total")
		time.Sleep(2 * time.Millisecond)
		if b := mustEval(t, in, "total"); a != b {
			t.Errorf("%q goes on after it was interrupted", src)
		}
	}
}

// TestInterruptWithError holds that a wait which ends with an error of its own says more than that it was interrupted.
func TestInterruptWithError(t *testing.T) {
	stopped := make(chan struct{})
	cause := errors.New("rank 2 never came")
	in, err := New(Options{
		Packages: testPackage(func() { <-stopped; panic(cause) }),
		ConvertError: func(err error) *session.Error {
			if err == cause {
				return &session.Error{Kind: session.KindInterrupted, Peer: 2, Msg: err.Error()}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { close(stopped); cancel() })
	r := in.Eval(ctx, session.Cell{ID: 1, Source: "import \"test/blocking\"\n\nblocking.Wait()"})
	if r.Err == nil || r.Err.Kind != session.KindInterrupted || r.Err.Peer != 2 || r.Err.Line != 3 {
		t.Errorf("got %#v", r.Err)
	}
	if got := mustEval(t, in, "1 + 1"); got != "2" {
		t.Errorf("1 + 1 is %s", got)
	}
}

// TestInterruptPlace holds that the position of an interrupted cell is one in that cell.
func TestInterruptPlace(t *testing.T) {
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustEval(t, in, "\n\nfunc half(n int) int {\n\treturn 10 / n\n}")
	for _, c := range []struct {
		src  string
		line int // 0 when there is no position
	}{
		{"\nfor { }", 2},
		{"half(2)\nfor { }", 0}, // what was marked last is in the other cell
		{"\n\ntime.Sleep(time.Hour)", 3},
	} {
		err, _ := interrupt(t, in, c.src)
		if err == nil || err.Kind != session.KindInterrupted || err.Line != c.line || (err.File != "") != (c.line > 0) {
			t.Errorf("%q: got %#v, want line %d", c.src, err, c.line)
		}
	}
}
