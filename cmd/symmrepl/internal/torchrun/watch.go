package torchrun

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

// runNumber is the number of the run that a program is for package watchdog.
const runNumber = 1

// look carries out what the watchdog decides.
func (r *run) look(now time.Time) {
	for _, action := range r.watch.Look(r.snapshot(now)) {
		switch a := action.(type) {
		case watchdog.Ask:
			for _, n := range a.Ranks {
				r.ask(r.ranks[n], 0)
			}
		case watchdog.Examine:
			r.question = a.Question
			for _, rk := range r.ranks {
				if rk.ended.IsZero() {
					r.ask(rk, a.Question)
				}
			}
		case watchdog.Show:
			if a.Again {
				break
			}
			if r.note(a.Text); r.keepsWaits() && !r.gpus && len(a.Rows) > 0 && !r.invited && r.unattachable == nil {
				r.invited = true
				r.note("`symmrepl attach` gives a prompt beside it\n")
			}
		case watchdog.EndInVain:
			r.endWith("%s is ended, because these waits cannot end:", r.Name)
		}
	}
}

// keepsWaits reports whether waits that cannot end are not ended. On GPUs the user has to ask for it: what a
// kernel does there is known only by its signal pads.
func (r *run) keepsWaits() bool {
	return r.Deadlock == session.DeadlockWait || r.Deadlock == "" && r.gpus
}

// snapshot describes the run to the watchdog.
func (r *run) snapshot(now time.Time) *watchdog.Snapshot {
	cell := &watchdog.Snapshot{Now: now, Run: runNumber, Title: r.Name, Program: true, Stop: "Ctrl-C", Started: r.began, Shown: r.shown,
		KeepsWaits: r.keepsWaits(), Unattended: true, Question: r.question + 1}
	for _, rk := range r.ranks {
		of := watchdog.Rank{TakesPart: true, DoneAt: rk.ended, Died: rk.failure}
		if rk.ended.IsZero() {
			cell.Reachable = append(cell.Reachable, rk.number)
		} else {
			of.Result = &session.Result{}
			if rk.failure != "" {
				of.Result.Err = &session.Error{Kind: session.KindDied, Peer: -1, Msg: "it " + rk.failure}
			}
		}
		cell.Ranks = append(cell.Ranks, of)
	}
	return cell
}

// ask asks a rank, or answers in its place if it cannot.
func (r *run) ask(rk *rank, id uint64) {
	rk.thread = lookAt(rk.pid, rk.thread)
	switch {
	case rk.thread.stopped:
		r.watch.Answer([]int{rk.number}, nil, &wire.Process{State: "T"}, time.Now())
	case rk.manner != answering:
		r.answered(rk, silent(id, rk.thread, rk.manner))
	default:
		rk.tell(question{id})
	}
}

// heard takes a message of a rank; nil is the end of its socket.
func (r *run) heard(rk *rank, m *message) {
	switch {
	case m == nil:
		rk.manner = ending
	case m.Watched != 0:
		rk.manner = answering
	case m.Ask != 0:
		r.replied(rk, m)
	case m.Breakpoint != 0:
		r.come(rk, &breakpoint{m.Breakpoint, m.At})
	case len(m.Report) > 0:
		if err := r.found.Add(m.Report); err != nil {
			r.note(fmt.Sprintf("rank %d: %v\n", rk.number, err))
			r.failed = true
		}
	default:
		r.gpus = r.gpus || m.GPU
		rk.puts = m.Puts
		untaken := func(c *call) string { return r.untaken(rk, c) }
		r.answered(rk, m.status(rk.thread, uint64(time.Since(r.began)), untaken))
	}
}

// untaken names the signals that came to a rank and for which its call does not wait, with the lines that
// put them as far as the ranks have told: "; rank 1 has put one on channel 5 at prog.py:12".
func (r *run) untaken(rk *rank, c *call) string {
	var parts []string
	for _, signal := range c.Untaken {
		from, channel := signal[0], signal[1]
		part := fmt.Sprintf("rank %d has put one on channel %d", from, channel)
		if from >= 0 && from < len(r.ranks) {
			puts := r.ranks[from].puts
			i := slices.IndexFunc(puts, func(p put) bool { return p.Pad == c.Pad && p.To == rk.number && p.Channel == channel && p.At != "" })
			if i >= 0 {
				part += " at " + puts[i].At
			}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

func (r *run) answered(rk *rank, s *wire.Status) {
	if s.ID != 0 {
		r.watch.Looked([]int{rk.number}, s)
		return
	}
	r.watch.Answer([]int{rk.number}, s, nil, time.Now())
}
