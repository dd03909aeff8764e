package controller

import (
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

// endInVain ends the waits of all ranks, which cannot end by themselves.
func (r *run) endInVain(end watchdog.EndInVain) {
	r.inVain = &end
	for _, w := range end.Waits {
		r.abort([]int{w.Rank}, wire.Command{Abort: w.Why, Run: r.number, InVain: true, Moves: w.Moves})
	}
}

// explainInVain changes the error of a rank whose waits were ended as a deadlock: its kind becomes
// KindDeadlock, and its detail, Hang and Cycle the table.
func (r *run) explainInVain(e *session.Error) {
	switch e.Kind {
	case session.KindInterrupted, session.KindPeer, session.KindDeadlock:
		e.Kind, e.Hang, e.Cycle = session.KindDeadlock, r.inVain.Rows, r.inVain.Cycle
		if e.Detail == "" {
			e.Detail = r.inVain.Text
		}
	}
}
