package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// When a wait cannot end
//
// The watchdog reports ranks that wait for a rank that does not come (hang.go); that rank may still
// come. A cell is ended only if no rank can come any more: all ranks of the session stand still,
// and some rank waits for ranks that will not end its wait. A worker reports that its rank stands
// still (session/worker/status.go) if
//
//  - no code of cells runs or can run later: no goroutine of any cell, no timer that calls a
//    function, no goroutine of compiled code. Code inside a call that returns only when the device
//    or another rank makes progress does not count as running;
//  - each stream is idle, or is in one of symmrepl's operations that waits for a signal or for
//    other ranks to make the same call, or runs a user's kernel that stands still. A user's kernel
//    may do anything, so a rank that runs one does not stand still, except on the cpu device. There
//    the emulator knows whether all blocks have begun and all their threads wait in functions of
//    symmrepl's headers, which return only when a word changes, or at barriers for such threads. A
//    thread that polls in a loop of its own may count its polls, so it does not stand still. Nor does
//    a rank in a copy or in a call of a library;
//  - the network has completed all its operations, and all messages of each rank to the others have
//    arrived;
//  - no wait ends by itself, after a limit.
//
// A wait is held up if each rank that it waits for has finished the cell, does not run the cell, or
// is held up in another call. Any rank may end the wait of a user's kernel. Members that are in the
// same collective call answer each other, even if that takes long. The session takes several looks;
// each begins when all ranks have answered the one before. If no rank's numbers change between
// looks, and every device has checked its waits again meanwhile, then all these conditions held at
// the same time, and nothing can change any more. If a rank does not answer, is not sure or has
// moved, the looks begin anew: it is better to report a deadlock and let it go on than to end a
// cell that might have completed.

// Times of the looks.
const (
	LookEvery  = 300 * time.Millisecond  // between two looks
	LooksAlike = 4                       // number of equal looks after which the cell is ended
	lookWithin = 2 * time.Second         // a rank that does not answer within this time does not stand still
	lookSoon   = 2500 * time.Millisecond // the table is delayed by this time, because the error will have it
	lookFirst  = 500 * time.Millisecond  // the same, while the answers to the first look are under way
	lookSlow   = 4                       // the factor by which these delays are longer on a slow machine
)

// suspicion collects the evidence that the ranks stand still for good.
type suspicion struct {
	question uint64 // number of the look that is under way, 0 if none is
	asked    time.Time
	answers  map[int]*wire.Status // so far, by rank

	looks int                  // number of equal looks so far
	open  bool                 // looks do not end the cell while its ranks wait like this: they do not delay the table
	began time.Time            // time of the first of these looks
	last  map[int]*wire.Status // the answers to the last of these looks, by rank
}

// isDue reports whether the looks may end the cell soon. While the first look has no answer, isDue
// reports true for a short time only, because an unreachable rank does not answer. Between looks it
// reports true shortly after hung, the first time at which a table may be shown: at the last look
// the ranks may not have come to rest.
func (s *suspicion) isDue(now, hung time.Time, slow wire.Slowness) bool {
	patience := time.Duration(1)
	if slow > 0 {
		patience = lookSlow
	}
	switch {
	case s.open:
		return false
	case s.looks > 0:
		return now.Sub(s.began) < patience*lookSoon
	case s.question != 0 && now.Sub(s.asked) < patience*lookFirst:
		return true
	}
	return !s.asked.IsZero() && now.Sub(hung) < patience*LookEvery
}

// Looked records an answer of ranks, also of those that do not run the cell, if it is the answer to a look.
func (w *Watch) Looked(ranks []int, status *wire.Status) { w.stuck.take(ranks, status) }

// take records an answer of ranks to the look that is under way.
func (s *suspicion) take(ranks []int, status *wire.Status) {
	if s.question == 0 || status.ID != s.question {
		return
	}
	for _, rank := range ranks {
		s.answers[rank] = status
	}
}

// lookForDeadlock continues the looks. It ends the waits of the cell if its ranks stand still for good.
func (w *Watch) lookForDeadlock(cell *Snapshot) Action {
	s := &w.stuck
	if cell.KeepsWaits || !cell.Interrupted.IsZero() || !cell.LimitAt.IsZero() {
		return nil
	}
	if s.question == 0 {
		if cell.Now.Sub(s.asked) >= LookEvery && (s.looks > 0 || w.seemsStill(cell)) {
			s.question, s.asked, s.answers = cell.Question, cell.Now, map[int]*wire.Status{}
			return Examine{Question: cell.Question}
		}
		return nil
	}
	if slices.ContainsFunc(cell.Reachable, func(rank int) bool { return s.answers[rank] == nil }) {
		if cell.Now.Sub(s.asked) > lookWithin {
			*s = suspicion{asked: cell.Now}
		}
		return nil
	}
	s.question = 0
	if !cell.standStill(s.answers) {
		*s = suspicion{asked: cell.Now, open: mayEndByThemselves(s.answers)}
		return nil
	}
	switch {
	case s.last == nil || !alike(s.last, s.answers):
		s.looks, s.began = 1, cell.Now
	case lookedAgain(s.last, s.answers):
		s.looks++
	default: // the devices have not checked again yet: the machine may be slow
		return nil
	}
	s.last = s.answers
	held := cell.heldUp(s.last)
	if s.open = len(held) == 0; s.open || s.looks < LooksAlike {
		return nil
	}
	return w.endInVain(cell, held)
}

// seemsStill reports whether a look is worthwhile: according to their last answers, all ranks that
// run the cell wait in operations.
func (w *Watch) seemsStill(cell *Snapshot) bool {
	return !slices.ContainsFunc(cell.running(), func(rank int) bool {
		v := w.view(rank)
		return v == nil || len(v.waits) == 0 || v.standing == nil || !v.standing.Stands
	})
}

// standStill reports whether all ranks stand still, by their answers to a look, and nothing is
// under way between them.
func (cell *Snapshot) standStill(answers map[int]*wire.Status) bool {
	sent := map[[2]int]uint64{}
	for rank, a := range answers {
		if a.Standing == nil || !a.Standing.Stands {
			return false
		}
		for _, e := range a.Standing.Exchanged {
			sent[[2]int{rank, e.Peer}] = e.Sent
		}
		if !cell.runs(rank) {
			if a.Run != 0 || len(a.Waits) > 0 {
				return false
			}
			continue
		}
		if a.Run != cell.Run || len(a.Waits) == 0 || slices.ContainsFunc(a.Waits, mayEndByItself) {
			return false
		}
	}
	for rank, a := range answers {
		for _, e := range a.Standing.Exchanged {
			if n, known := sent[[2]int{e.Peer, rank}]; !known || n != e.Landed {
				return false
			}
		}
	}
	return true
}

// mayEndByItself reports whether a wait may end though no rank makes a call.
func mayEndByItself(w session.Wait) bool { return !w.Sure || w.Limit > 0 }

// mayEndByThemselves reports whether there are such waits among the answers to a look.
func mayEndByThemselves(answers map[int]*wire.Status) bool {
	for _, a := range answers {
		if slices.ContainsFunc(a.Waits, mayEndByItself) {
			return true
		}
	}
	return false
}

// alike reports whether no rank has made progress between two looks.
func alike(before, after map[int]*wire.Status) bool {
	if len(before) != len(after) {
		return false
	}
	for rank, b := range before {
		a := after[rank]
		if a == nil || !a.Standing.Equal(b.Standing) || !slices.EqualFunc(a.Waits, b.Waits, func(x, y session.Wait) bool {
			return x.Op == y.Op && x.Ordinal == y.Ordinal && x.Group == y.Group && slices.Equal(x.Peers, y.Peers) &&
				x.Call == y.Call && x.Host == y.Host
		}) {
			return false
		}
	}
	return true
}

// lookedAgain reports whether all devices have checked their waits between two equal looks.
func lookedAgain(before, after map[int]*wire.Status) bool {
	for rank, a := range after {
		for i, w := range a.Waits {
			if !w.Host && w.Seen <= before[rank].Waits[i].Seen {
				return false
			}
		}
	}
	return true
}

// heldUp returns the ranks whose wait no rank will end, each with the ranks that it waits for,
// according to the answers to a look. The latter are done, or held up in another call.
func (cell *Snapshot) heldUp(answers map[int]*wire.Status) map[int][]int {
	held := map[int][]int{}
	for _, rank := range cell.running() {
		held[rank] = nil
	}
	pending := cell.Pending
	mayEnd := func(w session.Wait, peer int) bool { // peer may yet end w
		if !cell.runs(peer) || answers[peer] == nil {
			return false
		}
		_, isHeld := held[peer]
		return !isHeld || w.Call != "" && slices.ContainsFunc(answers[peer].Waits, func(o session.Wait) bool { return o.Call == w.Call })
	}
	for changed := true; changed; {
		changed = false
		for _, rank := range sortedRanks(held) {
			var vain []int
			for _, w := range answers[rank].Waits {
				switch {
				case w.Host:
					for _, p := range pending {
						if p.Call.Op == w.Op && rankset.Contains(p.Arrived, rank) {
							vain = append(vain, rankset.Filter(p.Missing, func(o int) bool { return !mayEnd(w, o) })...)
						}
					}
				case len(w.Peers) > 0 && !w.Anyone:
					vain = append(vain, rankset.Filter(w.Peers, func(o int) bool { return !mayEnd(w, o) })...)
				default: // any other rank may end the wait
					others := slices.DeleteFunc(rankset.All(len(cell.Ranks)), func(o int) bool { return o == rank })
					if in := rankset.Filter(others, func(o int) bool { return !mayEnd(w, o) }); len(in) == len(others) {
						switch named := rankset.Difference(w.Peers, []int{rank}); {
						case len(named) > 0:
							others = named
						case len(others) == 0:
							others = []int{rank}
						}
						vain = append(vain, others...)
					}
				}
			}
			if held[rank] = rankset.Union(vain, nil); len(vain) == 0 {
				delete(held, rank)
				changed = true
			}
		}
	}
	return held
}

func sortedRanks(m map[int][]int) []int {
	var ranks []int
	for rank := range m {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	return ranks
}

// endInVain ends the waits of all ranks. held is the result of heldUp; a rank that is not in held waits
// for ranks that are. The looks begin anew: code that goes on after an error may wait in vain again.
func (w *Watch) endInVain(cell *Snapshot, held map[int][]int) EndInVain {
	s, t := &w.stuck, w.table(cell)
	end := EndInVain{Rows: t.list, Cycle: t.cycle, Text: strings.ReplaceAll("\n"+t.rows, "\n  ", "\n")[1:]}
	for _, rank := range cell.running() {
		peers := held[rank]
		if peers == nil {
			peers = rankset.Difference(sortedRanks(held), []int{rank})
		}
		one := VainWait{Rank: rank, Why: w.whatTheyDo(cell, peers)}
		if a := s.last[rank]; a != nil {
			one.Moves = a.Standing.Moves
			if differ := w.callsDiffer(cell, a.Waits); differ != "" {
				one.Why = differ + "; " + one.Why
			}
		}
		end.Waits = append(end.Waits, one)
	}
	*s = suspicion{asked: cell.Now, looks: 1, began: cell.Now}
	return end
}

// whatTheyDo describes the activity of ranks that do not end a wait: "rank 1 has finished the cell;
// rank 2,3 waits in put_signal at cell[3]:2".
func (w *Watch) whatTheyDo(cell *Snapshot, ranks []int) string {
	alike, order := map[string][]int{}, []string(nil)
	for _, rank := range ranks {
		does := "does not run the cell"
		switch result := cell.Ranks[rank].Result; {
		case cell.runs(rank):
			does = "waits, too"
			if a := w.stuck.last[rank]; a != nil && len(a.Waits) > 0 {
				does = "waits in " + a.Waits[0].Op
				if at := a.Waits[0].At; at != "" {
					does += " at " + at
				}
			}
		case result != nil && result.Err != nil:
			does = "has failed"
		case result != nil:
			does = cell.done()
		}
		if alike[does] == nil {
			order = append(order, does)
		}
		alike[does] = append(alike[does], rank)
	}
	for i, does := range order {
		order[i] = fmt.Sprintf("rank %s %s", session.FormatRanks(alike[does]), does)
	}
	return strings.Join(order, "; ")
}
