package timeline

import (
	"cmp"
	"slices"
	"strings"
)

// Flow is an arrow: the work of the slice From ended the wait To.
type Flow struct {
	From, To End
	// Likely reports whether From is a guess: neither signals nor a common call show the end of the
	// wait, and From is the latest work of the awaited rank in the same group.
	Likely bool
}

// End is an end of an arrow: a slice, by its index among the slices of a rank in [Timeline.Ranks].
type End struct{ Rank, Slice int }

// At returns the slice of an end.
func (t *Timeline) At(e End) *Slice { return &t.Ranks[e.Rank].Slices[e.Slice] }

// connect finds the arrows.
func (t *Timeline) connect() {
	c := connector{t: t, sends: map[string][]End{}, awaits: map[string][]End{}, meets: map[string]map[int][]End{},
		groups: map[int]map[string][]End{}, waits: map[call][]End{}, named: map[call]bool{},
		index: map[int]int{}}
	c.collect()
	for name, awaits := range c.awaits {
		if strings.HasPrefix(name, word+" ") {
			c.words(c.sends[name], awaits)
		} else {
			c.inTurn(c.sends[name], awaits)
		}
	}
	c.meetings()
	slices.SortFunc(t.Flows, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(t.At(a.From).Begin, t.At(b.From).Begin), cmp.Compare(t.At(a.To).End(), t.At(b.To).End()),
			cmp.Compare(a.From.Rank, b.From.Rank), cmp.Compare(a.From.Slice, b.From.Slice), cmp.Compare(a.To.Rank, b.To.Rank),
			cmp.Compare(a.To.Slice, b.To.Slice))
	})
}

// call is a call of a rank, by the rank's index.
type call struct{ rank, call int }

// connector has the slices by the signals that they give and await. All lists are by begin.
type connector struct {
	t             *Timeline
	sends, awaits map[string][]End
	meets         map[string]map[int][]End // the operations of a collective call, by index of the rank
	groups        map[int]map[string][]End // the operations of a rank that use a group's signals
	waits         map[call][]End
	named         map[call]bool // its signals are known by name
	index         map[int]int   // of ranks
}

func (c *connector) collect() {
	for i, r := range c.t.Ranks {
		c.index[r.Rank], c.groups[i] = i, map[string][]End{}
		for j := range r.Slices {
			s, e := &r.Slices[j], End{i, j}
			if s.Kind == Wait && s.Call > 0 {
				c.waits[call{i, s.Call}] = append(c.waits[call{i, s.Call}], e)
			}
			for _, name := range s.Sends {
				c.sends[name] = append(c.sends[name], e)
			}
			if s.Call > 0 && len(s.Awaits) > 0 {
				c.named[call{i, s.Call}] = true
			}
			for _, name := range s.Awaits {
				c.awaits[name] = append(c.awaits[name], e)
			}
			if s.Meets != "" && s.Kind != Wait {
				if c.meets[s.Meets] == nil {
					c.meets[s.Meets] = map[int][]End{}
				}
				c.meets[s.Meets][i] = append(c.meets[s.Meets][i], e)
			}
			if s.Kind == Operation && s.Group != "" {
				c.groups[i][s.Group] = append(c.groups[i][s.Group], e)
			}
		}
	}
	for _, all := range []map[string][]End{c.sends, c.awaits} {
		for _, list := range all {
			slices.SortStableFunc(list, func(a, b End) int { return cmp.Compare(c.t.At(a).Begin, c.t.At(b).Begin) })
		}
	}
}

// before reports whether the work of a slice can have ended another slice, as far as the clocks
// tell.
func (c *connector) before(from, to End) bool {
	slack := int64(0)
	if from.Rank != to.Rank {
		slack = c.t.Within[from.Rank] + c.t.Within[to.Rank]
	}
	return c.t.At(from).Begin <= c.t.At(to).End()+slack
}

// ended is the part of an operation that a signal ended: its last wait, or all of it if it did not
// wait.
func (c *connector) ended(e End) End {
	last := e
	for _, w := range c.waits[call{e.Rank, c.t.At(e).Call}] {
		if last == e || c.t.At(w).End() > c.t.At(last).End() {
			last = w
		}
	}
	return last
}

func (c *connector) add(from, to End, likely bool) {
	c.t.Flows = append(c.t.Flows, Flow{from, to, likely})
}

// inTurn connects signals that are given and awaited in turn. A wait that ended before the next
// signal was given has consumed one from before the recording.
func (c *connector) inTurn(sends, awaits []End) {
	for _, a := range awaits {
		to := c.ended(a)
		if len(sends) > 0 && c.before(sends[0], to) {
			c.add(sends[0], to, false)
			sends = sends[1:]
		}
	}
}

// words connects changes of a word with the waits for its value.
func (c *connector) words(sends, awaits []End) {
	for _, a := range awaits {
		to := c.ended(a)
		if from, found := c.latest(sends, to); found {
			c.add(from, to, false)
		}
	}
}

// latest is the last slice of a list that can have ended another one.
func (c *connector) latest(list []End, to End) (from End, found bool) {
	for _, e := range list {
		if c.before(e, to) && (!found || c.t.At(e).Begin >= c.t.At(from).Begin) {
			from, found = e, true
		}
	}
	return from, found
}

// meetings connects the waits of collective calls and of user's kernels. A wait for several ranks
// was ended by the last of them. Other work of the awaited rank in the same group may have ended it
// too, such as the call before that had yet to use a buffer; on the same host it ran at that time.
func (c *connector) meetings() {
	for i := range c.t.Ranks {
		for j := range c.t.Ranks[i].Slices {
			s, e := &c.t.Ranks[i].Slices[j], End{i, j}
			if s.Kind != Wait || c.named[call{i, s.Call}] {
				continue
			}
			var from End
			found := false
			likely := false
			for _, p := range s.Ended {
				at, known := c.index[p]
				if !known || at == i {
					continue
				}
				one, ok := c.latest(c.meets[s.Meets][at], e)
				other := false
				if !ok {
					one, ok = c.latest(c.groups[at][s.Group], e)
					other = true
					ok = ok && (c.t.Ranks[at].Host != c.t.Ranks[i].Host || c.t.At(one).End()+c.t.Within[at]+c.t.Within[i] >= s.Begin)
				}
				if ok && (!found || c.t.At(one).Begin > c.t.At(from).Begin) {
					from, found, likely = one, true, other
				}
			}
			if found {
				c.add(from, e, likely)
			}
		}
	}
}
