package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
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

// A rank that has not stopped is killed, unless the machine holds it up, and in the end even then.
func TestHoldsUp(t *testing.T) {
	const limit = 3 * time.Second
	interrupted := time.Unix(1000, 0)
	for _, c := range []struct {
		name            string
		slow            bool
		answered, after time.Duration // since the interrupt
		want            bool
	}{
		{"held up", true, 3 * time.Second, 4 * time.Second, true},
		{"gets processors", false, 3 * time.Second, 4 * time.Second, false},
		{"no longer answers", true, time.Second, 4 * time.Second, false},
		{"held up for too long", true, 24 * time.Second, 24 * time.Second, false},
	} {
		w := &watch{views: []*view{{slow: c.slow, answered: interrupted.Add(c.answered)}}}
		if got := w.holdsUp(0, interrupted.Add(c.after), interrupted, limit); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if new(watch).holdsUp(0, interrupted, interrupted, limit) {
		t.Error("a rank that has never answered is not known to be held up")
	}
}

// A rank that waits is not reported when the rank that it waits for has just finished the cell: the
// wait is about to end. On a slow machine it takes longer to end.
func TestJustFinished(t *testing.T) {
	finished := time.Unix(1000, 0)
	for _, c := range []struct {
		name  string
		slow  bool
		after time.Duration
		want  bool
	}{
		{"at once", false, 300 * time.Millisecond, false},
		{"a while ago", false, time.Second, true},
		{"on a slow machine", true, 4 * time.Second, false},
		{"in vain on a slow machine", true, 9 * time.Second, true},
	} {
		now := finished.Add(c.after)
		waits := &view{answered: now, slow: c.slow, waits: []Wait{{Op: "barrier", Peers: []int{0}, Since: 20}}}
		r := &run{c: &controller{size: 2}, ranks: []int{0, 1}, on: []rankRun{{takesPart: true, result: &Result{}, doneAt: finished}, {takesPart: true}}}
		w := &watch{since: finished, views: []*view{nil, waits}}
		if got := w.standStill(r, now)[1]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A wait of the device counts from when the code of the cell has nothing else to do, such as to sleep.
func TestWaitBesideCode(t *testing.T) {
	start := time.Unix(1000, 0)
	w := &watch{}
	answers := func(after time.Duration, doing *Activity) {
		status := &statusEvent{ID: watchdogQuestion, Waits: []Wait{{Op: "wait_signal", Since: after.Seconds()}}, Doing: doing}
		w.answer(runEvent{[]int{0}, answer{event{Status: status}, nil}}, start.Add(after))
	}
	answers(3*time.Second, &Activity{Sleeps: true})
	answers(4*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(4300*time.Millisecond)); got != 300*time.Millisecond {
		t.Errorf("after a sleep: %v", got)
	}
	answers(6*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(6500*time.Millisecond)); got != 2500*time.Millisecond {
		t.Errorf("later: %v", got)
	}
	w = &watch{}
	answers(3*time.Second, nil)
	if got := w.lasts(w.views[0], start.Add(4*time.Second)); got != 4*time.Second {
		t.Errorf("of code that only waits: %v", got)
	}
}

// A rank whose answers stay away for a while, or that has hardly a processor, may have gone on: the
// ranks that wait for it are reported only when it certainly does not come.
func TestMayHaveGoneOn(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		slow   bool
		since  float64       // seconds of the wait in the last answer
		silent time.Duration // since then
		want   bool
	}{
		{"waits", false, 1.2, 300 * time.Millisecond, true},
		{"waited a moment, and has not answered since", false, 0.1, 1400 * time.Millisecond, false},
		{"waited long, and has not answered since", false, 1.2, 1400 * time.Millisecond, false},
		{"answers at last", false, 2.6, 10 * time.Millisecond, true},
		{"does not answer at all", false, 0.1, 11 * time.Second, true},
		{"gets hardly a processor", true, 4, 300 * time.Millisecond, false},
		{"waits in vain on a slow machine", true, 9, 300 * time.Millisecond, true},
	} {
		now := start.Add(time.Minute)
		waits := func(since float64, slow bool, silent time.Duration, peer int) *view {
			return &view{answered: now.Add(-silent), slow: slow, waits: []Wait{{Op: "barrier", Peers: []int{peer}, Since: since}}}
		}
		r := &run{c: &controller{size: 2}, ranks: []int{0, 1}, on: []rankRun{{takesPart: true}, {takesPart: true}}}
		w := &watch{since: start, views: []*view{waits(c.since, c.slow, c.silent, 1), waits(2, false, 0, 0)}}
		if got, _ := w.tells(r, 1, w.standStill(r, now), now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// No report is made from old answers while newer ones are under way, and no wait is reported that
// has ended at the hub.
func TestAboutToEnd(t *testing.T) {
	asked := time.Unix(1000, 0)
	rank := func(answered time.Time) *view {
		return &view{answered: answered, waits: []Wait{{Op: "Empty", Peers: []int{0}, Since: 20, Host: true}}}
	}
	before, after := asked.Add(-400*time.Millisecond), asked.Add(10*time.Millisecond)
	r := &run{c: &controller{size: 2, hub: bootstrap.NewHub(2)}, ranks: []int{0, 1}, on: []rankRun{{takesPart: true}, {takesPart: true}}}
	for _, c := range []struct {
		name  string
		views []*view
		now   time.Duration // since the question
		want  bool
	}{
		{"rank 1 has not answered", []*view{rank(after), rank(before)}, 20 * time.Millisecond, true},
		{"all have answered", []*view{rank(after), rank(after)}, 20 * time.Millisecond, false},
		{"rank 1 is late", []*view{rank(after), rank(before)}, answerSoon, false},
		{"rank 1 was late already", []*view{rank(after), rank(asked.Add(-time.Second))}, 20 * time.Millisecond, false},
		{"rank 1 is stopped", []*view{rank(after), {answered: before, stopped: true}}, 20 * time.Millisecond, false},
		{"rank 1 has never answered", []*view{rank(after)}, 20 * time.Millisecond, true},
	} {
		w := &watch{asked: asked, since: asked.Add(-500 * time.Millisecond), views: c.views}
		if got := w.expects(r, asked.Add(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	w := &watch{since: asked, views: []*view{{answered: after}, rank(after)}}
	w.views[0].lasts = time.Minute
	if w.standStill(r, after)[1] {
		t.Error("a wait stands still though the hub has no such call")
	}
}

// After this process had no processor, or was stopped, ranks do not count as not answering before
// they have had the time to answer.
func TestStoppedSession(t *testing.T) {
	start := time.Unix(1000, 0)
	v := &view{answered: start.Add(time.Second)}
	w := &watch{since: start, ticked: start.Add(time.Second), views: []*view{v}}
	goesOn := start.Add(time.Minute)
	var deaf time.Time
	for now := goesOn; deaf.IsZero() && now.Sub(goesOn) < time.Minute; now = now.Add(tick) {
		w.tick(now)
		if w.deaf(v, now) {
			deaf = now
		}
	}
	if after := deaf.Sub(goesOn); after != deafAfter+tick {
		t.Errorf("counts as not answering %v after the session goes on", after)
	}
}

// A hang is shown once: neither a wait that the table shows already, and that has lasted long enough
// to be reported a moment later, nor the last answer of a stopped rank are worth another table. That
// the process of a rank is stopped is.
func TestTableOnce(t *testing.T) {
	start := time.Unix(1000, 0)
	wait := func(since time.Duration) *statusEvent {
		return &statusEvent{ID: watchdogQuestion, Waits: []Wait{{Op: "wait_signal", Peers: []int{1}, Since: since.Seconds()}}}
	}
	computes := &statusEvent{ID: watchdogQuestion}
	stopped := &processEvent{State: "T"}
	type say struct {
		at   time.Duration
		rank int
		event
	}
	const question = 1500 * time.Millisecond // time of the last one; those before were put at 0.5 and 1 s
	for _, c := range []struct {
		name    string
		answers []say
		want    []time.Duration // times of the tables
	}{
		{"a stopped rank, then the wait for it", []say{
			{500 * time.Millisecond, 1, event{Process: stopped}},
			{question, 0, event{Status: wait(1400 * time.Millisecond)}},
		}, []time.Duration{question}},
		{"an answer from before the stop", []say{
			{500 * time.Millisecond, 1, event{Process: stopped}},
			{question, 0, event{Status: wait(question)}},
			{question + 2*tick, 1, event{Status: wait(0)}},
		}, []time.Duration{question}},
		{"the wait, while the answer that the other rank is stopped is under way", []say{
			{1010 * time.Millisecond, 1, event{Status: computes}},
			{question, 0, event{Status: wait(question)}},
			{question + 2*tick, 1, event{Process: stopped}},
		}, []time.Duration{question + 2*tick}},
		{"a rank that is stopped later", []say{
			{510 * time.Millisecond, 1, event{Status: computes}},
			{question, 0, event{Status: wait(question)}},
			{question, 1, event{Status: computes}},
			{question + 6*tick, 1, event{Process: stopped}},
		}, []time.Duration{question + tick, question + 6*tick}},
	} {
		r := &run{c: &controller{size: 2, hub: bootstrap.NewHub(2)}, ranks: []int{0, 1}, started: start,
			on: []rankRun{{takesPart: true}, {takesPart: true}}}
		w := &r.watch
		var got []time.Duration
		for at := time.Duration(0); at <= question+8*tick; at += tick {
			now := start.Add(at)
			w.tick(now)
			w.ask(now, start, false)
			for _, a := range c.answers {
				if a.at <= at && a.at > at-tick {
					w.answer(runEvent{[]int{a.rank}, answer{a.event, nil}}, now)
				}
			}
			if text, _ := w.report(r, now); text != "" && !w.again {
				got = append(got, at)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: tables after %v, want %v", c.name, got, c.want)
		}
	}
}

// After a table, the session does not say that the cell goes on because an answer is overdue, or
// because the machine has become slow.
func TestGoesOn(t *testing.T) {
	start := time.Unix(1000, 0)
	now := start.Add(time.Minute)
	for _, c := range []struct {
		name string
		v    view
		want bool
	}{
		{"overdue", view{answered: now.Add(-time.Second), waits: []Wait{{Op: "barrier", Peers: []int{0}, Since: 3}}}, false},
		{"slow", view{answered: now, slow: true, waits: []Wait{{Op: "barrier", Peers: []int{0}, Since: 3}}}, false},
		{"waits for another call", view{answered: now, waits: []Wait{{Op: "barrier", At: "in:2", Peers: []int{0}, Since: 0.1}}}, true},
	} {
		r := &run{c: &controller{size: 2, hub: bootstrap.NewHub(2)}, ranks: []int{0, 1}, started: start,
			on: []rankRun{{takesPart: true}, {takesPart: true}}}
		told := map[string]bool{fmt.Sprint(1, " ", "barrier", []int{0}): true}
		w := &watch{since: start, views: []*view{{answered: now}, &c.v}, hangs: true, told: told}
		if text, _ := w.report(r, now); (text != "") != c.want {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}
