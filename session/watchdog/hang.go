package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
)

// Which waits are reported
//
// A slow cell is no reason for a report. A report says that a rank waits and that the rank it waits
// for does not come: that rank has finished the cell, does not run it, does not answer, or stands
// still, which means that it computes, sleeps or waits in the same way in several answers in a row.
// A rank that makes calls, or whose device gets through work, makes progress; a rank that waits
// only for ranks that make progress is not reported either. On a slow machine the watchdog counts
// only the time for which a rank had a processor, and the code of a cell is reported after less of
// that time than a kernel; while the sanitizer watches kernels, the watchdog counts no time. A
// waiting rank must have checked in vain after the awaited rank began its present work: the awaited
// rank may have ended the wait before. If all ranks compute or sleep, there is no report.
//
// The table is shown once, and again when an entry has become worse: a moment later, as other entries
// become worse at nearly the same time. A front end that can show it
// in place gets it again and again, with current times.

// report returns the table of waits, and its text under a head, if a rank seems to wait in vain,
// and the table has changed or was not shown yet. The text is "" otherwise. It sets w.again if the
// table is no worse than the last one: it is then for front ends that show it in place.
func (w *Watch) report(cell *Snapshot) (text string, t waitTable) {
	answered := !w.since.IsZero() && cell.Now.Sub(w.since) >= watchEvery // the ranks have had time to answer
	hung := cell.Started.Add(HangAfter)
	if !answered || cell.Now.Before(hung) || !cell.Interrupted.IsZero() {
		return "", t
	}
	if w.judgeMachine(cell); w.stuck.isDue(cell.Now, hung, w.slow) {
		return "", t
	}
	t = w.table(cell)
	age := cell.Now.Sub(cell.Started).Seconds()
	w.again = true
	if len(t.marks) == 0 || t.typing {
		w.worse = time.Time{}
		if !w.hangs {
			return "", t
		}
		w.hangs = false
		return fmt.Sprintf("%s has run for %.1f s and goes on\n", cell.Title, age), waitTable{}
	}
	state := ""
	if t.waits {
		state = " and waits"
	}
	text = fmt.Sprintf("%s has run for %.1f s%s (%s interrupts it):\n%s", cell.Title, age, state, cell.Stop, t.rows)
	if !w.isDue(t.marks, cell.Now) {
		return "", t
	}
	w.hangs, w.shown = true, cell.Now
	return text, t
}

// isDue reports whether a table with these marks is to be shown now. It sets w.again, and notes the marks
// of a table that is due.
func (w *Watch) isDue(marks []string, now time.Time) bool {
	w.again = !slices.ContainsFunc(marks, func(mark string) bool { return !w.told[mark] })
	switch {
	case w.again:
		w.worse = time.Time{}
		return now.Sub(w.shown) >= againEvery
	case w.worse.IsZero():
		w.worse = now
		return false
	case now.Sub(w.worse) < tableSettles:
		return false
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	for _, mark := range marks {
		w.told[mark] = true
	}
	w.worse = time.Time{}
	return true
}

// waitTable describes the ranks of a cell in lines.
type waitTable struct {
	rows   string
	list   []session.HangRow
	marks  []string // the facts that are worth a report, without numbers that change; none if there are none
	waits  bool     // one of these facts is that a rank waits
	typing bool     // a rank waits for a line that the user types
	cycle  []int    // see watch.cycle
}

// table makes the table from the last answers of the ranks, and from calls at the hub in which
// ranks are missing.
func (w *Watch) table(cell *Snapshot) waitTable {
	patient := cell.Unattended && len(cell.Ranks) == 1 // a single rank that waits for no other needs no report
	t := waitTable{}
	lines := map[string][]int{} // ranks by their description
	longest := map[string]float64{}
	telling := map[string]bool{} // descriptions of ranks that are worth a report
	awaited := w.awaitedGroups(cell)
	still := w.standStill(cell)
	for _, rank := range cell.members() {
		text, seconds := w.Describe(cell, rank, awaited)
		lines[text] = append(lines[text], rank)
		longest[text] = max(longest[text], seconds)
		v := w.view(rank)
		t.typing = t.typing || cell.runs(rank) && v.manner() == typing
		if tells, waits := w.tells(cell, rank, still); tells && !(patient && !v.waitsForSomeone()) {
			telling[text] = true
			t.waits = t.waits || waits
		}
	}
	for text := range telling { // a row tells of all its ranks, also of those that came to it a moment later
		for _, rank := range lines[text] {
			t.marks = append(t.marks, fmt.Sprint(rank, " ", w.mark(cell, rank)))
		}
	}
	var rows []string
	width := 0
	for text, ranks := range lines {
		rows = append(rows, text)
		width = max(width, len(session.FormatRanks(ranks)))
	}
	slices.SortFunc(rows, func(a, b string) int { return lines[a][0] - lines[b][0] })
	var b strings.Builder
	for _, text := range rows {
		row := session.HangRow{Ranks: lines[text], Doing: text, For: longest[text]}
		if v := w.view(row.Ranks[0]); v != nil && cell.runs(row.Ranks[0]) {
			row.Waits = v.waits
		}
		t.list = append(t.list, row)
		fmt.Fprintf(&b, "  rank %-*s  %s", width, session.FormatRanks(lines[text]), text)
		if longest[text] > 0 {
			fmt.Fprintf(&b, ", for %.1f s", longest[text])
		}
		b.WriteByte('\n')
	}
	for _, p := range cell.Pending {
		since := w.sinceStop(cell.Now.Sub(p.Since), cell.Now)
		if since >= HangAfter && (slices.ContainsFunc(p.Missing, func(rank int) bool { return still[rank] }) ||
			w.waitedLong(cell, since, p.Missing)) {
			t.marks, t.waits = append(t.marks, fmt.Sprint(p.Call.Op, p.Missing)), true
		}
		fmt.Fprintf(&b, "  %s: rank %s came %.1f s ago, rank %s did not\n", p.Call, session.FormatRanks(p.Arrived), since.Seconds(),
			session.FormatRanks(p.Missing))
	}
	if t.cycle = w.cycle(cell); t.cycle != nil {
		fmt.Fprintf(&b, "  %s\n", describeCycle(t.cycle))
	}
	if len(cell.NCCL) > 0 && len(t.marks) > 0 {
		rows := "  " + strings.Join(cell.NCCL, "\n  ") + "\n"
		t.marks = append(t.marks, rows)
		b.WriteString(rows)
	}
	if len(t.marks) > 0 {
		for _, rank := range cell.members() {
			if result := cell.Ranks[rank].Result; result != nil && result.Err != nil {
				t.marks = append(t.marks, fmt.Sprint(rank, " failed"))
			}
		}
	}
	t.rows = b.String()
	return t
}

// tells reports whether a rank's activity is worth a report, and whether the reason is that it
// waits. still holds the ranks that stand still.
func (w *Watch) tells(cell *Snapshot, rank int, still map[int]bool) (tells, waits bool) {
	if !cell.runs(rank) {
		return false, false
	}
	v := w.view(rank)
	if w.deaf(v, cell.Now) {
		return true, true
	}
	lasts, quiet := w.lasts(v, cell.Now), cell.Now.Sub(cell.Shown) >= HangAfter // code that prints makes progress
	switch v.manner() {
	case waiting, spinning:
		return lasts >= HangAfter && still[rank], true
	case holding:
		return lasts >= HangAfter, true
	case blocked:
		return lasts >= standAfter && quiet, true
	case compiling:
		return lasts >= compileAfter, false
	case computing, sleeping: // reported only if other ranks have finished and wait for the end of the cell
		others := slices.ContainsFunc(cell.members(), func(o int) bool { return !cell.runs(o) && w.absent(cell, o) })
		return others && lasts >= standAfter && quiet, false
	}
	return false, false
}

// mark returns the part of a rank's description whose change is worth another table: without the
// number of a call in a loop, and without the position of running code.
func (w *Watch) mark(cell *Snapshot, rank int) string {
	v := w.view(rank)
	if v == nil {
		return ""
	}
	switch m := v.manner(); m {
	case waiting:
		var parts []string
		for _, wait := range v.waits {
			parts = append(parts, fmt.Sprint(wait.Op, wait.At, wait.Peers))
		}
		return strings.Join(parts, ";")
	case blocked:
		return v.doing.String()
	default:
		return fmt.Sprint(m)
	}
}

// deaf reports whether a rank that runs the cell does not answer. On a slow machine an answer takes longer:
// see judgeMachine.
func (w *Watch) deaf(v *view, now time.Time) bool {
	return w.silent(v, now) > w.slow.Stretch(deafAfter) || v != nil && v.stopped
}

// silent returns the time since the last answer of a rank, or since the first question.
func (w *Watch) silent(v *view, now time.Time) time.Duration {
	answered := w.since
	if v != nil && v.answered.After(answered) {
		answered = v.answered
	}
	return now.Sub(answered)
}

// judgeMachine notes how slow the machine is: as the slowest rank that runs the cell.
func (w *Watch) judgeMachine(cell *Snapshot) {
	w.slow = 0
	for _, rank := range cell.running() {
		if v := w.view(rank); v != nil {
			w.slow = max(w.slow, v.slow)
		}
	}
}

// lasts returns the time for which a rank is known to have been in its present activity. It does not grow
// while the rank's next answer is overdue: the rank may have gone on.
func (w *Watch) lasts(v *view, now time.Time) time.Duration {
	if v == nil { // the rank has not answered yet: see deaf
		return 0
	}
	seconds, ago := 0.0, min(now.Sub(v.answered), watchEvery)
	switch v.manner() {
	case waiting:
		for _, wait := range v.waits {
			seconds = max(seconds, wait.Since)
		}
		if !v.alone.IsZero() { // until then the device alone waited
			seconds = min(seconds, v.answered.Sub(v.alone).Seconds())
		}
	case spinning, holding:
		for _, b := range v.busy {
			seconds = max(seconds, b.Since)
		}
	case compiling:
		seconds = v.doing.For
	default:
		if v.manner() == computing {
			ago = v.computes(ago)
		}
		return v.lasts + ago
	}
	return w.sinceStop(time.Duration(seconds*float64(time.Second))+ago, now)
}

// standStill returns the ranks that seem unable to end a wait: ranks that do not run the cell or
// have finished it a while ago, that do not answer, or that stand still. A rank that waits only for
// ranks that make progress is not among them.
func (w *Watch) standStill(cell *Snapshot) map[int]bool {
	w.judgeMachine(cell)
	still := map[int]bool{}
	for rank := range len(cell.Ranks) {
		v := w.view(rank)
		switch after := standAfter; {
		case !cell.runs(rank):
			still[rank] = w.absent(cell, rank)
		case w.deaf(v, cell.Now):
			still[rank] = true
		default:
			if v.manner() == compiling {
				after = compileAfter
			}
			still[rank] = w.lasts(v, cell.Now) >= after
		}
	}
	for changed := true; changed; {
		changed = false
		for _, rank := range cell.running() {
			v := w.view(rank)
			if m := v.manner(); still[rank] && (m == waiting || m == spinning) && !w.deaf(v, cell.Now) && !w.awaitsStill(cell, rank, still) {
				still[rank], changed = false, true
			}
		}
	}
	return still
}

// absent reports whether a rank does not take part in the cell, or finished it a while ago. A rank that
// waited for it may not have seen that yet: see mayHaveEnded.
func (w *Watch) absent(cell *Snapshot, rank int) bool {
	return !cell.Ranks[rank].TakesPart || cell.Now.Sub(cell.Ranks[rank].DoneAt) >= standAfter
}

// awaitsStill reports whether a waiting rank waits for one of still.
func (w *Watch) awaitsStill(cell *Snapshot, rank int, still map[int]bool) bool {
	v := w.view(rank)
	others := slices.DeleteFunc(rankset.All(len(cell.Ranks)), func(o int) bool { return o == rank })
	// all: no other rank can end a wait any more, or is known to have ended it
	all := !slices.ContainsFunc(others, func(o int) bool { return !still[o] || !cell.runs(o) && w.mayHaveEnded(cell, v, o) })
	if v.manner() == spinning { // for any rank that may change the memory
		return all || w.waitedLong(cell, w.lasts(v, cell.Now), others)
	}
	for _, wait := range v.waits {
		since := w.sinceStop(time.Duration(wait.Since*float64(time.Second))+cell.Now.Sub(v.answered), cell.Now)
		switch peers := awaited(wait, rank, cell.Pending); {
		case since < standAfter, wait.Host && len(peers) == 0: // all have come, and the call is about to return
		case len(peers) == 0: // any rank may end the wait
			if all || w.waitedLong(cell, since, others) {
				return true
			}
		case slices.ContainsFunc(peers, func(o int) bool { return still[o] && !w.mayHaveEnded(cell, v, o) }), w.waitedLong(cell, since, peers):
			return true
		}
	}
	return false
}

// awaited returns the ranks for which rank waits in a wait. If the call meets at the hub, these are the
// ranks that have not come.
func awaited(wait session.Wait, rank int, pending []bootstrap.Pending) []int {
	if !wait.Host {
		return wait.Peers
	}
	for _, p := range pending {
		if p.Call.Op == wait.Op && rankset.Contains(p.Arrived, rank) {
			return p.Missing
		}
	}
	return nil
}

// mayHaveEnded reports whether the waits of v may be over: its rank is not known to have checked them since
// the awaited rank began its present activity.
func (w *Watch) mayHaveEnded(cell *Snapshot, v *view, awaited int) bool {
	began := w.since
	switch o := w.view(awaited); {
	case !cell.runs(awaited):
		began = cell.Ranks[awaited].DoneAt // zero if it does not take part
	case o != nil:
		began = o.answered.Add(-w.lasts(o, o.answered))
	}
	return v.checked.Before(began)
}

// waitedLong reports whether a wait for ranks that make progress has lasted so long that it is
// worth a report all the same. On a slow machine, for kernels that the sanitizer watches, and just
// after one of those ranks has finished the cell, it returns false.
func (w *Watch) waitedLong(cell *Snapshot, since time.Duration, ranks []int) bool {
	excused := func(o int) bool {
		if !cell.runs(o) {
			return cell.Ranks[o].TakesPart && cell.Now.Sub(cell.Ranks[o].DoneAt) < w.slow.Stretch(standAfter)
		}
		v := w.view(o)
		return v != nil && (v.slow > 0 || v.watched)
	}
	return since >= comeWithin && !slices.ContainsFunc(ranks, excused)
}

// InNCCL reports whether a rank waits inside NCCL for so long that the table may say so.
func (w *Watch) InNCCL(cell *Snapshot) bool {
	for _, rank := range cell.running() {
		v := w.view(rank)
		if v == nil {
			continue
		}
		for _, wait := range v.waits {
			if wait.NCCL && time.Duration(wait.Since*float64(time.Second))+cell.Now.Sub(v.answered) >= HangAfter {
				return true
			}
		}
	}
	return false
}
