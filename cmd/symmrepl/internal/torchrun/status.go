package torchrun

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
	"github.com/symmrepl/symmrepl/symmem/foreign"
)

// message is a line of a rank: Watched is set in its first one, Report in those of the sanitizer,
// Breakpoint when it has come to one, Ask in answers to requests, and the other fields are an answer.
type message struct {
	Watched int                  `json:"watched"`
	ID      uint64               `json:"id"`    // of the question
	Moves   uint64               `json:"moves"` // a number that grows whenever a call begins or ends
	Stands  bool                 `json:"stands"`
	Calls   []call               `json:"calls"`
	Main    place                `json:"main"`
	Records []foreign.WaitRecord `json:"records"`
	GPU     bool                 `json:"gpu"`              // the rank has enqueued calls on GPUs
	Puts    []put                `json:"puts"`             // signals that the rank has put and that no wait has taken
	Report  json.RawMessage      `json:"report,omitempty"` // of the sanitizer; it is no answer

	Breakpoint uint64 `json:"breakpoint,omitempty"` // the number of it; 0 for other messages
	At         string `json:"at,omitempty"`         // with Breakpoint

	Ask       uint64             `json:"ask,omitempty"` // of the request that the fields below answer; 0 for other messages
	Err       string             `json:"err,omitempty"`
	Tensor    *lending.Tensor    `json:"tensor,omitempty"`
	Variables []lending.Variable `json:"variables,omitempty"`
}

// call is an open call: class Call of symmrepl.emulator.watch.
type call struct {
	Op      string   `json:"op"`
	Group   string   `json:"group"`
	Members []int    `json:"members"`
	Ordinal uint64   `json:"ordinal"`
	Name    string   `json:"name"`
	Own     bool     `json:"own"`
	Awaited []int    `json:"awaited"`
	What    string   `json:"what"`
	Limit   float64  `json:"limit"`
	Sure    bool     `json:"sure"`
	Since   float64  `json:"since"`
	At      string   `json:"at"`
	Pad     string   `json:"pad"`     // the name of the signal pad, the same on all ranks
	Untaken [][2]int `json:"untaken"` // signals that came to it and that no wait has taken: the rank and the channel of each
}

// put is a signal that a rank has put to the pad of another rank.
type put struct {
	Pad     string `json:"pad"`
	To      int    `json:"to"`
	Channel int    `json:"channel"`
	At      string `json:"at"`
}

// place describes the work of the program's main thread.
type place struct {
	At     string `json:"at"`
	Text   string `json:"text"`   // the expression
	Inside bool   `json:"inside"` // it is in one of the calls
}

// status returns the answer as that of a rank of a session. now is a time that grows, in nanoseconds;
// untaken describes the signals that came, for which a call does not wait.
func (m *message) status(t thread, now uint64, untaken func(*call) string) *wire.Status {
	s := &wire.Status{ID: m.ID, Run: runNumber, Slow: t.slow}
	records := m.Records
	stands := m.Stands && len(m.Calls) > 0
	for _, c := range m.Calls {
		waits := c.waits(records, now, untaken)
		records = nil // kernels run one after the other: only one call has any
		s.Waits = append(s.Waits, waits...)
		if c.Own && len(waits) == 0 {
			s.Busy = append(s.Busy, session.Busy{Kernel: c.Op, At: c.At, Since: c.Since})
		}
		stands = stands && !c.Own && len(waits) > 0
	}
	s.Standing = &wire.Standing{Moves: m.Moves, Stands: stands, Inside: m.Main.Inside}
	if !m.Main.Inside {
		s.Doing = m.Main.doing(t)
	} else if len(s.Waits) == 0 && len(s.Busy) == 0 && len(m.Calls) > 0 {
		s.Doing = &session.Activity{What: "is in " + m.Calls[0].Op, At: m.Calls[0].At}
	}
	return s
}

// waits returns the waits of a call: those of its kernel, of which records tell, and that of the host.
func (c *call) waits(records []foreign.WaitRecord, now uint64, untaken func(*call) string) (list []session.Wait) {
	if len(c.Awaited) > 0 {
		return []session.Wait{{Op: c.Op, Ordinal: c.Ordinal, Group: c.Group, Peers: c.Awaited, For: c.What + untaken(c), Since: c.Since,
			Limit: c.Limit, At: c.At, Call: c.Name, Sure: c.Sure, Seen: now}}
	}
	for _, r := range records {
		w := session.Wait{Op: c.Op, Ordinal: c.Ordinal, Group: c.Group, For: r.What() + untaken(c), Since: float64(r.Elapsed) / 1e9,
			Limit: c.Limit, At: c.At, Call: c.Name, Sure: !c.Own && r.ByCalls(), Seen: r.Began + r.Elapsed}
		if c.Own {
			w.Op = "kernel " + c.Op
		}
		if peer := r.Awaited(); peer >= 0 && peer < len(c.Members) {
			w.Peers = []int{c.Members[peer]}
		}
		i := slices.IndexFunc(list, func(o session.Wait) bool { return o.For == w.For && len(o.Peers) > 0 && len(w.Peers) > 0 })
		if i < 0 {
			list = append(list, w)
			continue
		}
		same := &list[i] // a wait for several ranks
		same.Peers = append(same.Peers, w.Peers...)
		slices.Sort(same.Peers)
		same.Since, same.Seen = max(same.Since, w.Since), min(same.Seen, w.Seen)
	}
	return list
}

// doing returns the activity of the program's own code.
func (p place) doing(t thread) *session.Activity {
	a := &session.Activity{At: p.At}
	switch {
	case t.runs || p.Text == "":
	case t.sleeps || strings.Contains(p.Text, "sleep("): // before Python 3.11 it is a wait for no file
		a.What, a.Blocked, a.Sleeps = "sleeps in "+p.Text, true, true
	default:
		a.What, a.Blocked = "waits in "+p.Text, true
	}
	return a
}

// standing returns the status of a rank that stands at a breakpoint, as all ranks do.
func standing(b *breakpoint) *wire.Status {
	return &wire.Status{Run: runNumber, Standing: &wire.Standing{},
		Doing: &session.Activity{What: "stands in symmrepl.torch.breakpoint()", At: b.At, Blocked: true}}
}

// silent returns the status of a rank that does not answer itself.
func silent(question uint64, t thread, why manner) *wire.Status {
	return &wire.Status{ID: question, Run: runNumber, Slow: t.slow, Standing: &wire.Standing{},
		Doing: &session.Activity{What: string(why), Blocked: !t.runs, Sleeps: t.sleeps}}
}
