package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Times of the watchdog.
const (
	watchAfter  = time.Second             // a cell is watched once it has run this long
	watchEvery  = 500 * time.Millisecond  // between two questions to the ranks
	abortEvery  = 50 * time.Millisecond   // the same, while a rank has failed and others run on
	hangAfter   = 1500 * time.Millisecond // a wait that lasts longer is reported
	repeatAfter = 30 * time.Second        // the same report is not repeated sooner
	deathAfter  = 700 * time.Millisecond  // a death is told after so long, even if it is not clear what the other ranks do
	silentAfter = 2 * time.Second         // a cell that has shown nothing for so long is reported once, whatever its ranks do
	deafAfter   = 10 * time.Second        // a rank that is not stopped does not answer when it has not for so long: a busy machine may hold it up
)

// watch is the watchdog of one cell: the last answers of the ranks, and the last report.
type watch struct {
	asked    time.Time
	since    time.Time // when the first question was put
	views    []*view   // by rank; nil before the first answer
	reported string    // the last report, without its times
	saidAt   time.Time
	told     bool // deaths have been told: see deaths
	asking   bool // unstopped has told of ranks
}

// view is the last that is known of one rank.
type view struct {
	answered time.Time
	waits    []Wait
	doing    *Activity // if there are no waits and it is known
	busy     []Busy
	late     string // the calls of interrupted cells that still run
	still    bool   // it was blocked in the same way in the answer before
	stopped  bool
}

// ask reports whether it is time to ask the ranks. If so, it assumes that the caller does.
func (w *watch) ask(now, started time.Time, failing bool) bool {
	due := now.Sub(started) >= watchAfter && now.Sub(w.asked) >= watchEvery
	due = due || (failing && now.Sub(w.asked) >= abortEvery)
	if due {
		w.asked = now
		if w.since.IsZero() {
			w.since = now
		}
	}
	return due
}

// answer records an answer of ranks.
func (w *watch) answer(e runEvent, now time.Time) {
	for _, rank := range e.ranks {
		if n := rank + 1 - len(w.views); n > 0 {
			w.views = append(w.views, make([]*view, n)...)
		}
		v := w.views[rank]
		if v == nil {
			v = &view{}
			w.views[rank] = v
		}
		if e.Process != nil {
			v.stopped = e.Process.State == "T" || e.Process.State == "t"
			continue
		}
		doing := e.Status.Doing
		v.still = doing != nil && v.doing != nil && doing.Blocked && *doing == *v.doing
		v.answered, v.waits, v.doing, v.busy, v.late = now, e.Status.Waits, doing, e.Status.Busy, e.Status.Late
	}
}

// waitsForSomeone reports whether the rank waits for what another may never do, as far as is known.
func (v *view) waitsForSomeone() bool {
	return v != nil && (len(v.waits) > 0 || slices.ContainsFunc(v.busy, func(b Busy) bool { return b.Spins != "" }))
}

// view returns the last that is known of a rank, nil if nothing is.
func (w *watch) view(rank int) *view {
	if rank < len(w.views) {
		return w.views[rank]
	}
	return nil
}

// waits returns what rank waited for according to its last answer, if that came later than after.
func (w *watch) waits(rank int, after time.Time) []Wait {
	if v := w.view(rank); v != nil && v.answered.After(after) {
		return v.waits
	}
	return nil
}

// report returns a table of which rank waits for what, if one has waited too long and the table differs from the last one shown.
func (w *watch) report(r *run, now time.Time) string {
	answered := !w.since.IsZero() && now.Sub(w.since) >= watchEvery // the ranks have had time to answer
	if !answered || now.Sub(r.started) < hangAfter || !r.interrupted.IsZero() {
		return ""
	}
	t := w.table(r, now)
	state := " and waits"
	if !t.hang && !t.typing && !t.patient && w.reported == "" && now.Sub(r.shownAt()) >= silentAfter {
		t.hang, state = true, ""
	}
	if !t.hang || (t.key == w.reported && now.Sub(w.saidAt) < repeatAfter) {
		return ""
	}
	w.reported, w.saidAt = t.key, now
	return fmt.Sprintf("%s has run for %.1f s%s (%s interrupts it):\n%s", r.cell.Title(), now.Sub(r.started).Seconds(), state, r.stop(), t.rows)
}

// waitTable is what the ranks of a cell do, in lines.
type waitTable struct {
	rows    string
	key     string // what of them must change to be worth another table
	hang    bool   // a rank has waited too long
	typing  bool   // a rank waits for a line that the user types
	patient bool   // nobody wants to know what a rank does that waits for no other
}

// table makes it of the last answers of the ranks, and of the calls of the hub that some have not come to.
func (w *watch) table(r *run, now time.Time) waitTable {
	program := r.c.config.Program
	t := waitTable{patient: program != nil && program.Unattended && r.c.size == 1}
	lines := map[string][]int{} // ranks by what describe says of them
	longest := map[string]float64{}
	same := map[string]string{} // what of that must change to be worth another table
	awaited := w.awaitedGroups(r)
	for _, rank := range r.ranks {
		text, seconds := w.describe(r, rank, now, awaited)
		if r.runs(rank) && seconds >= hangAfter.Seconds() && !(t.patient && !w.view(rank).waitsForSomeone()) {
			t.hang = true
		}
		same[text] = text
		if v := w.view(rank); v != nil && v.doing != nil && r.runs(rank) {
			t.hang = t.hang || v.still && !t.patient && !v.doing.Input && now.Sub(r.shownAt()) >= hangAfter // code that prints goes on
			t.typing = t.typing || v.doing.Input
			if rest, does := strings.CutPrefix(text, v.doing.String()); does {
				same[text] = v.doing.moving() + rest
			}
		}
		lines[text] = append(lines[text], rank)
		longest[text] = max(longest[text], seconds)
	}
	var rows []string
	width := 0
	for text, ranks := range lines {
		rows = append(rows, text)
		width = max(width, len(FormatRanks(ranks)))
	}
	slices.SortFunc(rows, func(a, b string) int { return lines[a][0] - lines[b][0] })
	var b, key strings.Builder
	for _, text := range rows {
		fmt.Fprintf(&key, "%s\n", same[text])
		if same[text] == text {
			fmt.Fprintln(&key, lines[text])
		}
		fmt.Fprintf(&b, "  rank %-*s  %s", width, FormatRanks(lines[text]), text)
		if longest[text] > 0 {
			fmt.Fprintf(&b, ", for %.1f s", longest[text])
		}
		b.WriteByte('\n')
	}
	for _, p := range r.c.hub.Pending() {
		seconds := now.Sub(p.Since).Seconds()
		t.hang = t.hang || seconds >= hangAfter.Seconds()
		fmt.Fprintf(&key, "%v %v %v\n", p.Call, p.Arrived, p.Missing)
		fmt.Fprintf(&b, "  %s: rank %s came %.1f s ago, rank %s did not\n", p.Call, FormatRanks(p.Arrived), seconds, FormatRanks(p.Missing))
	}
	t.rows, t.key = b.String(), key.String()
	return t
}

// deaths tells of the ranks that died, once, when it is clear that others run on all the same, or when they have not ended after deathAfter. Those that wait for a rank that died are
// released, and their errors name it; those that compute, print or wait for something else would keep silent about it.
func (w *watch) deaths(r *run, now time.Time) string {
	if w.told || !r.hasDied || !r.interrupted.IsZero() {
		return ""
	}
	goesOn := func(rank int) bool {
		v := w.view(rank)
		return v != nil && v.answered.Sub(r.failedAt) >= abortGrace && r.on[rank].aborted == ""
	}
	if others := r.running(); len(others) == 0 || !slices.ContainsFunc(others, goesOn) && now.Sub(r.failedAt) < deathAfter {
		return ""
	}
	w.told = true
	return fmt.Sprintf("%s; %s still runs on other ranks (%s interrupts it)\n", r.deathCauses(), r.cell.Title(), r.stop())
}

// deathCauses says how ranks died: "rank 1 was killed (SIGKILL)".
func (r *run) deathCauses() string {
	alike, order := map[string][]int{}, []string(nil)
	for _, rank := range r.ranks {
		if how := r.on[rank].died; how != "" {
			if alike[how] == nil {
				order = append(order, how)
			}
			alike[how] = append(alike[how], rank)
		}
	}
	for i, how := range order {
		order[i] = fmt.Sprintf("rank %s %s", FormatRanks(alike[how]), how)
	}
	return strings.Join(order, "; ")
}

// togetherAgain follows the causes of deaths that are told while the next workers start.
const togetherAgain = "; the ranks are brought together again\n"

// announceDeaths tells of the ranks that died, after deathAfter, if that has not been told and nothing else is: the cell has ended, but its reply comes when
// fresh workers have taken over. What is shown meanwhile goes through show. The caller calls done before it returns the reply.
func (r *run) announceDeaths(out func(Output)) (show func(Output), done func()) {
	if r.watch.told || !r.hasDied {
		return out, func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(time.Until(r.failedAt.Add(deathAfter)), func() {
		defer close(said)
		out(Output{Ranks: r.ranks, Stream: Note, Text: r.deathCauses() + togetherAgain})
	})
	done = sync.OnceFunc(func() {
		if !timer.Stop() {
			<-said
		}
	})
	return func(o Output) { done(); out(o) }, done
}

// unstopped tells once which ranks an interrupt has not stopped, what they do, and by what the user has them replaced.
func (w *watch) unstopped(r *run, now time.Time) string {
	if w.asking || len(r.running()) == 0 {
		return ""
	}
	w.asking = true
	ranks := map[string][]int{} // by what they do
	for _, rank := range r.running() {
		does, _ := w.describe(r, rank, now, nil)
		ranks[does] = append(ranks[does], rank)
	}
	var b strings.Builder
	for _, does := range sortedKeys(ranks) {
		who, has, it, its := "rank", "has", "it", "its"
		if len(ranks[does]) > 1 {
			who, has, it, its = "ranks", "have", "them", "their"
		}
		fmt.Fprintf(&b, "%s %s %s not stopped, %s; %s replaces %s: %s variables are lost\n", who, FormatRanks(ranks[does]), has, does, r.cell.Again, it, its)
	}
	return b.String()
}

// describe returns what a rank does, in words without times, and for how many seconds it has waited if it waits. awaited is awaitedGroups.
func (w *watch) describe(r *run, rank int, now time.Time, awaited map[string]bool) (string, float64) {
	if result := r.on[rank].result; result != nil {
		if result.Err != nil {
			return "failed: " + firstLine(result.Err.Msg), 0
		}
		return joined("has finished the cell"+lastCalls(r.on[rank].tallies, awaited), r.on[rank].late), 0
	}
	v := w.view(rank)
	answered := w.since
	if v != nil && v.answered.After(answered) {
		answered = v.answered
	}
	if silent := now.Sub(answered); silent > deafAfter || (v != nil && v.stopped) {
		text := "does not answer"
		if v != nil && v.stopped {
			text += ": its process is stopped (SIGCONT continues it)"
		}
		return text, max(silent, hangAfter).Seconds()
	}
	if v == nil {
		return "runs", 0
	}
	text := describeWaits(v.waits)
	switch {
	case text == "" && v.doing != nil:
		text = v.doing.String()
	case text == "" && len(v.busy) == 0:
		text = "runs"
	}
	longest := 0.0
	for _, wait := range v.waits {
		longest = max(longest, wait.Since+now.Sub(v.answered).Seconds())
	}
	for _, b := range v.busy {
		longest = max(longest, b.Since+now.Sub(v.answered).Seconds())
	}
	return joined(joined(text, describeBusy(v.busy)), v.late), longest
}

// joined puts two remarks about a rank into one, either of which may be "".
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// awaitedGroups returns the groups, by their names, in which ranks wait in a numbered call.
func (w *watch) awaitedGroups(r *run) map[string]bool {
	groups := map[string]bool{}
	for _, rank := range r.ranks {
		if v := w.view(rank); v != nil && r.runs(rank) {
			for _, wait := range v.waits {
				if wait.Ordinal > 0 {
					groups[wait.Group] = true
				}
			}
		}
	}
	return groups
}

// lastCalls returns, in words, the last calls of a rank that is done in the groups in which others wait in a numbered call. If the calls
// differ, that is why they wait.
func lastCalls(tallies []Tally, awaited map[string]bool) string {
	text := ""
	for _, t := range tallies {
		if !awaited[t.Group] {
			continue
		}
		text += fmt.Sprintf("; its last call in %s is #%d, %s", t.Group, t.Calls, t.Last)
		if t.At != "" {
			text += " at " + t.At
		}
	}
	return text
}

// describeWaits returns what a rank waits for, in words without times: "waits in wait_signal #14 at cell[8]:1 for rank 1: a
// signal on channel 3".
func describeWaits(waits []Wait) string {
	var parts []string
	for _, w := range waits {
		s := "waits in " + w.Op
		if w.Ordinal > 0 {
			s += fmt.Sprintf(" #%d", w.Ordinal)
		}
		if w.Group != "" && w.Group != "world" {
			s += " of " + w.Group
		}
		if w.At != "" {
			s += " at " + w.At
		}
		if len(w.Peers) > 0 {
			s += " for rank " + FormatRanks(w.Peers)
		}
		if w.For != "" {
			s += ": " + w.For
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}
