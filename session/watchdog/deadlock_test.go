package watchdog

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Looks are equal only if no rank has made progress, and count only if all devices have checked
// their waits in between.
func TestLooks(t *testing.T) {
	answers := func(change func(rank int, s *wire.Status)) map[int]*wire.Status {
		m := map[int]*wire.Status{}
		for rank := range 3 {
			s := &wire.Status{Run: 7, Standing: &wire.Standing{Moves: 5, Stands: true,
				Exchanged: []session.Exchanged{{Peer: (rank + 1) % 3, Sent: 2, Landed: 4}, {Peer: (rank + 2) % 3, Sent: 4, Landed: 2}}}}
			if rank < 2 {
				s.Waits = []session.Wait{{Op: "wait_signal", Peers: []int{1 - rank}, Sure: true, Seen: 100}}
			} else {
				s.Run = 0
			}
			if change != nil {
				change(rank, s)
			}
			m[rank] = s
		}
		return m
	}
	cell := &Snapshot{Run: 7, Ranks: []Rank{{TakesPart: true}, {TakesPart: true}, {TakesPart: true, Result: &session.Result{}}}}
	for _, test := range []struct {
		name                     string
		change                   func(rank int, s *wire.Status)
		still, alike, lookedOnce bool
	}{
		{"the same, looked at again", func(_ int, s *wire.Status) { again(s) }, true, true, true},
		{"nobody has looked", nil, true, true, false},
		{"one has not looked", func(rank int, s *wire.Status) {
			if rank == 1 {
				again(s)
			}
		}, true, true, false},
		{"one has got on", func(rank int, s *wire.Status) {
			again(s)
			if rank == 2 {
				s.Standing.Moves++
			}
		}, true, false, true},
		{"one waits in another operation", func(rank int, s *wire.Status) {
			if again(s); rank == 0 {
				s.Waits[0].Op = "put_signal"
			}
		}, true, false, true},
		{"one does not stand still", func(rank int, s *wire.Status) {
			if again(s); rank == 2 {
				s.Standing.Stands = false
			}
		}, false, false, true},
		{"one does not tell", func(rank int, s *wire.Status) {
			if again(s); rank == 2 {
				s.Standing = nil
			}
		}, false, false, true},
		{"one waits for a time", func(rank int, s *wire.Status) {
			if again(s); rank == 0 {
				s.Waits[0].Limit = 3
			}
		}, false, true, true},
		{"one wait is not sure", func(rank int, s *wire.Status) {
			if again(s); rank == 0 {
				s.Waits[0].Sure = false
			}
		}, false, true, true},
		{"one waits for nothing", func(rank int, s *wire.Status) {
			if again(s); rank == 0 {
				s.Waits = nil
			}
		}, false, false, true},
		{"one has yet to begin", func(rank int, s *wire.Status) {
			if again(s); rank == 0 {
				s.Run = 6
			}
		}, false, true, true},
		{"one that is done is in another cell", func(rank int, s *wire.Status) {
			if again(s); rank == 2 {
				s.Run = 7
			}
		}, false, true, true},
		{"a message is under way", func(rank int, s *wire.Status) {
			if again(s); rank == 2 {
				s.Standing.Exchanged[0].Sent++
			}
		}, false, false, true},
	} {
		before, after := answers(nil), answers(test.change)
		if got := cell.standStill(after); got != test.still {
			t.Errorf("%s: stands still: %v", test.name, got)
		}
		if test.name == "one does not tell" {
			continue
		}
		if got := alike(before, after); got != test.alike {
			t.Errorf("%s: alike: %v", test.name, got)
		}
		if test.alike && lookedAgain(before, after) != test.lookedOnce {
			t.Errorf("%s: looked again: %v", test.name, !test.lookedOnce)
		}
	}
}

// The wait of a user's kernel is held up if no other rank may end it, whomever it names; then the
// ranks that it names do not.
func TestAnyoneEndsWaitOfKernel(t *testing.T) {
	kernel := func(peers ...int) session.Wait {
		return session.Wait{Op: "k", Peers: peers, Sure: true, Anyone: true}
	}
	signal := func(peers ...int) session.Wait {
		return session.Wait{Op: "wait_signal", Peers: peers, Sure: true}
	}
	reduction := session.Wait{Op: "reduce", Call: "world #3", Sure: true}
	on := func(w session.Wait, peers ...int) session.Wait { w.Peers = peers; return w }
	for _, c := range []struct {
		name  string
		waits map[int][]session.Wait // of the ranks that run the cell, of four
		held  map[int][]int
	}{
		{"the others are done", map[int][]session.Wait{0: {kernel(1)}}, map[int][]int{0: {1}}},
		{"it names nobody", map[int][]session.Wait{0: {kernel()}}, map[int][]int{0: {1, 2, 3}}},
		{"it names itself", map[int][]session.Wait{0: {kernel(0)}}, map[int][]int{0: {1, 2, 3}}},
		{"others wait, too", map[int][]session.Wait{0: {kernel(1)}, 2: {signal(3)}}, map[int][]int{0: {1}, 2: {3}}},
		{"two kernels", map[int][]session.Wait{0: {kernel(1)}, 1: {kernel(0), kernel(2)}}, map[int][]int{0: {1}, 1: {0, 2}}},
		{"members of a call get on", map[int][]session.Wait{0: {kernel(1)}, 2: {on(reduction, 3)}, 3: {on(reduction, 2)}}, map[int][]int{}},
		{"the same, and the wait is an operation's",
			map[int][]session.Wait{0: {signal(1)}, 2: {on(reduction, 3)}, 3: {on(reduction, 2)}}, map[int][]int{0: {1}}},
	} {
		cell := &Snapshot{Run: 7, Ranks: make([]Rank, 4)}
		answers := map[int]*wire.Status{}
		for rank := range cell.Ranks {
			cell.Ranks[rank].TakesPart = true
			answers[rank] = &wire.Status{Run: 7, Waits: c.waits[rank], Standing: &wire.Standing{Stands: true}}
			if c.waits[rank] == nil {
				cell.Ranks[rank].Result, answers[rank].Run = &session.Result{}, 0
			}
		}
		if held := cell.heldUp(answers); !maps.EqualFunc(held, c.held, slices.Equal) {
			t.Errorf("%s: %v, want %v", c.name, held, c.held)
		}
	}
}

func again(s *wire.Status) {
	for i := range s.Waits {
		s.Waits[i].Seen += 50
	}
}

// The table waits for the looks that may end the cell: for the first one shortly, also while the next is
// not under way, and longer on a slow machine.
func TestTableAwaitsLooks(t *testing.T) {
	start := time.Unix(1000, 0)
	hung := start.Add(HangAfter)
	at := func(after time.Duration) time.Time { return start.Add(after * time.Millisecond) }
	for _, c := range []struct {
		name string
		s    suspicion
		now  time.Duration // milliseconds since the start, as in s
		slow wire.Slowness
		due  bool
	}{
		{"no look", suspicion{}, 1600, 0, false},
		{"the first look", suspicion{question: 1, asked: at(1300)}, 1700, 0, true},
		{"the first look was in vain", suspicion{asked: at(1400)}, 1600, 0, true},
		{"later", suspicion{asked: at(1900)}, 2100, 0, false},
		{"a look that nobody answers", suspicion{question: 2, asked: at(1300)}, 2100, 0, false},
		{"the same on a slow machine", suspicion{question: 2, asked: at(1300)}, 2100, 8, true},
		{"for long on a slow machine", suspicion{question: 2, asked: at(1300)}, 3600, 8, false},
		{"a wait that begins later", suspicion{question: 3, asked: at(9000)}, 9400, 0, true},
		{"equal looks", suspicion{looks: 1, began: at(1300)}, 3700, 0, true},
		{"equal looks for long", suspicion{looks: 1, began: at(1300)}, 3900, 0, false},
		{"equal looks that cannot end the cell", suspicion{looks: 1, open: true, began: at(500)}, 1600, 0, false},
		{"waits that may end by themselves, on a slow machine", suspicion{asked: at(1400), open: true}, 1600, 8, false},
		{"equal looks on a slow machine", suspicion{looks: 1, began: at(1300)}, 11_000, 8, true},
	} {
		if got := c.s.isDue(at(c.now), hung, c.slow); got != c.due {
			t.Errorf("%s: %v, want %v", c.name, got, c.due)
		}
	}
}

// A look at waits that may end though no rank makes a call does not delay the table, nor does one at
// ranks that can end each other's waits.
func TestLooksInVain(t *testing.T) {
	for _, test := range []struct {
		name  string
		waits []session.Wait // of rank 0, 1
		open  bool
		looks int
	}{
		{"one for the other", []session.Wait{{Op: "w", Peers: []int{1}, Sure: true}, {Op: "w", Peers: []int{0}, Sure: true}}, false, 1},
		{"in a kernel of the user's", []session.Wait{{Op: "k"}, {Op: "k"}}, true, 0},
		{"with a limit", []session.Wait{{Op: "w", Peers: []int{1}, Sure: true, Limit: 60}, {Op: "w", Peers: []int{0}, Sure: true}}, true, 0},
		{"in one call", []session.Wait{{Op: "c", Call: "c #1", Peers: []int{1}, Sure: true}, {Op: "c", Call: "c #1", Peers: []int{0}, Sure: true}}, true, 1},
	} {
		w := &Watch{}
		s := &w.stuck
		s.question, s.answers = 3, map[int]*wire.Status{}
		for rank, wait := range test.waits {
			s.answers[rank] = &wire.Status{Run: 7, Waits: []session.Wait{wait}, Standing: &wire.Standing{Stands: true}}
		}
		w.lookForDeadlock(&Snapshot{Now: time.Unix(1000, 0), Run: 7, Reachable: []int{0, 1}, Ranks: []Rank{{TakesPart: true}, {TakesPart: true}}})
		if s.open != test.open || s.looks != test.looks {
			t.Errorf("%s: open %v after %d equal looks, want %v after %d", test.name, s.open, s.looks, test.open, test.looks)
		}
	}
}
