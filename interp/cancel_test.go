package interp

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// interrupted lists ways to run or wait for ever.
var interrupted = []struct {
	group string
	cells []string
}{
	{"loops", []string{
		"for {\n}",
		"for i := 0; ; i++ {\n}",
		"for { total++ }",
		"for { fmt.Sprint(total) }",
		"for { func() { total++ }() }",
		"for { total += func(n int) int { return n + 1 }(total) }",
		"for range ticks { for { total++ } }",
		"for i := range 1 << 62 { total = i }",
		"for { for k := range map[int]int{1: 2} { total += k } }",
		"for { for range \"text\" { total++ } }",
		"for i := range func(yield func(int) bool) { for yield(1) { } } { total += i }",
		"for next, stop := iter.Pull(forever); ; { v, _ := next(); total += v; _ = stop }",
		"outer:\nfor { for { total++; continue outer } }",
		"again:\ntotal++\ngoto again",
		"for total >= 0 { switch { case total > 0: total++; default: total++ } }",
		"for { if err := recovering(); err != nil { total++ } }",
		"for { s := make([]int, 1000); s[5] = 1; total += s[5] }",
		"spin()",
		"spins()",
		"new(T).Spin()",
		"T.SpinValue(T{})",
	}},
	{"channels", []string{
		"<-empty", "v := <-empty\nv", "v, ok := <-empty\nfmt.Println(v, ok)", "empty <- 1", "full <- 2",
		"var nilch chan int\n<-nilch", "var nilch chan int\nnilch <- 1", "var nilch chan int\nfor range nilch { }",
		"for range empty { }", "for v := range empty { total += v }",
		"select { }", "select { case <-empty: }", "select { case <-empty: case full <- 1: }",
		"for { select { case <-empty: default: } }", "for { select { case <-ticks: total++; case <-empty: } }",
		"fmt.Println(<-empty)", "func() int { return <-empty }()", "if <-empty == 1 { total++ }", "switch <-empty { case 1: }",
		"var nilch chan int\nselect { case v := <-nilch: total = v; case nilch <- 1: }",
		"receive()",
	}},
	{"waits", []string{
		"mu.Lock()", "rw.Lock()", "rw.RLock()", "wg.Wait()", "held.Lock()", "cond.L.Lock()\ncond.Wait()",
		"var once sync.Once\nonce.Do(func() { for { } })", "var once sync.Once\nonce.Do(func() { <-empty })",
		"time.Sleep(time.Hour)", "for { time.Sleep(time.Millisecond) }", "<-time.After(time.Hour)", "<-time.NewTimer(time.Hour).C",
		"for range time.NewTicker(time.Millisecond).C { total++ }", "<-time.Tick(time.Hour)",
		"ctx, cancel := context.WithCancel(context.Background())\n_ = cancel\n<-ctx.Done()",
		"exec.Command(\"sleep\", \"1000\").Run()", "exec.Command(\"sh\", \"-c\", \"sleep 60; true\").Output()",
		"exec.Command(\"sleep\", \"1000\").CombinedOutput()",
		"c := exec.Command(\"sleep\", \"1000\")\nc.Start()\nc.Wait()",
	}},
	{"callbacks", []string{
		"sort.Slice([]int{1, 2, 3}, func(i, j int) bool { for { } })",
		"sort.Slice([]int{1, 2, 3}, func(i, j int) bool { <-empty; return true })",
		"slices.SortFunc([]int{1, 2, 3}, func(a, b int) int { for { } })",
		"strings.Map(func(r rune) rune { for { } }, \"abc\")",
		"regexp.MustCompile(\".\").ReplaceAllStringFunc(\"abc\", func(string) string { for { total++ } })",
		"fmt.Println(Said{})",
		"Said{}",
		"sync.OnceFunc(func() { for { } })()",
	}},
	{"functions", []string{
		"func() { for { } }()", "defer func() { for { } }()\npanic(1)", "defer spin()", "cl := func() { for { } }\ndefer cl()",
		"func() { defer func() { recover() }(); for { } }()",
		"func() { defer func() { recover(); for { } }(); panic(1) }()",
		"func() { defer fmt.Println(\"deferred\"); for { } }()",
		"fib(60)",
	}},
	{"goroutines", []string{
		"go func() { for { total++ } }()\nselect { }",
		"for range 20 { go func() { for { total++ } }() }\n<-empty",
		"for range 20 { go func() { <-empty; fmt.Println(\"late\") }() }\n<-empty",
		"for range 20 { go func() { time.Sleep(150 * time.Millisecond); fmt.Println(\"late\") }() }\nselect { }",
		"var wg sync.WaitGroup\nwg.Go(func() { for { total++ } })\nwg.Wait()",
		"time.AfterFunc(150*time.Millisecond, func() { fmt.Println(\"late\") })\nselect { }",
		"func() { for { go func() { total++ }() } }()",
		"go func() { time.Sleep(150 * time.Millisecond); go fmt.Println(\"late\") }()\nselect { }",
	}},
}

// TestInterruptEverything checks that code that runs or waits for ever ends soon when it is
// interrupted, that none of it goes on, and that earlier definitions, including closures, do not
// change.
func TestInterruptEverything(t *testing.T) {
	stdout, err := os.CreateTemp(t.TempDir(), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	was := os.Stdout
	os.Stdout = stdout
	defer func() { os.Stdout = was }()
	text := func() string {
		b, err := os.ReadFile(stdout.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	in := open(t, Options{})
	mustEval(t, in, `import ("sync"; "sort"; "slices"; "regexp"; "context"; "os/exec"; "iter")
total := 0
empty, full, ticks := make(chan int), make(chan int, 1), time.NewTicker(time.Millisecond).C
full <- 1
var mu, held sync.Mutex
var rw sync.RWMutex
var wg sync.WaitGroup
cond := sync.NewCond(&sync.Mutex{})
mu.Lock()
held.Lock()
rw.Lock()
wg.Add(1)
type T struct{}
func (*T) Spin() { for { } }
func (T) SpinValue() { for { } }
type Said struct{}
func (Said) String() string { for { } }
func spin() { for { } }
var spins = func() { for { total++ } }
receive := func() int { return <-empty }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func recovering() (err error) { defer func() { err = fmt.Errorf("%v", recover()) }(); panic(1) }
var forever iter.Seq[int] = func(yield func(int) bool) { for yield(1) { } }`)
	mustEval(t, in, "func counter() func() int { c := 0; return func() int { c++; return c } }\nnext := counter()\nalong := make(chan int, 1)\npass := func(v int) int { along <- v; return <-along }")
	mustEval(t, in, "kept := map[string][]int{\"a\": {1, 2}}")
	want := 0
	for _, g := range interrupted {
		for _, src := range g.cells {
			err := interrupt(t, in, src)
			if err == nil || err.Kind != session.KindInterrupted {
				t.Errorf("%q ended with %v", src, err)
				continue
			}
			want++
			if got := mustEval(t, in, "fmt.Sprint(next(), pass(7), kept)"); got != fmt.Sprintf("\"%d 7 map[a:[1 2]]\"", want) {
				t.Fatalf("after %q the session has %s", src, got)
			}
			// On a loaded machine the interrupt may come after the output that would be late.
			before, printed := mustEval(t, in, "total"), text()
			if strings.Contains(src, "late") {
				time.Sleep(200 * time.Millisecond)
			} else {
				time.Sleep(2 * time.Millisecond)
			}
			if after := mustEval(t, in, "total"); after != before {
				t.Errorf("%q goes on", src)
			}
			if late := text(); late != printed {
				t.Errorf("%q has printed %q, then %q", src, printed, late)
			}
		}
	}
}

// TestInterruptEndsEarlierGoroutines checks that an interrupt ends the goroutines of earlier cells,
// except for those in a blocking compiled call.
func TestInterruptEndsEarlierGoroutines(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	in := open(t, Options{Packages: testPackage(func() { close(inside); <-release })})
	mustEval(t, in, `import ("sync"; "test/blocking")
counts := make([]int, 4)
ch := make(chan int)
var mu sync.Mutex
mu.Lock()
go func() { for { counts[0]++ } }()
go func() { for { time.Sleep(time.Millisecond); counts[1]++ } }()
go func() { <-ch; counts[2]++ }()
go func() { mu.Lock(); counts[2]++ }()
go func() { blocking.Wait(); counts[3]++ }()`)
	await(t, inside, "a goroutine calls blocking.Wait")
	if e := interrupt(t, in, "for { }"); e == nil || e.Kind != session.KindInterrupted {
		t.Fatalf("got %v", e)
	}
	before := mustEval(t, in, "fmt.Sprint(counts)")
	mustEval(t, in, "select { case ch <- 1: default: }\nmu.Unlock()\ntime.Sleep(20 * time.Millisecond)")
	if after := mustEval(t, in, "fmt.Sprint(counts)"); after != before {
		t.Errorf("the counts were %s and are %s", before, after)
	}
	close(release)
	mustEval(t, in, "for range 30000 { if counts[3] == 1 { break }; time.Sleep(time.Millisecond) }")
	if got := mustEval(t, in, "counts[3]"); got != "1" {
		t.Errorf("what a compiled call blocked has not gone on: %s", got)
	}
}

// TestClose checks that no code of a session goes on when it is closed, except for blocking
// compiled calls.
func TestClose(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	in := open(t, Options{Packages: testPackage(func() { close(inside); <-release })})
	mustEval(t, in, "import \"test/blocking\"\ngo func() { for { } }()\ngo func() { select { } }()\ngo func() { for { time.Sleep(time.Millisecond) } }()\ngo func() { blocking.Wait() }()")
	await(t, inside, "a goroutine calls blocking.Wait")
	in.Close()
	if left := in.runtime.Running(); left != 1 {
		t.Errorf("%d goroutines go on, not 1", left)
	}
	close(release)
}
