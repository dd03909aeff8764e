package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/session"
)

// tracedLesson runs a lesson on four ranks while they are traced, and returns the timeline.
func tracedLesson(t *testing.T, name, hosts string) *timeline.Timeline {
	t.Helper()
	lesson := readLesson(t, name)
	const ranks = 4
	on, err := session.ParseHosts(hosts, ranks)
	if err != nil {
		t.Fatal(err)
	}
	s := launchOn(t, ranks, on)
	ask := func(topic session.Topic) []session.Answer {
		answers, err := s.Inspect(t.Context(), nil, session.Query{Topic: topic})
		for _, a := range answers {
			if a.Err != nil {
				err = a.Err
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	ask(session.TopicStartTrace)
	runLesson(t, s, lesson, ranks, nil)
	var records []timeline.Rank
	for _, a := range ask(session.TopicStopTrace) {
		if a.Trace == nil || a.Trace.More != 0 {
			t.Fatalf("rank %d recorded %+v", a.Rank, a.Trace)
		}
		records = append(records, *a.Trace)
	}
	return timeline.Merge(records)
}

// lessonArrows checks the arrows of a lesson, and counts them by the names at their ends, and " far"
// if these are on two hosts.
func lessonArrows(t *testing.T, l *timeline.Timeline) map[string]int {
	t.Helper()
	if len(l.Ranks) != 4 || len(l.Apart) != 0 {
		t.Fatalf("%d ranks, apart %v", len(l.Ranks), l.Apart)
	}
	count, reached := map[string]int{}, map[timeline.End]bool{}
	for _, f := range l.Flows {
		from, to := l.At(f.From), l.At(f.To)
		if slack := l.Within[f.From.Rank] + l.Within[f.To.Rank]; from.Begin > to.End()+slack {
			t.Errorf("an arrow goes back from %+v to %+v", from, to)
		}
		reached[f.To] = true
		name := from.Name + " > " + operationOf(l, f.To).Name
		count[name]++
		if l.Ranks[f.From.Rank].Host != l.Ranks[f.To.Rank].Host {
			count[name+" far"]++
		}
		if f.From.Rank == f.To.Rank && from.Track != to.Track {
			count[name+" beside"]++
		}
	}
	ended := map[*timeline.Slice]bool{}
	for to := range reached {
		ended[operationOf(l, to)] = true
	}
	for i, r := range l.Ranks {
		operations := map[int]*timeline.Slice{}
		for j := range r.Slices {
			s := &r.Slices[j]
			switch s.Kind {
			case timeline.Operation:
				operations[s.Call] = s
				if len(s.Awaits) > 0 && !ended[s] {
					count["awaited in vain"]++
				}
			case timeline.Kernel, timeline.Copy:
				if o := operations[s.Call]; o == nil || s.Begin < o.Begin || s.End() > o.End() || s.Track != o.Track {
					t.Errorf("rank %d: %+v is not within its operation %+v", r.Rank, s, o)
				}
			case timeline.Wait:
				if met(l, i, s) && !reached[timeline.End{Rank: i, Slice: j}] {
					t.Errorf("rank %d: no arrow reaches %+v", r.Rank, s)
				}
			case timeline.Arrival:
				if len(l.Ranks[i].Slices[j].Awaits) == 1 && !reached[timeline.End{Rank: i, Slice: j}] {
					t.Errorf("rank %d: no arrow reaches the message %+v", r.Rank, s)
				}
			}
		}
	}
	return count
}

// met reports whether another rank had come to the call of a rank's wait when that ended: else the
// call before it ended the wait, or the wait gave up.
func met(l *timeline.Timeline, rank int, w *timeline.Slice) bool {
	for i := range l.Ranks {
		for j := range l.Ranks[i].Slices {
			if i == rank {
				break
			}
			s := &l.Ranks[i].Slices[j]
			if w.Meets != "" && s.Meets == w.Meets && s.Kind != timeline.Wait && slices.Contains(w.Ended, l.Ranks[i].Rank) && s.Begin <= w.End() {
				return true
			}
		}
	}
	return false
}

// operationOf is the operation that an end of an arrow is of.
func operationOf(l *timeline.Timeline, e timeline.End) *timeline.Slice {
	s := l.At(e)
	for i := range l.Ranks[e.Rank].Slices {
		if o := &l.Ranks[e.Rank].Slices[i]; s.Kind == timeline.Wait && s.Call > 0 && o.Kind == timeline.Operation && o.Call == s.Call {
			return o
		}
	}
	return s
}

// streams lists the streams of a timeline's first rank.
func streams(l *timeline.Timeline) (list []string) {
	for _, b := range l.Bars() {
		if b.Rank == l.Ranks[0].Rank {
			list = append(list, b.Track.String())
		}
	}
	return list
}

// The lessons have the arrows of what they do, on one host and on two, and the streams side by side
// that they use.
func TestTracedLessons(t *testing.T) {
	if testing.Short() {
		t.Skip("short: runs the tutorials")
	}
	if device() != "cpu" {
		t.Skip("the null network needs the cpu device")
	}
	t.Setenv("SYMMREPL_NET", "null delay=200us")
	for _, c := range []struct {
		name, hosts string
		arrows      map[string]int // how many there are at least
		streams     string         // the first of them
		// waits for signals that none ends: on each rank two that give up on purpose, or two for a value
		// that the word has from the start; -1 if that varies
		vain int
	}{
		{"09-copy-engines", "1", map[string]int{"signal_add > wait_for_signal beside": 4, "put_with_signal > wait_for_signal": 9},
			"host calls,stream 0,stream 1", 8},
		{"11-put-signal-wait", "2", map[string]int{"put_with_signal > wait_for_signal far": 1,
			"put and signal > put and signal far": 1, "barrier > barrier far": 1}, "host calls,stream 0", 8},
		{"13-hierarchical", "2", map[string]int{"put_with_signal > wait_for_signal far": 4, "barrier > barrier far": 1}, "host calls,stream 0", 0},
		{"15-moe-overlap", "2", map[string]int{"put > put far": 1}, "host calls,stream 0,stream 1", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := tracedLesson(t, c.name, c.hosts)
			found := lessonArrows(t, l)
			for name, least := range c.arrows {
				if found[name] < least {
					t.Errorf("%d arrows %s, at least %d are there: %v", found[name], name, least, found)
				}
			}
			if got := strings.Join(streams(l), ","); !strings.HasPrefix(got, c.streams) {
				t.Errorf("the first rank shows %s, want %s", got, c.streams)
			}
			sum := l.Summary()
			for _, o := range sum.Overlap {
				if o.Beside < 0 || o.Beside > o.Busy || o.Busy <= 0 || o.Busy > l.Took {
					t.Errorf("overlap %+v of %d", o, l.Took)
				}
			}
			if got := found["awaited in vain"]; c.vain >= 0 && got != c.vain {
				t.Errorf("no arrow reaches %d waits for signals, want %d", got, c.vain)
			}
			until := int64(-1)
			for _, g := range sum.Critical {
				if g.Took <= 0 || g.Begin < until {
					t.Errorf("%+v of the critical path begins before %d", g, until)
				}
				until = g.Begin + g.Took
			}
			if sum.Slowest == nil || len(sum.Kernels) == 0 {
				t.Errorf("%+v", sum)
			}
			t.Log(fmt.Sprint(found))
		})
	}
}
