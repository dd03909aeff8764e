package watchdog

import (
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Snapshot is all that the watchdog is told of a cell at one moment, besides the answers of its ranks.
type Snapshot struct {
	Now     time.Time
	Run     uint64
	Title   string // of the cell
	Program bool   // the cell is a program, whose ranks are processes that end with it
	Stop    string // the user's way to interrupt the cell
	Again   string // the user's way to replace ranks that an interrupt does not stop

	Ranks     []Rank              // all ranks of the session, also those that do not take part
	Reachable []int               // the ranks that have a worker, or will have one
	Pending   []bootstrap.Pending // calls that meet at the hub, and in which ranks are missing
	NCCL      []string            // lines that say which ranks are behind in NCCL; none if that is not known

	Started     time.Time
	Shown       time.Time // when output was last shown, or the cell began
	Interrupted time.Time // zero if it was not
	LimitAt     time.Time // when the time limit of the cell was over; zero if it is not
	FailedAt    time.Time // of the first failure of a rank; zero if none has failed
	HasDied     bool      // some rank has died
	Stands      bool      // some rank stands before a statement

	KeepsWaits bool   // waits that cannot end are not ended: see session.DeadlockWait
	Unattended bool   // no user watches
	Question   uint64 // a number for a question to the ranks, which no other question has
}

// Rank is a rank during a cell.
type Rank struct {
	TakesPart bool
	Result    *session.Result // nil while it runs; ranks with equal results may share one
	DoneAt    time.Time
	Stands    *wire.Stopped   // nil if it does not stand
	Aborted   string          // why the rank's waits were ended, "" if they were not
	Died      string          // how the worker died, "" if it lives
	Tallies   []session.Tally // set when the rank is done
	Late      string          // set when the rank is done: calls of interrupted cells that still run
}

// runs reports whether a rank has not finished the cell.
func (cell *Snapshot) runs(rank int) bool {
	return cell.Ranks[rank].TakesPart && cell.Ranks[rank].Result == nil
}

// done returns the words for a rank that has run the cell to its end.
func (cell *Snapshot) done() string {
	if cell.Program {
		return "has ended"
	}
	return "has finished the cell"
}

// running lists the ranks that have not finished the cell, ascending.
func (cell *Snapshot) running() []int {
	return rankset.Filter(rankset.All(len(cell.Ranks)), cell.runs)
}

// members lists the ranks that take part, ascending.
func (cell *Snapshot) members() []int {
	return rankset.Filter(rankset.All(len(cell.Ranks)), func(rank int) bool { return cell.Ranks[rank].TakesPart })
}

// An Action is to be carried out by the controller: Ask, Examine, Say, Show or EndInVain.
type Action any

type (
	// Ask asks ranks for their activity.
	Ask struct{ Ranks []int }
	// Examine asks all ranks that can answer for their progress, also those that have finished the cell or do
	// not run it, with the number of the question.
	Examine struct{ Question uint64 }
	// Say shows a remark.
	Say struct{ Text string }
	// Show shows the table of waits, or that the cell goes on after all.
	Show struct {
		Text  string
		Rows  []session.HangRow
		Cycle []int
		Again bool // the table is no worse than the last one: it is for front ends that show it in place
	}
	// EndInVain ends the waits of all ranks, which cannot end by themselves.
	EndInVain struct {
		Text  string // the table
		Rows  []session.HangRow
		Cycle []int
		Waits []VainWait
	}
)

// VainWait is a rank whose waits are ended because they cannot end by themselves.
type VainWait struct {
	Rank  int
	Why   string // what the ranks do that would have to end the wait
	Moves uint64 // as in the rank's last answer
}

// Look returns the actions that are due, in their order. They depend on the answers that w was told, on the
// earlier looks, and on cell, and on nothing else.
func (w *Watch) Look(cell *Snapshot) (actions []Action) {
	if w.ask(cell) {
		if ranks := w.toAsk(cell.running(), cell.Now); len(ranks) > 0 {
			actions = append(actions, Ask{Ranks: ranks})
		}
	}
	if text := w.TellDeaths(cell); text != "" {
		actions = append(actions, Say{Text: text})
	}
	if cell.Stands { // nothing counts as a hang
		return actions
	}
	if a := w.lookForDeadlock(cell); a != nil {
		actions = append(actions, a)
	}
	if text, t := w.report(cell); text != "" {
		actions = append(actions, Show{Text: text, Rows: t.list, Cycle: t.cycle, Again: w.again})
	}
	return actions
}

// Activity returns the table of what the ranks do, whether or not a rank waits in vain.
func (w *Watch) Activity(cell *Snapshot) Show {
	t := w.table(cell)
	return Show{Text: t.rows, Rows: t.list, Cycle: t.cycle}
}
