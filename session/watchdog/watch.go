package watchdog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Times of the watchdog.
const (
	watchAfter   = 500 * time.Millisecond  // a cell is watched once it has run this long
	watchEvery   = 500 * time.Millisecond  // between two questions to the ranks
	standEvery   = 200 * time.Millisecond  // the same, while some rank stands before a statement
	abortEvery   = 50 * time.Millisecond   // the same, while a rank has failed and others still run
	HangAfter    = 1500 * time.Millisecond // a wait that lasts longer is reported, if the awaited rank stands still
	standAfter   = time.Second             // a rank stands still if it has made no progress for this time
	compileAfter = 5 * time.Second         // the same for a rank that compiles
	// a wait that lasts longer is reported even if the awaited rank makes progress, unless the
	// machine is slow
	comeWithin   = 10 * time.Second
	againEvery   = 500 * time.Millisecond // between two tables, if the second is no worse
	tableSettles = 200 * time.Millisecond // time for which a table waits for entries that become worse, too
	answerWithin = 2 * time.Second        // a rank that has not answered within this time is asked again
	DeathAfter   = 700 * time.Millisecond // a death is reported after this time, even if the state of the other ranks is not known
	// a rank that is not stopped counts as not answering only after this time, and on a slow machine
	// after a longer time
	deafAfter = 10 * time.Second
	// code of a cell that runs for this part of the time counts as running all the time: the code
	// between two calls is short
	codePart = 10
)

// AbortGrace is the time between the first failure of a rank and the release of the ranks that wait for it.
const AbortGrace = 100 * time.Millisecond

// Watch is the watchdog of one cell: the last answers of the ranks, and the reports so far.
type Watch struct {
	asked      time.Time
	since      time.Time         // when the first question was put
	open       map[int]time.Time // when the question was put that a rank has not answered yet
	views      []*view           // by rank; nil before the first answer
	told       map[string]bool   // the marks of the tables shown so far: see waitTable
	shown      time.Time
	worse      time.Time     // since when the table is worse than the one shown last; zero if it is not
	again      bool          // the table was no worse than the one before
	hangs      bool          // a wait was reported, and not that the cell goes on
	ToldDeaths bool          // deaths have been reported: see TellDeaths
	asking     bool          // unstopped has reported ranks
	slow       wire.Slowness // of the machine: see judgeMachine
	stuck      suspicion

	resumed time.Time // when ranks that stood went on; zero if none did
}

// view is the latest knowledge of one rank.
type view struct {
	answered time.Time
	run      uint64 // in hand
	waits    []session.Wait
	doing    *session.Activity // its activity besides waits in operations, if known
	busy     []session.Busy
	late     string // the calls of interrupted cells that still run
	standing *wire.Standing
	cpu      float64 // processor time that it has used, in seconds
	slow     wire.Slowness
	checked  time.Time     // its device has checked all its waits in vain after this time
	watched  bool          // it is in a kernel that the sanitizer watches, so the duration says nothing
	alone    time.Time     // when code of the cell was first seen to do nothing besides a wait, after it was seen to do something
	does     string        // a description that does not change while the rank stands still
	lasts    time.Duration // time for which it was seen to do that; processor time if it is slow
	stopped  bool
}

// ask reports whether it is time to ask the ranks. If so, it assumes that the caller asks them.
func (w *Watch) ask(cell *Snapshot) bool {
	since := cell.Now.Sub(w.asked)
	due := cell.Now.Sub(cell.Started) >= watchAfter && since >= watchEvery
	failing := !cell.FailedAt.IsZero() && cell.Now.Sub(cell.FailedAt) >= AbortGrace
	if due = due || failing && since >= abortEvery; due && w.since.IsZero() {
		w.since = cell.Now
	}
	if due = due || cell.Stands && since >= standEvery; due {
		w.asked = cell.Now
	}
	return due
}

// toAsk returns those of ranks that are to be asked now. A rank that is slow to answer is not asked again
// meanwhile: its other commands, such as an interrupt, would wait behind the questions. It assumes that
// the caller asks them.
func (w *Watch) toAsk(ranks []int, now time.Time) []int {
	if w.open == nil {
		w.open = map[int]time.Time{}
	}
	ask := rankset.Filter(ranks, func(rank int) bool {
		put, isOpen := w.open[rank]
		return !isOpen || now.Sub(put) > answerWithin
	})
	for _, rank := range ask {
		w.open[rank] = now
	}
	return ask
}

// Answer records an answer of ranks.
func (w *Watch) Answer(ranks []int, status *wire.Status, process *wire.Process, now time.Time) {
	for _, rank := range ranks {
		if n := rank + 1 - len(w.views); n > 0 {
			w.views = append(w.views, make([]*view, n)...)
		}
		v := w.views[rank]
		if v == nil {
			v = &view{}
			w.views[rank] = v
		}
		if process != nil {
			if v.stopped = process.State == "T" || process.State == "t"; v.stopped {
				delete(w.open, rank) // so that it is noticed when the process continues
			}
			continue
		}
		s, before := status, *v
		if s.ID != wire.WatchdogQuestion && s.ID != 0 {
			continue // the answer to a look, or to :ranks
		}
		delete(w.open, rank)
		v.answered, v.run, v.waits, v.doing, v.busy, v.late, v.standing = now, s.Run, s.Waits, s.Doing, s.Busy, s.Late, s.Standing
		v.cpu, v.slow = s.CPU, s.Slow
		v.watched = v.sanitized() && s.Standing.Inside
		if before.doing != nil && v.doing == nil {
			v.alone = now
		}
		if haveChecked(before, *v) {
			v.checked = before.answered
		}
		v.does = v.describe()
		switch over := now.Sub(before.answered); {
		case v.does != before.does || v.watched && v.manner() == computing:
			v.lasts = 0
		case v.slow > 0 && v.manner() == computing: // it has had less processor time than that
			used := time.Duration((v.cpu - before.cpu) * float64(time.Second))
			if v.runsCode() {
				used *= codePart
			}
			v.lasts += min(over, max(used, v.computes(over)))
		default:
			v.lasts += over
		}
	}
}

// haveChecked reports whether the device has checked all waits of an answer in vain since the last answer,
// before. If not, a wait may be over: on a busy machine its thread has to get a processor before it sees
// that.
func haveChecked(before, now view) bool {
	for _, w := range now.waits {
		if w.Seen != 0 && slices.ContainsFunc(before.waits, func(o session.Wait) bool { return o.Op == w.Op && o.Seen == w.Seen }) {
			return false
		}
	}
	for _, b := range now.busy {
		if b.Seen != 0 && slices.ContainsFunc(before.busy, func(o session.Busy) bool { return o.Kernel == b.Kernel && o.Seen == b.Seen }) {
			return false
		}
	}
	return true
}

// manner is the way in which a rank spends its time.
type manner int

const (
	computing manner = iota // also if the manner is not known
	waiting                 // for other ranks, in operations
	spinning                // its kernel waits for a word of memory
	holding                 // its kernel runs, and it is not known whether the kernel computes
	blocked                 // in Go: for another goroutine, a file, a process
	sleeping
	compiling
	typing // it waits for a line that the user types
)

// manner derives the manner from the last answer.
func (v *view) manner() manner {
	if v == nil {
		return computing
	}
	alone := v.doing == nil // otherwise the device waits while the code of the cell runs
	switch {
	case alone && len(v.waits) > 0:
		return waiting
	case v.doing != nil && v.doing.Input:
		return typing
	case v.doing != nil && v.doing.Compiles:
		return compiling
	case v.doing != nil && v.doing.Sleeps:
		return sleeping
	}
	inside := v.standing == nil || v.standing.Inside
	if (inside || alone) && !v.sanitized() { // under the sanitizer this says nothing
		for _, b := range v.busy {
			switch {
			case b.Spins != "":
				return spinning
			case !b.Goes:
				return holding
			}
		}
	}
	if v.doing != nil && v.doing.Blocked && !v.doing.Beside && (v.standing == nil || !v.standing.Inside) {
		return blocked
	}
	return computing
}

// runsCode reports whether the rank is in code of the cell itself: in no compiled call, and no kernel of it
// runs.
func (v *view) runsCode() bool {
	return v.doing != nil && v.doing.What == "" && !v.doing.Blocked && (v.standing == nil || !v.standing.Inside) && len(v.busy) == 0
}

// computes returns the time that counts of the time d for which a rank computes.
func (v *view) computes(d time.Duration) time.Duration {
	if v.runsCode() {
		return (v.slow / codePart).Shrink(d)
	}
	return v.slow.Shrink(d)
}

// sanitized reports whether the sanitizer watches the rank's kernels.
func (v *view) sanitized() bool { return v.standing != nil && v.standing.Watched }

// describe describes the rank's activity in words that change when it makes progress.
func (v *view) describe() string {
	moves := uint64(0)
	if v.standing != nil {
		moves = v.standing.Moves
	}
	switch m := v.manner(); m {
	case waiting:
		return DescribeWaits(v.waits)
	case spinning, holding:
		return DescribeBusy(v.busy)
	case blocked, typing:
		return v.doing.String()
	case sleeping:
		return fmt.Sprint(v.doing.String(), moves)
	case compiling:
		return v.doing.String()
	}
	return fmt.Sprint("computes ", moves)
}

// waitsForSomeone reports whether the rank is known to wait for an action of another rank.
func (v *view) waitsForSomeone() bool {
	return v != nil && (len(v.waits) > 0 || slices.ContainsFunc(v.busy, func(b session.Busy) bool { return b.Spins != "" }))
}

// view returns the latest knowledge of a rank, nil if there is none.
func (w *Watch) view(rank int) *view {
	if rank < len(w.views) {
		return w.views[rank]
	}
	return nil
}

// Waits returns the waits in the last answer of rank, if that came later than after.
func (w *Watch) Waits(rank int, after time.Time) []session.Wait {
	if v := w.view(rank); v != nil && v.answered.After(after) {
		return v.waits
	}
	return nil
}

// TellDeaths reports the ranks that died, once, when it is clear that others continue to run, or
// when they have not ended after DeathAfter. Ranks that wait for a dead rank are released, and
// their errors name it. Ranks that compute, print or wait for something else would not mention it.
func (w *Watch) TellDeaths(cell *Snapshot) string {
	if w.ToldDeaths || !cell.HasDied || !cell.Interrupted.IsZero() {
		return ""
	}
	goesOn := func(rank int) bool {
		v := w.view(rank)
		return v != nil && v.answered.Sub(cell.FailedAt) >= AbortGrace && cell.Ranks[rank].Aborted == ""
	}
	if others := cell.running(); len(others) == 0 || !slices.ContainsFunc(others, goesOn) && cell.Now.Sub(cell.FailedAt) < DeathAfter {
		return ""
	}
	w.ToldDeaths = true
	return fmt.Sprintf("%s; %s still runs on other ranks (%s interrupts it)\n", DeathCauses(cell), cell.Title, cell.Stop)
}

// DeathCauses describes how ranks died: "rank 1 was killed (SIGKILL)".
func DeathCauses(cell *Snapshot) string {
	alike, order := map[string][]int{}, []string(nil)
	for _, rank := range cell.members() {
		if how := cell.Ranks[rank].Died; how != "" {
			if alike[how] == nil {
				order = append(order, how)
			}
			alike[how] = append(alike[how], rank)
		}
	}
	for i, how := range order {
		order[i] = fmt.Sprintf("rank %s %s", session.FormatRanks(alike[how]), how)
	}
	return strings.Join(order, "; ")
}

// Unstopped returns, once, the note about ranks that an interrupt has not stopped: their activity,
// and the user's way to replace them.
func (w *Watch) Unstopped(cell *Snapshot) string {
	if w.asking || len(cell.running()) == 0 {
		return ""
	}
	w.asking = true
	w.judgeMachine(cell)
	ranks := map[string][]int{} // ranks by their activity
	for _, rank := range cell.running() {
		does, _ := w.Describe(cell, rank, nil)
		ranks[does] = append(ranks[does], rank)
	}
	var b strings.Builder
	for _, does := range slices.Sorted(maps.Keys(ranks)) {
		who, has, it, its := "rank", "has", "it", "its"
		if len(ranks[does]) > 1 {
			who, has, it, its = "ranks", "have", "them", "their"
		}
		fmt.Fprintf(&b, "%s %s %s not stopped, %s; %s replaces %s: %s variables are lost\n", who, session.FormatRanks(ranks[does]), has,
			does, cell.Again, it, its)
	}
	return b.String()
}

// HoldsUp reports whether a rank has not stopped yet because the machine holds it up: it waits for
// processors much of the time, has answered within limit, and was interrupted less than its slowness ×
// limit ago.
func (w *Watch) HoldsUp(rank int, now, interrupted time.Time, limit time.Duration) bool {
	v := w.view(rank)
	return v != nil && v.slow > 0 && now.Sub(v.answered) < limit && now.Sub(interrupted) < v.slow.Stretch(limit)
}

// Describe describes the activity of a rank, without times, and returns the seconds for which it
// has waited, if it waits. awaited is the result of awaitedGroups.
func (w *Watch) Describe(cell *Snapshot, rank int, awaited map[string]bool) (string, float64) {
	if result := cell.Ranks[rank].Result; result != nil {
		if result.Err != nil {
			return "failed: " + wire.FirstLine(result.Err.Msg), 0
		}
		return Joined(cell.done()+lastCalls(cell.Ranks[rank].Tallies, awaited), cell.Ranks[rank].Late), 0
	}
	v := w.view(rank)
	if w.deaf(v, cell.Now) {
		text := "does not answer"
		if v != nil && v.stopped {
			text += ": its process is stopped (SIGCONT continues it)"
		}
		return text, max(w.silent(v, cell.Now), HangAfter).Seconds()
	}
	if v == nil {
		return "runs", 0
	}
	text := DescribeWaits(v.waits)
	switch {
	case v.doing != nil:
		text = Joined(text, v.doing.String())
	case text == "" && len(v.busy) == 0:
		text = "runs"
	}
	longest := 0.0
	for _, wait := range v.waits {
		longest = max(longest, wait.Since+cell.Now.Sub(v.answered).Seconds())
	}
	for _, b := range v.busy {
		longest = max(longest, b.Since+cell.Now.Sub(v.answered).Seconds())
	}
	if v.doing != nil && v.doing.For > 0 {
		longest = max(longest, v.doing.For+cell.Now.Sub(v.answered).Seconds())
	}
	return Joined(Joined(text, DescribeBusy(v.busy)), v.late), longest
}

// awaitedGroups returns the names of the groups in which ranks wait in a numbered call.
func (w *Watch) awaitedGroups(cell *Snapshot) map[string]bool {
	groups := map[string]bool{}
	for _, rank := range cell.members() {
		if v := w.view(rank); v != nil && cell.runs(rank) {
			for _, wait := range v.waits {
				if wait.Ordinal > 0 {
					groups[wait.Group] = true
				}
			}
		}
	}
	return groups
}

// HeardSince reports whether a rank has answered since a time, or cannot answer because its process is
// stopped.
func (w *Watch) HeardSince(rank int, since time.Time) bool {
	v := w.view(rank)
	return v != nil && (v.stopped || !v.answered.Before(since))
}
