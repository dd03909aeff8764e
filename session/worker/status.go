package worker

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// status answers the question with the number id. For a look the answer is short.
func (r *Rank) status(id uint64, look bool) *wire.Status {
	r.mu.Lock()
	run := r.current
	r.mu.Unlock()
	progress, known := r.progress()
	s := &wire.Status{ID: id, Run: run}
	if known {
		s.Standing = r.standing(progress)
	}
	if look {
		s.Waits = progress.Waits
		return s
	}
	s.Waits, s.Late, s.CPU = r.Communicator.Waits(), r.late(), usedSoFar().cpu.Seconds()
	s.Slow, _ = here.now()
	if sharing, ok := r.Communicator.(session.SharingReporter); ok {
		s.Sharers = sharing.Sharers()
	}
	if run == 0 {
		return s
	}
	if len(s.Waits) == 0 || known && progress.Inside == 0 { // perhaps only the device waits
		s.Doing = r.doing(progress)
	}
	if teller, tells := r.Communicator.(session.KernelReporter); tells {
		s.Busy = teller.Busy()
	}
	return s
}

// progress asks the Communicator. known is false if the Communicator is no ProgressReporter.
func (r *Rank) progress() (p session.Progress, known bool) {
	if teller, tells := r.Communicator.(session.ProgressReporter); tells {
		return teller.Progress(), true
	}
	return session.Progress{}, false
}

// standing makes the rank's report from p. The rank never stands still unless the Evaluator is an
// ActivityReporter.
func (r *Rank) standing(p session.Progress) *wire.Standing {
	r.mu.Lock()
	finishing := r.finishing
	r.mu.Unlock()
	s := &wire.Standing{Moves: p.Moves, Inside: p.Inside > 0, Watched: p.Watched, Exchanged: p.Exchanged}
	if teller, tells := r.Evaluator.(session.ActivityReporter); tells && p.Stands && p.Compiles == "" {
		running, all := teller.Others()
		if finishing { // the worker itself waits for the device too
			running++
		}
		s.Stands = all && running <= p.Inside
	}
	return s
}

// describeCalls describes the calls that still run, "" if none does: "1 call of cell[7] still runs:
// net.(*TCPListener).Accept at cell[7]:3".
func describeCalls(calls []session.LateCall) string {
	if len(calls) == 0 {
		return ""
	}
	of := calls[0].Cell
	var list []string
	for _, c := range calls {
		if c.Cell != of {
			of = "earlier cells"
		}
		text := c.Function
		if c.At != "" {
			text += " at " + c.At
		}
		list = append(list, text)
	}
	const most = 3
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("and %d more", len(list)-most))
	}
	if len(calls) == 1 {
		return fmt.Sprintf("1 call of %s still runs: %s", of, list[0])
	}
	return fmt.Sprintf("%d calls of %s still run: %s", len(calls), of, strings.Join(list, ", "))
}

// late describes the calls of interrupted cells that have not returned.
func (r *Rank) late() string {
	if teller, tells := r.Evaluator.(session.LateCallReporter); tells {
		return describeCalls(teller.Calls())
	}
	return ""
}

// doing returns the activity of the worker's running cell. p is the worker's progress.
func (r *Rank) doing(p session.Progress) *session.Activity {
	r.mu.Lock()
	finishing := r.finishing
	r.mu.Unlock()
	var a session.Activity
	switch teller, tells := r.Evaluator.(session.ActivityReporter); {
	case p.Compiles != "":
		a = session.Activity{What: fmt.Sprintf("compiles a kernel (%s)", p.Compiles), At: p.CompilesAt, Blocked: true, Compiles: true,
			For: p.CompilesFor}
	case r.stdin.waits():
		a = session.Activity{What: "waits for a line of standard input", Blocked: true, Input: true}
	case finishing:
		a = session.Activity{What: "waits for its device to finish", Blocked: true}
	case tells:
		a = teller.Doing()
	}
	if a == (session.Activity{}) {
		return nil
	}
	return &a
}
