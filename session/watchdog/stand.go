package watchdog

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// standWait is the time in seconds: a rank that has waited for so long is taken to wait for those that stand.
const standWait = 0.3

// WaitForStanding returns the ranks that wait, in an operation, for ranks that stand or that wait in
// this way since then; and those that wait for a line that the user types.
func (w *Watch) WaitForStanding(cell *Snapshot, since time.Time) map[int]bool {
	held := map[int]bool{}
	for _, rank := range cell.running() {
		v := w.view(rank)
		if v == nil || cell.Ranks[rank].Stands != nil || v.answered.Before(since) {
			continue
		}
		m := v.manner()
		held[rank] = m == typing || m == spinning ||
			m == waiting && slices.ContainsFunc(v.waits, func(on session.Wait) bool { return on.Since+cell.Now.Sub(v.answered).Seconds() >= standWait })
	}
	for _, p := range cell.Pending { // calls that meet on the host
		for _, rank := range p.Arrived {
			held[rank] = held[rank] || cell.runs(rank) && cell.Ranks[rank].Stands == nil && cell.Now.Sub(p.Since).Seconds() >= standWait &&
				slices.ContainsFunc(p.Missing, func(missing int) bool { return cell.Ranks[missing].Stands != nil })
		}
	}
	halts := func(rank int) bool { return cell.Ranks[rank].Stands != nil || held[rank] || !cell.runs(rank) }
	for changed := true; changed; {
		changed = false
		for _, rank := range cell.running() {
			v := w.view(rank)
			if !held[rank] || v == nil || v.manner() != waiting {
				continue
			}
			if !slices.ContainsFunc(v.waits, func(on session.Wait) bool {
				return len(on.Peers) == 0 || slices.ContainsFunc(on.Peers, func(peer int) bool { return peer != rank && halts(peer) })
			}) {
				held[rank], changed = false, true
			}
		}
	}
	return held
}

// Resume makes the watchdog begin anew: ranks stood until now.
func (w *Watch) Resume(now time.Time) {
	asked := w.asked
	*w = Watch{asked: asked, since: now, told: w.told, shown: w.shown, hangs: w.hangs, ToldDeaths: w.ToldDeaths, asking: w.asking, resumed: now}
}

// sinceStop bounds the duration of something that lasts now by the time since ranks stood.
func (w *Watch) sinceStop(lasts time.Duration, now time.Time) time.Duration {
	if w.resumed.IsZero() {
		return lasts
	}
	return min(lasts, now.Sub(w.resumed))
}
