package interp

import (
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// FuzzPrepare checks that checking and lowering do not panic for any text, and that a cell is
// either accepted or refused as a whole: the session is as usable after preparing the cell as
// before.
func FuzzPrepare(f *testing.F) {
	for _, s := range sessions {
		for _, st := range s.steps {
			f.Add(st.cell)
		}
	}
	in := open(f, Options{})
	f.Fuzz(func(t *testing.T, src string) {
		in.mu.Lock()
		_, failed := in.prepare(session.Cell{ID: 1, Source: src})
		in.mu.Unlock()
		if failed != nil && failed.Msg == "" {
			t.Errorf("%q fails without a word", src)
		}
	})
}

// TestGoroutinePanicAfterItsCell checks that a panic of a goroutine that outlives its cell does not
// end the process.
func TestGoroutinePanicAfterItsCell(t *testing.T) {
	said := written(t)
	in := open(t, Options{})
	mustEval(t, in, "start, done := make(chan int), make(chan int)\ngo func() {\n\tdefer close(done)\n\t<-start\n\tpanic(\"late\")\n}()")
	mustEval(t, in, "close(start)\n<-done")
	want := "cell[1]:5:2: panic: late (in a goroutine)\n"
	for deadline := time.Now().Add(patient()); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		switch text := said(); {
		case text == want:
			return
		case len(text) >= len(want):
			t.Fatalf("standard error is %q", text)
		}
	}
	t.Error("nothing was said about the panic")
}

// TestNames checks that packages of the options are available without an import.
func TestNames(t *testing.T) {
	calls := 0
	in := open(t, Options{Packages: testPackage(func() { calls++ }), Names: map[string]string{"b": "test/blocking"}})
	mustEval(t, in, "b.Wait()\nb.Wait()")
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
	if r := evaluate(in, session.Cell{Name: "file.go", Line: 10, Source: "\nb.Nope()"}); r.Err == nil || r.Err.Error() != "file.go:11:3: undefined: b.Nope" {
		t.Errorf("got %v", r.Err)
	}
}

// TestLog checks that package log writes to standard error.
func TestLog(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "import (\"log\"; \"bytes\")\nvar b bytes.Buffer\nlog.SetOutput(&b)\nlog.SetFlags(0)\nlog.Println(\"said\", 1)")
	defer mustEval(t, in, "import \"os\"\nlog.SetOutput(os.Stderr)\nlog.SetFlags(log.LstdFlags)")
	if got := mustEval(t, in, "b.String()"); got != `"said 1\n"` {
		t.Errorf("the log is %s", got)
	}
}
