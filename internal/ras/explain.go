package ras

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// The results of NCCL that a rank's state can be.
const (
	success    = 0
	inProgress = 7
)

// Explain describes, in lines, the communicators of a session in which ranks wait: which ranks are
// behind by which collectives, which do not answer, and which have failed. ranks has the session's
// ranks by the pids of their processes. Communicators without such a rank are left out, because a
// host's RAS may belong to another job. It returns nil if there are none.
func (s *Status) Explain(ranks map[int]int) (lines []string) {
	for i := range s.Communicators {
		if c := (named{&s.Communicators[i], ranks}); c.ours() {
			lines = append(lines, c.explain()...)
		}
	}
	return lines
}

// named is a communicator with the session's ranks by pid.
type named struct {
	*Communicator
	ranks map[int]int
}

func (c named) ours() bool {
	known := func(m Member) bool { _, known := c.ranks[m.PID]; return known }
	return slices.ContainsFunc(c.Ranks, func(r Rank) bool { return known(r.Member) }) ||
		slices.ContainsFunc(c.Missing, func(m Missing) bool { return known(m.Member) })
}

// who names members: members of the session by their ranks, "rank 0-2", other members by their
// processes.
func (c named) who(members []Member) string {
	var list []int
	var others []string
	for _, m := range members {
		if rank, known := c.ranks[m.PID]; known {
			list = append(list, rank)
		} else {
			others = append(others, fmt.Sprintf("member %d (pid %d on %s)", m.Rank, m.PID, m.Host))
		}
	}
	slices.Sort(list)
	if len(list) > 0 {
		others = append([]string{"rank " + timeline.Ranks(slices.Compact(list))}, others...)
	}
	return strings.Join(others, ", ")
}

// all are the members that RAS names.
func (c named) all() (list []Member) {
	for _, r := range c.Ranks {
		list = append(list, r.Member)
	}
	for _, m := range c.Missing {
		list = append(list, m.Member)
	}
	return list
}

// explain describes the communicator.
func (c named) explain() (lines []string) {
	head := fmt.Sprintf("NCCL's communicator %s of %s: ", c.Hash, c.who(c.all()))
	add := func(format string, args ...any) { lines = append(lines, head+fmt.Sprintf(format, args...)) }
	c.missing(add)
	c.states(add)
	if behind := c.behind(); len(behind) > 0 {
		for _, b := range behind {
			add("%s", b)
		}
	} else if len(lines) == 0 {
		add("all have begun the same collectives: %s", c.counts())
	}
	return lines
}

// missing adds the members that do not answer.
func (c named) missing(add func(string, ...any)) {
	by := map[string][]Member{}
	for _, m := range c.Missing {
		what := "has left it, or has not come to it yet"
		switch {
		case m.Status.Dead:
			what = "is dead, as NCCL believes"
		case m.Status.Unresponsive:
			what = "does not answer"
		}
		by[what] = append(by[what], m.Member)
	}
	for _, what := range slices.Sorted(maps.Keys(by)) {
		add("%s %s", c.who(by[what]), what)
	}
}

// states adds the members that have failed, end, or have not begun.
func (c named) states(add func(string, ...any)) {
	by := map[string][]Member{}
	for _, r := range c.Ranks {
		what := ""
		switch s := r.Status; {
		case s.Abort:
			what = "has aborted it"
		case s.Init == inProgress:
			what = "still makes it"
		case s.Init != success:
			what = fmt.Sprintf("could not make it: %s", result(s.Init))
		case s.Error != success && s.Error != inProgress:
			what = fmt.Sprintf("reports: %s", result(s.Error))
		case s.Destroy:
			what = "destroys it"
		case s.Finalize:
			what = "ends it"
		}
		if what != "" {
			by[what] = append(by[what], r.Member)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(by)) {
		add("%s %s", c.who(by[what]), what)
	}
}

// behind tells for each kind of collective which members have begun fewer than the others.
func (c named) behind() (lines []string) {
	for _, op := range c.kinds() {
		by := map[uint64][]Member{}
		for _, r := range c.Ranks {
			by[r.Counts[op]] = append(by[r.Counts[op]], r.Member)
		}
		if len(by) < 2 {
			continue
		}
		counts := slices.SortedFunc(maps.Keys(by), func(a, b uint64) int { return cmp.Compare(b, a) })
		first := counts[0]
		for _, n := range counts[1:] {
			lines = append(lines, fmt.Sprintf("%s is behind by %d %s: it has begun %d, %s %d", c.who(by[n]), first-n, op, n,
				c.who(by[first]), first))
		}
	}
	return lines
}

// kinds are the kinds of collectives that members count.
func (c named) kinds() []string {
	kinds := map[string]bool{}
	for _, r := range c.Ranks {
		for op := range r.Counts {
			kinds[op] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// counts lists the operations that all members have begun: "5 AllReduce, 1 Broadcast".
func (c named) counts() string {
	var parts []string
	for _, op := range c.kinds() {
		if n := c.Ranks[0].Counts[op]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// result names a result of NCCL.
func result(code int) string {
	names := map[int]string{1: "a call of CUDA failed", 2: "a call of the system failed", 3: "an error within NCCL",
		4: "an invalid argument", 5: "invalid usage", 6: "another process failed, or the network"}
	return cmp.Or(names[code], fmt.Sprintf("error %d", code))
}
