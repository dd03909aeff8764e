package torchrun

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
)

// A breakpoint is a place at which a rank stands in symmrepl.torch.breakpoint: a collective call, which
// ends when somebody says so.
type breakpoint struct {
	Number uint64
	At     string // "prog.py:14 in step"
}

// stands reports whether all ranks have come to a breakpoint.
func (r *run) stands() bool { return !r.stoodAt.IsZero() }

// come notes that a rank has come to a breakpoint. It is told when all have.
func (r *run) come(rk *rank, b *breakpoint) {
	rk.stop = b
	if r.ending || slices.ContainsFunc(r.ranks, func(o *rank) bool { return o.stop == nil || !o.ended.IsZero() }) {
		return
	}
	r.stoodAt = time.Now()
	r.stopped++
	way := "`symmrepl attach` gives a prompt there"
	if r.unattachable != nil {
		way = fmt.Sprintf("no session can attach: %v", r.unattachable)
	}
	r.note(fmt.Sprintf("%s stands in symmrepl.torch.breakpoint() (%s, Ctrl-C interrupts it):\n%s", r.Name, way, r.stops()))
	r.tellStop()
}

// answerStanding answers the watchdog for ranks that stand, which nobody asks.
func (r *run) answerStanding() {
	for _, rk := range r.ranks {
		if r.stands() && rk.ended.IsZero() {
			r.answered(rk, standing(rk.stop))
		}
	}
}

// stops is the table of the breakpoints at which all ranks stand.
func (r *run) stops() string {
	var text strings.Builder
	left := rankset.All(r.Ranks)
	for len(left) > 0 {
		at := r.ranks[left[0]].stop.At
		same := rankset.Filter(left, func(n int) bool { return r.ranks[n].stop.At == at })
		left = rankset.Filter(left, func(n int) bool { return r.ranks[n].stop.At != at })
		fmt.Fprintf(&text, "  rank %s  at %s\n", session.FormatRanks(same), at)
	}
	return text.String()
}

// goOn lets all ranks go on that stand at a breakpoint. The time limit does not count the time for which
// they stood.
func (r *run) goOn() {
	now := time.Now()
	r.limitAt = r.limitAt.Add(now.Sub(r.stoodAt))
	r.stoodAt, r.shown = time.Time{}, now
	for _, rk := range r.ranks {
		rk.stop = nil
		r.request(rk, rankRequest{What: lending.AskContinue}, func(lending.Reply) {})
	}
	r.watch.Resume(now)
}
