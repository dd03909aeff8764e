package watchdog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// A rank that a busy machine keeps from answering for some seconds is shown with its last known
// state; a rank that is silent for long, or is stopped, is shown as not answering.
func TestWhoDoesNotAnswer(t *testing.T) {
	start := time.Unix(0, 0)
	last := start.Add(time.Second)
	waiting := &view{answered: last, waits: []session.Wait{{Op: "wait_signal", Since: 0.5}}}
	stopped := &view{answered: last, waits: waiting.waits, stopped: true}
	slow := &view{answered: last, waits: waiting.waits, slow: 8}
	slower := &view{answered: last, waits: waiting.waits, slow: 16}
	for _, c := range []struct {
		v       *view
		silent  time.Duration
		text    string
		seconds float64
	}{
		{waiting, 3 * time.Second, "waits in wait_signal", 3.5},
		{waiting, 9 * time.Second, "waits in wait_signal", 9.5},
		{waiting, 11 * time.Second, "does not answer", 11},
		{slow, 79 * time.Second, "waits in wait_signal", 79.5},
		{slow, 81 * time.Second, "does not answer", 81},
		{slower, 159 * time.Second, "waits in wait_signal", 159.5},
		{slower, 161 * time.Second, "does not answer", 161},
		{stopped, time.Second, "does not answer: its process is stopped (SIGCONT continues it)", HangAfter.Seconds()},
	} {
		w := Watch{since: start, views: []*view{c.v}}
		cell := &Snapshot{Now: last.Add(c.silent), Ranks: []Rank{{TakesPart: true}}}
		w.judgeMachine(cell)
		text, seconds := w.Describe(cell, 0, nil)
		if text != c.text || seconds != c.seconds {
			t.Errorf("after %v: %q for %v s, want %q for %v s", c.silent, text, seconds, c.text, c.seconds)
		}
	}
}

// A rank that has not stopped is killed, unless the machine holds it up, and in the end even then.
func TestHoldsUp(t *testing.T) {
	const limit = 3 * time.Second
	interrupted := time.Unix(1000, 0)
	for _, c := range []struct {
		name            string
		slow            wire.Slowness
		answered, after time.Duration // since the interrupt
		want            bool
	}{
		{"held up", 8, 3 * time.Second, 4 * time.Second, true},
		{"gets processors", 0, 3 * time.Second, 4 * time.Second, false},
		{"no longer answers", 8, time.Second, 4 * time.Second, false},
		{"held up for too long", 8, 24 * time.Second, 24 * time.Second, false},
		{"held up by more", 16, 24 * time.Second, 24 * time.Second, true},
	} {
		w := &Watch{views: []*view{{slow: c.slow, answered: interrupted.Add(c.answered)}}}
		if got := w.HoldsUp(0, interrupted.Add(c.after), interrupted, limit); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if new(Watch).HoldsUp(0, interrupted, interrupted, limit) {
		t.Error("a rank that has never answered is not known to be held up")
	}
}

// A rank that waits is not reported when the rank that it waits for has just finished the cell: the
// wait is about to end. On a slow machine it takes longer to end, unless it was checked since in vain.
func TestJustFinished(t *testing.T) {
	finished := time.Unix(1000, 0)
	for _, c := range []struct {
		name    string
		slow    wire.Slowness
		checked bool
		after   time.Duration
		want    bool
	}{
		{"at once", 0, false, 300 * time.Millisecond, false},
		{"a while ago", 0, false, time.Second, true},
		{"on a slow machine", 8, false, 4 * time.Second, false},
		{"checked since on a slow machine", 8, true, time.Second, true},
		{"checked just before on a slow machine", 8, true, 900 * time.Millisecond, false},
		{"in vain on a slow machine", 8, false, 9 * time.Second, true},
		{"on a slower machine", 16, false, 9 * time.Second, false},
	} {
		now := finished.Add(c.after)
		waits := &view{answered: now, slow: c.slow, waits: []session.Wait{{Op: "barrier", Peers: []int{0}, Since: 20}}}
		if c.checked {
			waits.checked = finished
		}
		cell := &Snapshot{Ranks: []Rank{{TakesPart: true, Result: &session.Result{}, DoneAt: finished}, {TakesPart: true}}}
		w := &Watch{since: finished, views: []*view{nil, waits}}
		if got := w.standStill(cell.at(now))[1]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A wait of the device counts from when the code of the cell has nothing else to do, such as to sleep.
func TestWaitBesideCode(t *testing.T) {
	start := time.Unix(1000, 0)
	w := &Watch{}
	answers := func(after time.Duration, doing *session.Activity) {
		status := &wire.Status{ID: wire.WatchdogQuestion, Waits: []session.Wait{{Op: "wait_signal", Since: after.Seconds()}}, Doing: doing}
		w.Answer([]int{0}, status, nil, start.Add(after))
	}
	answers(3*time.Second, &session.Activity{Sleeps: true})
	answers(4*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(4300*time.Millisecond)); got != 300*time.Millisecond {
		t.Errorf("after a sleep: %v", got)
	}
	answers(6*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(6500*time.Millisecond)); got != 2500*time.Millisecond {
		t.Errorf("later: %v", got)
	}
	w = &Watch{}
	answers(3*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(3200*time.Millisecond)); got != 3200*time.Millisecond {
		t.Errorf("of code that only waits: %v", got)
	}
	if got := w.lasts(w.views[0], start.Add(8*time.Second)); got != 3*time.Second+watchEvery {
		t.Errorf("while an answer is overdue: %v", got)
	}
}

// A rank that waits is reported only if its device has checked the wait after the awaited rank began what
// it does: before, that rank may have ended the wait.
func TestCheckedBefore(t *testing.T) {
	start := time.Unix(1000, 0)
	second := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		name    string
		checked []float64 // when the device of rank 0 checked its wait, at each of its answers, a second apart
		began   float64   // when rank 1 came to its wait, which lasts
		now     float64
		want    bool // rank 0 stands still
	}{
		{"checked at each answer", []float64{1, 2, 3}, 1.5, 3.2, true},
		{"not checked since", []float64{1, 1, 1}, 1.5, 3.2, false},
		{"checked just before", []float64{1, 1.4, 1.4}, 1.5, 3.2, false},
		{"perhaps checked before", []float64{1, 2, 2}, 1.5, 3.2, false},
		{"no answer since", []float64{1}, 1.5, 3.2, false},
		{"an answer since", []float64{1, 2}, 0.9, 3.2, true},
		{"on the host, where a wait that is over is no longer known", []float64{0, 0, 0}, 1.5, 3.2, true},
	} {
		w := &Watch{since: start}
		wait := func(rank int, at, since, checked float64) {
			s := &wire.Status{ID: wire.WatchdogQuestion, Waits: []session.Wait{{Op: "barrier", Peers: []int{1 - rank}, Since: since, Seen: uint64(10 * checked)}}}
			w.Answer([]int{rank}, s, nil, second(at))
		}
		for i, checked := range c.checked {
			wait(0, float64(i+1), float64(i+1), checked)
		}
		for at := 2.0; at <= c.now; at += 0.5 {
			wait(1, at, at-c.began, at)
		}
		cell := &Snapshot{Ranks: []Rank{{TakesPart: true}, {TakesPart: true}}}
		if got := w.standStill(cell.at(second(c.now)))[0]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A kernel that reads a word again and again is reported if it was seen to do so since the other ranks
// have finished the cell, also on a slow machine.
func TestSpinsAfterOthers(t *testing.T) {
	start := time.Unix(1000, 0)
	second := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct {
		name string
		seen []uint64 // at each answer, half a second apart
		want bool
	}{
		{"seen at each answer", []uint64{1, 2, 3}, true},
		{"not seen since", []uint64{1, 1, 1}, false},
		{"the device does not tell", []uint64{0, 0, 0}, true},
	} {
		w := &Watch{since: start}
		for i, seen := range c.seen {
			s := &wire.Status{ID: wire.WatchdogQuestion, Slow: 8, Busy: []session.Busy{{Kernel: "k", Spins: "element 0", Since: float64(i+1) / 2, Seen: seen}}}
			w.Answer([]int{1}, s, nil, second(float64(i+1)/2))
		}
		cell := &Snapshot{Ranks: []Rank{{TakesPart: true, Result: &session.Result{}, DoneAt: second(0.1)}, {TakesPart: true}}}
		if got := w.standStill(cell.at(second(1.6)))[1]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// On a slow machine only the processor time of a rank counts that computes; code of the cell itself needs a
// small part of it.
func TestComputesOnSlowMachine(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name string
		s    wire.Status
		cpu  float64 // processor time in a second
		want time.Duration
	}{
		{"code of the cell", wire.Status{Doing: &session.Activity{At: "cell[1]:1"}}, 0.1, time.Second},
		{"code that hardly runs", wire.Status{Doing: &session.Activity{At: "cell[1]:1"}, Slow: 64}, 0.02, 200 * time.Millisecond},
		{"a compiled call", wire.Status{Doing: &session.Activity{What: "is in sort.Ints"}}, 0.25, 250 * time.Millisecond},
		{"a kernel", wire.Status{Doing: &session.Activity{At: "cell[1]:1"}, Busy: []session.Busy{{Kernel: "k", Goes: true}}}, 0.25, 250 * time.Millisecond},
		{"an operation", wire.Status{Doing: &session.Activity{At: "cell[1]:1"}, Standing: &wire.Standing{Inside: true}}, 0.25, 250 * time.Millisecond},
		{"nothing that is known", wire.Status{}, 0.25, 250 * time.Millisecond},
	} {
		w := &Watch{}
		c.s.ID, c.s.Slow = wire.WatchdogQuestion, max(c.s.Slow, 8)
		for i := range 2 {
			s := c.s
			s.CPU = float64(i) * c.cpu
			w.Answer([]int{0}, &s, nil, start.Add(time.Duration(i)*time.Second))
		}
		if got := w.views[0].lasts; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A rank that has not answered is not asked again for a while.
func TestOneQuestionAtATime(t *testing.T) {
	start := time.Unix(1000, 0)
	w := &Watch{}
	for _, c := range []struct {
		after   time.Duration
		answers []int // ranks that answer before
		want    []int
		name    string
	}{
		{0, nil, []int{0, 1, 2}, "the first question"},
		{500 * time.Millisecond, []int{0, 2}, []int{0, 2}, "rank 1 has not answered"},
		{time.Second, []int{2}, []int{2}, "nor has rank 0 the second question"},
		{2500 * time.Millisecond, nil, []int{1}, "an answer may be lost"},
		{2600 * time.Millisecond, []int{0, 1, 2}, []int{0, 1, 2}, "all have answered"},
	} {
		for _, rank := range c.answers {
			w.Answer([]int{rank}, &wire.Status{ID: wire.WatchdogQuestion}, nil, start.Add(c.after))
		}
		if got := w.toAsk([]int{0, 1, 2}, start.Add(c.after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: asks %v, want %v", c.name, got, c.want)
		}
	}
}

// A table waits a moment for entries that become worse, too, and is shown again when another one does.
func TestTableSettles(t *testing.T) {
	start := time.Unix(1000, 0)
	w := &Watch{}
	for _, c := range []struct {
		after      time.Duration
		marks      []string
		due, again bool
	}{
		{0, []string{"0 waits"}, false, false},
		{150 * time.Millisecond, []string{"0 waits", "1 waits"}, false, false},
		{200 * time.Millisecond, []string{"0 waits", "1 waits"}, true, false},
		{250 * time.Millisecond, []string{"0 waits", "1 waits"}, true, true},
		{300 * time.Millisecond, []string{"0 waits", "1 waits", "2 failed"}, false, false},
		{350 * time.Millisecond, []string{"0 waits", "1 waits"}, true, true},
		{400 * time.Millisecond, []string{"0 waits", "1 waits", "2 failed"}, false, false},
		{700 * time.Millisecond, []string{"0 waits", "2 failed"}, true, false},
	} {
		if due := w.isDue(c.marks, start.Add(c.after)); due != c.due || w.again != c.again {
			t.Errorf("after %v: due %v, again %v, want %v, %v", c.after, due, w.again, c.due, c.again)
		}
	}
	w.shown = start.Add(700 * time.Millisecond)
	if w.isDue([]string{"2 failed"}, start.Add(900*time.Millisecond)) || !w.isDue([]string{"2 failed"}, start.Add(1200*time.Millisecond)) {
		t.Error("a table that is no worse is due every half second")
	}
}

// at returns the snapshot with another time.
func (cell Snapshot) at(now time.Time) *Snapshot {
	cell.Now = now
	return &cell
}

// settledReport returns the report of a table that has not changed for tableSettles.
func settledReport(w *Watch, cell Snapshot, now time.Time) (string, waitTable) {
	w.report(cell.at(now.Add(-tableSettles)))
	return w.report(cell.at(now))
}

// The table shows a finished rank with its last call in a group, if others wait in calls of that
// group.
func TestWatchdogNamesLastCalls(t *testing.T) {
	began := time.Unix(0, 0)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	w, cell := &Watch{}, Snapshot{Title: "cell 1", Started: began, Shown: began, Ranks: []Rank{
		{TakesPart: true, Result: &session.Result{}, Tallies: []session.Tally{
			{Group: "world", Ranks: []int{0, 1, 2}, Calls: 2, Last: "all_gather", At: "cell[1]:3"},
			{Group: "group 0,2", Ranks: []int{0, 2}, Calls: 5, Last: "broadcast"},
		}},
		{TakesPart: true},
		{TakesPart: true, Result: &session.Result{}},
	}}
	w.ask(cell.at(at(time.Second)))
	for _, c := range []struct {
		wait session.Wait
		want string
	}{
		{session.Wait{Op: "all_reduce", Ordinal: 2, Group: "world", Peers: []int{0}, Since: 2},
			"  rank 0  has finished the cell; its last call in world is #2, all_gather at cell[1]:3\n  rank 1  waits in all_reduce #2 for rank 0, for 2.0 s\n  rank 2  has finished the cell\n"},
		{session.Wait{Op: "wait_signal", Group: "world", Peers: []int{0}, Since: 2},
			"  rank 0,2  has finished the cell\n  rank 1    waits in wait_signal for rank 0, for 2.0 s\n"},
	} {
		w.Answer([]int{1}, &wire.Status{Waits: []session.Wait{c.wait}}, nil, at(2*time.Second))
		text, _ := settledReport(w, cell, at(2*time.Second))
		if _, said, _ := strings.Cut(text, "\n"); said != c.want {
			t.Errorf("told\n%swant\n%s", said, c.want)
		}
	}
}

// The watchdog does not report ranks before they have had the time to answer, even if it asked them
// late.
func TestWatchdogAsksFirst(t *testing.T) {
	began := time.Unix(0, 0)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	w, cell := &Watch{}, Snapshot{Title: "cell 1", Stop: "Ctrl-C", Started: began, Shown: began, Ranks: []Rank{{TakesPart: true}, {TakesPart: true}}}
	waits := func(rank int, d time.Duration) {
		w.Answer([]int{rank}, &wire.Status{Waits: []session.Wait{{Op: "wait_signal", Since: d.Seconds()}}}, nil, at(d))
	}
	const moment = 50 * time.Millisecond
	const late = 1900 * time.Millisecond // this process was held up, and asks long after it should have
	if !w.ask(cell.at(at(late))) {
		t.Fatal("the ranks are not asked")
	}
	waits(0, late)
	if said, _ := w.report(cell.at(at(late + moment))); said != "" {
		t.Errorf("told too early:\n%s", said)
	}
	waits(1, late+2*moment)
	const want = "cell 1 has run for 2.6 s and waits (Ctrl-C interrupts it):\n  rank 0,1  waits in wait_signal, for 2.6 s\n"
	said, table := settledReport(w, cell, at(late+watchEvery+tableSettles))
	if rows := table.list; said != want || len(rows) != 1 || rows[0].Doing != "waits in wait_signal" || session.FormatRanks(rows[0].Ranks) != "0,1" {
		t.Errorf("told\n%swant\n%s", said, want)
	}
}
