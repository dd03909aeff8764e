package watchdog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// play plays a cell of two ranks for a time. status returns the answer of a rank that runs the cell, nil
// for none; change, unless nil, changes the snapshot before each look. The result lists what the watchdog
// wants besides asking, each action once, without times.
func play(lasts time.Duration, status func(rank int, at time.Duration) *wire.Status, change func(cell *Snapshot, at time.Duration)) (said []string) {
	began, w, questions := time.Unix(1000, 0), &Watch{}, uint64(0)
	for at := time.Duration(0); at <= lasts; at += 50 * time.Millisecond {
		cell := &Snapshot{
			Now: began.Add(at), Run: 7, Title: "cell 1", Stop: "Ctrl-C", Started: began, Shown: began, Question: questions + 1,
			Ranks: []Rank{{TakesPart: true}, {TakesPart: true}}, Reachable: []int{0, 1},
		}
		if change != nil {
			change(cell, at)
		}
		answer := func(ranks []int, question uint64, take func(ranks []int, s *wire.Status)) {
			for _, rank := range ranks {
				s := &wire.Status{Standing: &wire.Standing{Stands: true}} // of a rank that has finished the cell
				if cell.runs(rank) {
					if s = status(rank, at); s == nil {
						continue
					}
					s.Run = cell.Run
				}
				s.ID = question
				take([]int{rank}, s)
			}
		}
		for _, a := range w.Look(cell) {
			text := ""
			switch a := a.(type) {
			case Ask:
				answer(a.Ranks, wire.WatchdogQuestion, func(ranks []int, s *wire.Status) { w.Answer(ranks, s, nil, cell.Now) })
			case Examine:
				questions = a.Question
				answer(cell.Reachable, a.Question, w.Looked)
			case Say:
				text = a.Text
			case Show:
				text = a.Text
			case EndInVain:
				for _, wait := range a.Waits {
					text += fmt.Sprintf("end rank %d: %s\n", wait.Rank, wait.Why)
				}
			}
			text = regexp.MustCompile(` has run for [\d.]+ s|, for [\d.]+ s`).ReplaceAllString(text, "")
			if text != "" && !slices.Contains(said, text) {
				said = append(said, text)
			}
		}
	}
	return said
}

// waitsFor is the answer of a rank that waits for a peer since the beginning of the cell.
func waitsFor(peer int, at time.Duration) *wire.Status {
	return &wire.Status{
		Waits:    []session.Wait{{Op: "wait_signal", Peers: []int{peer}, Since: at.Seconds(), Sure: true, Seen: uint64(at) + 1}},
		Standing: &wire.Standing{Stands: true, Inside: true},
	}
}

func TestLook(t *testing.T) {
	const hangs = "cell 1 and waits (Ctrl-C interrupts it):\n"
	computes := &session.Activity{At: "cell[1]:2"}
	sleeps := &session.Activity{What: "waits in time.Sleep", At: "cell[1]:2", Blocked: true, Sleeps: true}
	first := func(others func(at time.Duration) *wire.Status) func(int, time.Duration) *wire.Status {
		return func(rank int, at time.Duration) *wire.Status {
			if rank == 0 {
				return waitsFor(1, at)
			}
			return others(at)
		}
	}
	finished := func(after time.Duration) func(*Snapshot, time.Duration) {
		return func(cell *Snapshot, at time.Duration) {
			if at >= after {
				cell.Ranks[1].Result, cell.Ranks[1].DoneAt = &session.Result{}, cell.Started.Add(after)
			}
		}
	}
	each := func(rank int, at time.Duration) *wire.Status { return waitsFor(1-rank, at) }
	until := func(end time.Duration, slow wire.Slowness) func(time.Duration) *wire.Status {
		return func(at time.Duration) *wire.Status {
			if at > end {
				return nil
			}
			return &wire.Status{Doing: computes, Slow: slow, Standing: &wire.Standing{Moves: uint64(at)}}
		}
	}
	silent := func(time.Duration) *wire.Status { return nil }
	keeps := func(cell *Snapshot, _ time.Duration) { cell.KeepsWaits = true }
	for _, c := range []struct {
		name   string
		lasts  time.Duration
		status func(rank int, at time.Duration) *wire.Status
		change func(cell *Snapshot, at time.Duration)
		want   []string
	}{
		{"a short cell", 400 * time.Millisecond, each, nil, nil},
		{"a hang: the other rank sleeps", 3 * time.Second,
			first(func(time.Duration) *wire.Status { return &wire.Status{Doing: sleeps, Standing: &wire.Standing{}} }), nil,
			[]string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  waits in time.Sleep at cell[1]:2\n"}},
		{"a slow rank that makes calls", 3 * time.Second,
			first(func(at time.Duration) *wire.Status {
				return &wire.Status{Doing: computes, Standing: &wire.Standing{Moves: uint64(at)}}
			}), nil, nil},
		{"it makes calls for very long", 12 * time.Second,
			first(func(at time.Duration) *wire.Status {
				return &wire.Status{Doing: computes, Standing: &wire.Standing{Moves: uint64(at)}}
			}), nil,
			[]string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  runs, at or after cell[1]:2\n"}},
		{"a deadlock", 3 * time.Second, each, nil, []string{"end rank 0: rank 1 waits in wait_signal\nend rank 1: rank 0 waits in wait_signal\n"}},
		{"a rank finishes before it can end a wait", 3 * time.Second, each, finished(time.Second), []string{"end rank 0: rank 1 has finished the cell\n"}},
		{"waits that are kept", 3 * time.Second, each, keeps,
			[]string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  waits in wait_signal for rank 0\n"}},
		{"all ranks sleep", 20 * time.Second, func(int, time.Duration) *wire.Status { return &wire.Status{Doing: sleeps, Standing: &wire.Standing{}} }, nil, nil},
		{"all ranks compute", 20 * time.Second, func(int, time.Duration) *wire.Status { return &wire.Status{Doing: computes} }, nil, nil},
		{"a rank has just finished", 2 * time.Second, first(silent), finished(1400 * time.Millisecond), nil},
		{"a rank has finished", 3 * time.Second, first(silent), func(cell *Snapshot, at time.Duration) {
			finished(time.Second)(cell, at)
			cell.KeepsWaits = true
		}, []string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  has finished the cell\n"}},
		{"a rank falls silent", 12 * time.Second, first(until(time.Second, 0)), keeps,
			[]string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  runs, at or after cell[1]:2\n", hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  does not answer\n"}},
		{"a rank falls silent, and the machine is slow", 30 * time.Second, first(until(time.Second, 8)), keeps, nil},
		{"for very long", 90 * time.Second, first(until(time.Second, 8)), keeps,
			[]string{hangs + "  rank 0  waits in wait_signal for rank 1\n  rank 1  does not answer\n"}},
		{"a rank has died, and the other computes", 1900 * time.Millisecond, func(int, time.Duration) *wire.Status { return &wire.Status{Doing: computes} },
			func(cell *Snapshot, at time.Duration) {
				if at >= time.Second {
					cell.HasDied, cell.FailedAt = true, cell.Started.Add(time.Second)
					cell.Ranks[1].Died, cell.Ranks[1].DoneAt, cell.Ranks[1].Result = "was killed (SIGKILL)", cell.FailedAt, &session.Result{Err: &session.Error{Msg: "died"}}
				}
			}, []string{"rank 1 was killed (SIGKILL); cell 1 still runs on other ranks (Ctrl-C interrupts it)\n"}},
		{"a rank stands at a breakpoint", 20 * time.Second, first(silent), func(cell *Snapshot, _ time.Duration) {
			cell.Stands = true
		}, nil},
		{"an interrupted cell", 20 * time.Second, first(silent), func(cell *Snapshot, at time.Duration) {
			if at > time.Second {
				cell.Interrupted = cell.Started.Add(time.Second)
			}
		}, nil},
	} {
		if got := play(c.lasts, c.status, c.change); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
