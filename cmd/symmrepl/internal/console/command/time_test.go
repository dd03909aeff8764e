package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestTime(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnEval = func(session.Cell) session.Reply { return session.Reply{Elapsed: 0.00125} }
	c.Run(context.Background(), ":time x")
	if got, want := out.String(), "elapsed 1.25 ms\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	for seconds, want := range map[float64]string{3e-5: "30.0 µs", 1.5: "1.50 s", 90: "1m30s"} {
		if got := formatSeconds(seconds); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}

// Code that runs several times, or in turns with another, is the body of a function.
func TestTimeRuns(t *testing.T) {
	c, fake, out := newConsole()
	var sources []string
	fake.OnEval = func(cell session.Cell) session.Reply {
		sources = append(sources, cell.Source)
		return session.Reply{}
	}
	for entry, want := range map[string]string{
		":time -n 20 f(1)":                 "symm.MeasureRuns(20, func() { f(1)\n})",
		":time -n 3\nf(1)\ng()":            "symm.MeasureRuns(3, func() { f(1)\ng()\n})",
		":time f(1)\n%%\ng()":              "symm.MeasureTurns(20, func() { f(1)\n}, func() {\ng()\n})",
		":time -n 9 f(20)\n %% \ng()\nh()": "symm.MeasureTurns(9, func() { f(20)\n}, func() {\ng()\nh()\n})",
		":time -x\ny":                      "-x\ny",
	} {
		sources = nil
		if c.Run(context.Background(), entry); len(sources) != 1 || sources[0] != want {
			t.Errorf("%q runs %q, want %q", entry, sources, want)
		}
	}
	out.Reset()
	sources = nil
	for _, entry := range []string{":time -n", ":time -n x f()", ":time -n 0 f()", ":time -n 5", ":time %%\nf()", ":time f()\n%%",
		":time a()\n%%\nb()\n%%\nc()"} {
		if c.Run(context.Background(), entry) != console.Failed {
			t.Errorf("%q does not fail", entry)
		}
	}
	if len(sources) != 0 {
		t.Errorf("what is refused has run %q", sources)
	}
}

func TestTimedCode(t *testing.T) {
	for arg, want := range map[string]string{"-n 20 f(": "f(", "f()\n%%\ng(": "g(", "x": "x", "-n 5 ": ""} {
		if code, ok := timedCode(arg); !ok || code != want {
			t.Errorf("the code in %q is %q, %v, want %q", arg, code, ok, want)
		}
	}
	if code, ok := timedCode("-n"); ok {
		t.Errorf("-n without a number has the code %q", code)
	}
}
