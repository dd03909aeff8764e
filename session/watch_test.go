package session

import (
	"testing"
	"time"
)

// A rank that a busy machine keeps from answering for some seconds is shown with its last known
// state; a rank that is silent for long, or is stopped, is shown as not answering.
func TestWhoDoesNotAnswer(t *testing.T) {
	start := time.Unix(0, 0)
	last := start.Add(time.Second)
	waiting := &view{answered: last, waits: []Wait{{Op: "wait_signal", Since: 0.5}}}
	stopped := &view{answered: last, waits: waiting.waits, stopped: true}
	for _, c := range []struct {
		v       *view
		silent  time.Duration
		text    string
		seconds float64
	}{
		{waiting, 3 * time.Second, "waits in wait_signal", 3.5},
		{waiting, 9 * time.Second, "waits in wait_signal", 9.5},
		{waiting, 11 * time.Second, "does not answer", 11},
		{stopped, time.Second, "does not answer: its process is stopped (SIGCONT continues it)", hangAfter.Seconds()},
	} {
		w := watch{since: start, views: []*view{c.v}}
		text, seconds := w.describe(&run{ranks: []int{0}, on: []rankRun{{takesPart: true}}}, 0, last.Add(c.silent), nil)
		if text != c.text || seconds != c.seconds {
			t.Errorf("after %v: %q for %v s, want %q for %v s", c.silent, text, seconds, c.text, c.seconds)
		}
	}
}
