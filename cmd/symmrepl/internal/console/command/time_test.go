package command

import (
	"context"
	"testing"

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
