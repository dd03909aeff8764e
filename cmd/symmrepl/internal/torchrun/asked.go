package torchrun

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
)

// answerWithin is the time that a rank may take to answer a request.
const answerWithin = 5 * time.Second

// request is a request to a rank that has no answer yet.
type request struct {
	rank  *rank
	at    time.Time
	reply func(lending.Reply)
}

// rankRequest is a line to a rank.
type rankRequest struct {
	Ask  uint64 `json:"ask"`
	What string `json:"what"`
	Name string `json:"name,omitempty"`
}

// lend makes the folder at which sessions attach. A program without one runs as well.
func (r *run) lend() (stop func()) {
	r.asked = map[uint64]request{}
	_, stop, err := lending.Listen(func(q lending.Request, reply func(lending.Reply)) {
		select {
		case r.queue <- func() { r.serve(q, reply) }:
		case <-r.over:
			reply(lending.Reply{Err: r.Name + " has ended"})
		}
	})
	if err != nil {
		r.unattachable = err
		return func() {}
	}
	return stop
}

// serve answers a request of a session.
func (r *run) serve(q lending.Request, reply func(lending.Reply)) {
	switch q.What {
	case lending.AskProgram:
		reply(r.described())
	case lending.AskStop:
		r.awaited = append(r.awaited, awaiting{q.Stops, reply})
		r.tellStop()
	case lending.AskContinue:
		if !r.stands() {
			reply(lending.Reply{Err: r.Name + " stands at no breakpoint:\n" + r.table()})
			return
		}
		r.goOn()
		reply(r.described())
	case lending.AskTensor, lending.AskVariables:
		if q.Rank < 0 || q.Rank >= len(r.ranks) {
			reply(lending.Reply{Err: fmt.Sprintf("%s has no rank %d", r.Name, q.Rank)})
			return
		}
		r.request(r.ranks[q.Rank], rankRequest{What: q.What, Name: q.Name}, reply)
	default:
		reply(lending.Reply{Err: fmt.Sprintf("%q is no request", q.What)})
	}
}

// described is the reply that describes the program.
func (r *run) described() lending.Reply {
	return lending.Reply{Program: &lending.Program{Name: r.Name, PID: os.Getpid(), Ranks: r.Ranks, Stands: r.stands(), Stops: r.stopped,
		Text: r.table()}}
}

// awaiting is a session that waits until the program has stood at more breakpoints than before.
type awaiting struct {
	before uint64
	reply  func(lending.Reply)
}

// tellStop answers the sessions that have waited long enough.
func (r *run) tellStop() {
	r.awaited = slices.DeleteFunc(r.awaited, func(a awaiting) bool {
		due := r.stopped > a.before
		if due {
			a.reply(r.described())
		}
		return due
	})
}

// table is the table of the breakpoints at which the ranks stand, or else of what they do.
func (r *run) table() string {
	if r.stands() {
		return r.stops()
	}
	return r.watch.Activity(r.snapshot(time.Now())).Text
}

// request puts a request to a rank.
func (r *run) request(rk *rank, q rankRequest, reply func(lending.Reply)) {
	switch {
	case !rk.ended.IsZero():
		reply(lending.Reply{Err: fmt.Sprintf("rank %d of %s has ended", rk.number, r.Name)})
	case rk.manner != answering:
		reply(lending.Reply{Err: fmt.Sprintf("rank %d of %s %s", rk.number, r.Name, rk.manner)})
	default:
		r.requests++
		q.Ask = r.requests
		r.asked[q.Ask] = request{rk, time.Now(), reply}
		rk.tell(q)
	}
}

// replied passes the answer of a rank on.
func (r *run) replied(rk *rank, m *message) {
	if q, ok := r.asked[m.Ask]; ok && q.rank == rk {
		delete(r.asked, m.Ask)
		q.reply(lending.Reply{Err: m.Err, Tensor: m.Tensor, Variables: m.Variables})
	}
}

// dropRequests answers in the place of ranks that do not, or have ended.
func (r *run) dropRequests(now time.Time) {
	for ask, q := range r.asked {
		why := ""
		switch {
		case !q.rank.ended.IsZero():
			why = fmt.Sprintf("rank %d of %s has ended", q.rank.number, r.Name)
		case now.Sub(q.at) > answerWithin:
			why = fmt.Sprintf("rank %d of %s has not answered within %v: it is stopped, or a call holds Python's lock", q.rank.number, r.Name, answerWithin)
		default:
			continue
		}
		delete(r.asked, ask)
		q.reply(lending.Reply{Err: why})
	}
}
