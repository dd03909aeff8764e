package interp

import (
	"context"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// patient returns the time for which tests wait for events that should be immediate.
func patient() time.Duration { return pace.Unhurried(time.Minute) }

// testPackage is a package with a function that blocks.
func testPackage(wait func()) Exports {
	return Exports{"test/blocking/blocking": {"Wait": reflect.ValueOf(wait)}}
}

// open returns a session that is closed at the end of the test, together with the code that it left
// running.
func open(t testing.TB, options Options) *Interp {
	t.Helper()
	in, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// inOwnProcess runs the test in a process of its own, in which it returns true. The heap has nothing
// of other tests there, so that it can be measured and collected quickly, and no goroutine of theirs
// runs.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	const name = "INTERP_TEST_ALONE"
	if os.Getenv(name) != "" {
		return true
	}
	t.Parallel()
	test := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	test.Env = append(os.Environ(), name+"=1")
	if said, err := test.CombinedOutput(); err != nil || !strings.Contains(string(said), "--- PASS: "+t.Name()+" ") {
		t.Errorf("%v\n%s", err, said)
	}
	return false
}

// evaluate runs a cell, and interrupts it if it has not ended by then.
func evaluate(in *Interp, cell session.Cell) session.Result {
	ctx, cancel := context.WithTimeout(context.Background(), patient())
	defer cancel()
	return in.Eval(ctx, cell)
}

// mustEval runs a cell that must succeed, and returns its value.
func mustEval(t testing.TB, in *Interp, src string) string {
	t.Helper()
	r := evaluate(in, session.Cell{ID: 1, Source: src})
	if r.Err != nil {
		t.Fatalf("%s: %v\n%s", src, r.Err, r.Err.Detail)
	}
	return r.Value
}

// await waits until c is closed; what describes the event.
func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patient()):
		t.Fatalf("in %v it has not happened that %s", patient(), what)
	}
}

// written returns a function that returns what was written to standard error since the call of
// written, as long as the test runs.
func written(t *testing.T) func() string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = f
	t.Cleanup(func() {
		os.Stderr = was
		f.Close()
	})
	return func() string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
