package session

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What is told of waits
//
// A cell that is slow is nobody's business. What is told is that a rank waits and whoever it waits for does not come: that one has finished the cell, does not run
// it, does not answer, or stands still, which is that it computes, sleeps or waits in the same way in one answer after the other. A rank that makes calls, or whose
// device gets through work, gets on; and one that awaits only ranks that get on is not told of either. On a machine that is slow the time counts that a rank has had a
// processor, and where the sanitizer watches kernels none. That all ranks compute or sleep is not told at all.
//
// The table is told once, and again when something in it has become worse. A front end that can show it in place gets it again and again, with its times.

// report returns a table of which rank waits for what, if one waits in vain as far as is known, and it has not been told or has changed. It sets w.again if that is no
// worse than what was told before: it is for front ends that show it in place.
func (w *watch) report(r *run, now time.Time) string {
	answered := !w.since.IsZero() && now.Sub(w.since) >= watchEvery // the ranks have had time to answer
	if !answered || now.Sub(r.started) < hangAfter || !r.interrupted.IsZero() || w.stuck.isDue(now) {
		return ""
	}
	t := w.table(r, now)
	age := now.Sub(r.started).Seconds()
	w.again = true
	if len(t.marks) == 0 || t.typing {
		if !w.hangs {
			return ""
		}
		w.hangs = false
		return fmt.Sprintf("%s has run for %.1f s and goes on\n", r.cell.Title(), age)
	}
	state := ""
	if t.waits {
		state = " and waits"
	}
	text := fmt.Sprintf("%s has run for %.1f s%s (%s interrupts it):\n%s", r.cell.Title(), age, state, r.stop(), t.rows)
	if w.told == nil {
		w.told = map[string]bool{}
	}
	for _, mark := range t.marks {
		w.again = w.again && w.told[mark]
		w.told[mark] = true
	}
	if w.again && now.Sub(w.shown) < againEvery {
		return ""
	}
	w.hangs, w.shown = true, now
	return text
}

// waitTable is what the ranks of a cell do, in lines.
type waitTable struct {
	rows   string
	marks  []string // what of it is worth telling, each without what changes; none if nothing is
	waits  bool     // it is that a rank waits
	typing bool     // a rank waits for a line that the user types
}

// table makes it of the last answers of the ranks, and of the calls of the hub that some have not come to.
func (w *watch) table(r *run, now time.Time) waitTable {
	program := r.c.config.Program
	patient := program != nil && program.Unattended && r.c.size == 1 // nobody wants to know what a rank does that waits for no other
	t := waitTable{}
	lines := map[string][]int{} // ranks by what describe says of them
	longest := map[string]float64{}
	awaited := w.awaitedGroups(r)
	still := w.standStill(r, now)
	for _, rank := range r.ranks {
		text, seconds := w.describe(r, rank, now, awaited)
		lines[text] = append(lines[text], rank)
		longest[text] = max(longest[text], seconds)
		v := w.view(rank)
		t.typing = t.typing || r.runs(rank) && v.manner() == typing
		if tells, waits := w.tells(r, rank, still, now); tells && !(patient && !v.waitsForSomeone()) {
			t.marks = append(t.marks, fmt.Sprint(rank, " ", w.mark(r, rank)))
			t.waits = t.waits || waits
		}
	}
	var rows []string
	width := 0
	for text, ranks := range lines {
		rows = append(rows, text)
		width = max(width, len(FormatRanks(ranks)))
	}
	slices.SortFunc(rows, func(a, b string) int { return lines[a][0] - lines[b][0] })
	var b strings.Builder
	for _, text := range rows {
		fmt.Fprintf(&b, "  rank %-*s  %s", width, FormatRanks(lines[text]), text)
		if longest[text] > 0 {
			fmt.Fprintf(&b, ", for %.1f s", longest[text])
		}
		b.WriteByte('\n')
	}
	for _, p := range r.c.hub.Pending() {
		since := now.Sub(p.Since)
		if since >= hangAfter && (slices.ContainsFunc(p.Missing, func(rank int) bool { return still[rank] }) || w.waitedLong(r, since, p.Missing)) {
			t.marks, t.waits = append(t.marks, fmt.Sprint(p.Call.Op, p.Missing)), true
		}
		fmt.Fprintf(&b, "  %s: rank %s came %.1f s ago, rank %s did not\n", p.Call, FormatRanks(p.Arrived), since.Seconds(), FormatRanks(p.Missing))
	}
	if len(t.marks) > 0 {
		for _, rank := range r.ranks {
			if result := r.on[rank].result; result != nil && result.Err != nil {
				t.marks = append(t.marks, fmt.Sprint(rank, " failed"))
			}
		}
	}
	t.rows = b.String()
	return t
}

// tells reports whether what a rank does is worth telling, where the ranks of still stand still; and whether it is that the rank waits.
func (w *watch) tells(r *run, rank int, still map[int]bool, now time.Time) (tells, waits bool) {
	if !r.runs(rank) {
		return false, false
	}
	v := w.view(rank)
	if w.deaf(v, now) {
		return true, true
	}
	lasts, quiet := w.lasts(v, now), now.Sub(r.shownAt()) >= hangAfter // code that prints goes on
	switch v.manner() {
	case waiting, spinning:
		return lasts >= hangAfter && still[rank], true
	case holding:
		return lasts >= hangAfter, true
	case blocked:
		return lasts >= standAfter && quiet, true
	case compiling:
		return lasts >= compileAfter, false
	case computing, sleeping: // while others have finished, which the cell waits with
		others := slices.ContainsFunc(r.ranks, func(o int) bool { return !r.runs(o) && now.Sub(r.on[o].doneAt) >= standAfter })
		return others && lasts >= standAfter && quiet, false
	}
	return false, false
}

// mark says what of a rank must change to be worth another table: not the number of a call in a loop, nor where code is that goes on.
func (w *watch) mark(r *run, rank int) string {
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

// deaf reports whether a rank that runs the cell does not answer.
func (w *watch) deaf(v *view, now time.Time) bool {
	answered := w.since
	if v != nil && v.answered.After(answered) {
		answered = v.answered
	}
	return now.Sub(answered) > deafAfter || v != nil && v.stopped
}

// lasts returns for how long a rank has done what it does, as far as is known.
func (w *watch) lasts(v *view, now time.Time) time.Duration {
	if v == nil { // it has not answered yet: see deaf
		return 0
	}
	seconds, ago := 0.0, now.Sub(v.answered)
	switch v.manner() {
	case waiting:
		for _, wait := range v.waits {
			seconds = max(seconds, wait.Since)
		}
	case spinning, holding:
		for _, b := range v.busy {
			seconds = max(seconds, b.Since)
		}
	case compiling:
		seconds = v.doing.For
	default:
		if v.slow && v.manner() == computing {
			ago /= slowness
		}
		return v.lasts + ago
	}
	return time.Duration(seconds*float64(time.Second)) + ago
}

// standStill returns the ranks that whoever waits for them waits for in vain, as far as is known: those that do not run the cell, or not any more, that do not answer,
// and that stand still. A rank that awaits only ranks that get on is not among them.
func (w *watch) standStill(r *run, now time.Time) map[int]bool {
	still := map[int]bool{}
	for rank := range r.c.size {
		v := w.view(rank)
		switch after := standAfter; {
		case !r.runs(rank), w.deaf(v, now):
			still[rank] = true
		default:
			if v.manner() == compiling {
				after = compileAfter
			}
			still[rank] = w.lasts(v, now) >= after
		}
	}
	for changed := true; changed; {
		changed = false
		for _, rank := range r.running() {
			v := w.view(rank)
			if m := v.manner(); still[rank] && (m == waiting || m == spinning) && !w.deaf(v, now) && !w.awaitsStill(r, rank, still, now) {
				still[rank], changed = false, true
			}
		}
	}
	return still
}

// awaitsStill reports whether a rank that waits awaits one of still.
func (w *watch) awaitsStill(r *run, rank int, still map[int]bool, now time.Time) bool {
	v := w.view(rank)
	others := slices.DeleteFunc(allRanks(r.c.size), func(o int) bool { return o == rank })
	all := func(ranks []int) bool { return !slices.ContainsFunc(ranks, func(o int) bool { return !still[o] }) }
	if v.manner() == spinning { // whoever changes the memory
		return all(others) || w.waitedLong(r, w.lasts(v, now), others)
	}
	for _, wait := range v.waits {
		since := time.Duration(wait.Since*float64(time.Second)) + now.Sub(v.answered)
		switch peers := []int(wait.Peers); {
		case since < standAfter:
		case len(peers) == 0: // any of them may end it
			if all(others) || w.waitedLong(r, since, others) {
				return true
			}
		case slices.ContainsFunc(peers, func(o int) bool { return still[o] }), w.waitedLong(r, since, peers):
			return true
		}
	}
	return false
}

// waitedLong reports whether a wait for ranks that get on has lasted so long that it is worth telling all the same. On a machine that is slow, and for kernels that
// are watched, no wait has.
func (w *watch) waitedLong(r *run, since time.Duration, ranks []int) bool {
	slow := func(o int) bool { v := w.view(o); return r.runs(o) && v != nil && (v.slow || v.watched) }
	return since >= comeWithin && !slices.ContainsFunc(ranks, slow)
}
