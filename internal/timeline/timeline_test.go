package timeline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const ms = 1000000

// op, part and wait make slices; times are in milliseconds.
func op(track Track, name, at string, begin, took, call int) Slice {
	return Slice{Kind: Operation, Track: track, Name: name, At: at, Begin: int64(begin) * ms, Took: int64(took) * ms, Call: call}
}

func part(kind Kind, of Slice, name string, begin, took int) Slice {
	return Slice{Kind: kind, Track: of.Track, Name: name, Begin: int64(begin) * ms, Took: int64(took) * ms, Call: of.Call}
}

func wait(of Slice, begin, took int, peers ...int) Slice {
	w := part(Wait, of, "wait", begin, took)
	w.Peers, w.Ended, w.Group, w.Meets = peers, peers, of.Group, of.Meets
	return w
}

// meets makes an operation a collective call.
func meets(s Slice, number int) Slice {
	s.Group, s.Meets = "world", fmt.Sprint("world #", number)
	return s
}

// rank is a record by the clock of machine m.
func rank(r int, slices ...Slice) Rank {
	return Rank{Rank: r, Source: "a test", Clock: Clock{Machine: "m", Resolution: 40}, Slices: slices}
}

// arrows describes the arrows of a timeline: "1 put 5ms > 0 wait until 35ms".
func arrows(t *Timeline) (list []string) {
	for _, f := range t.Flows {
		from, to := t.At(f.From), t.At(f.To)
		text := fmt.Sprintf("%d %s %d > %d %s %d", t.Ranks[f.From.Rank].Rank, from.Name, from.Begin/ms, t.Ranks[f.To.Rank].Rank, to.Name, to.End()/ms)
		if f.Likely {
			text += "?"
		}
		list = append(list, text)
	}
	return list
}

func expect[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got\n%v\nwant\n%v", what, got, want)
	}
}

// The n-th signal ends the n-th wait; a wait that ended before any signal was given has no arrow.
func TestSignals(t *testing.T) {
	signal := []string{Signal("world", 1, 0, 3)}
	put := func(begin, call int) Slice {
		s := op(0, "put_signal", "", begin, 1, call)
		s.Sends = signal
		return s
	}
	await := func(begin, took, call int) Slice {
		s := op(0, "wait_signal", "", begin, took, call)
		s.Awaits = signal
		return s
	}
	second := await(5, 16, 2)
	got := Merge([]Rank{
		rank(0, await(0, 2, 1), second, wait(second, 6, 15, 1), await(30, 1, 3)),
		rank(1, put(20, 1), put(25, 2)),
	})
	expect(t, "arrows", arrows(got), []string{"1 put_signal 20 > 0 wait 21", "1 put_signal 25 > 0 wait_signal 31"})
}

// The last change of a word before the end of a wait ends it, whichever rank it is of.
func TestWords(t *testing.T) {
	name := []string{Word("tensor 1", 0, 7)}
	add := func(begin, call int) Slice {
		s := op(1, "signal_add", "", begin, 1, call)
		s.Sends = name
		return s
	}
	w := op(0, "wait_for_signal", "", 0, 20, 1)
	w.Awaits = name
	got := Merge([]Rank{rank(0, w, wait(w, 0, 20)), rank(1, add(3, 1), add(30, 2)), rank(2, add(18, 1))})
	expect(t, "arrows", arrows(got), []string{"2 signal_add 18 > 0 wait 20"})
}

// A wait of a collective call was ended by the rank that came last; one of a user's kernel likely by
// the latest work of that rank in the group.
func TestMeetings(t *testing.T) {
	b0, b1, b2 := meets(op(0, "barrier", "", 0, 40, 1), 1), meets(op(0, "barrier", "", 10, 30, 1), 1), meets(op(0, "barrier", "", 38, 2, 1), 1)
	k := op(0, "mine", "", 50, 20, 2)
	k.Group = "world"
	early := wait(b0, 0, 10, 1)
	late := wait(b0, 10, 29, 1, 2)
	late.Ended = []int{2}
	spins := wait(k, 51, 18, 2)
	other := op(0, "theirs", "", 60, 5, 2)
	other.Group = "world"
	got := Merge([]Rank{rank(2, b2, other), rank(0, b0, early, late, k, spins), rank(1, b1)})
	expect(t, "arrows", arrows(got), []string{"1 barrier 10 > 0 wait 10", "2 barrier 38 > 0 wait 39", "2 theirs 60 > 0 wait 69?"})
}

// Clocks of other machines are moved by the middle of what the round trips allow, and drift evenly;
// those of one machine that contradict each other, or that were not compared, are apart.
func TestMerge(t *testing.T) {
	at := func(r int, machine string, ahead, within int64, slices ...Slice) Rank {
		out := rank(r, slices...)
		out.Clock.Machine = machine
		out.Clock.Before = Comparison{At: 0, Low: ahead - within, High: ahead + within}
		out.Clock.After = Comparison{At: 100 * ms, Low: ahead + 2*ms - within, High: ahead + 2*ms + within}
		return out
	}
	first := at(0, "a", 0, 1000, op(0, "x", "", 0, 1, 1))
	first.Clock.After = first.Clock.Before
	first.Clock.After.At = 100 * ms
	contradicts := at(3, "b", 900*ms, 3000, op(0, "x", "", 0, 1, 1))
	unknown := rank(4, op(0, "x", "", 0, 1, 1))
	unknown.Clock = Clock{Why: "the connection was lost"}
	exact := rank(5, op(0, "x", "", 7, 1, 1))
	exact.Clock.Machine, exact.Clock.Device = "a", 500
	got := Merge([]Rank{first, at(1, "b", 500*ms, 3000, op(0, "x", "", 50, 1, 1)),
		at(2, "b", 500*ms, 2000, op(0, "x", "", 0, 1, 1)), contradicts, unknown, exact})
	begins := map[int]int64{}
	for _, r := range got.Ranks {
		begins[r.Rank] = r.Slices[0].Begin
	}
	expect(t, "begins", begins, map[int]int64{0: 0, 1: 551 * ms, 2: 500 * ms, 5: 7 * ms})
	expect(t, "within", got.Within, []int64{40, 3000, 3000, 540})
	expect(t, "apart", got.Apart, map[int]string{3: "its clock differs from that of the other ranks of its machine", 4: "the connection was lost"})
	expect(t, "header", got.Header(), []string{"times on streams of rank 0-2,5: a test", "clock of rank 0; times of other ranks are exact to ± 3µs (rank 1)",
		"rank 3 is left out: its clock differs from that of the other ranks of its machine", "rank 4 is left out: the connection was lost"})
}

// The parts that a rank recorded are not changed.
func TestMergeKeepsRecords(t *testing.T) {
	records := []Rank{rank(0, op(0, "x", "", 5, 1, 1))}
	Merge(records)
	if records[0].Slices[0].Begin != 5*ms {
		t.Errorf("%+v", records[0].Slices)
	}
}

func TestSpans(t *testing.T) {
	u := union([]span{{5, 9}, {0, 2}, {1, 4}, {9, 10}, {7, 7}})
	expect(t, "union", u, []span{{0, 4}, {5, 10}})
	expect(t, "without", without(u, []span{{1, 2}, {3, 6}, {9, 20}}), []span{{0, 1}, {2, 3}, {6, 9}})
	expect(t, "without all", without(u, []span{{0, 10}}), nil)
	expect(t, "shared", shared([][]span{u, {{3, 6}}, {{5, 8}, {9, 12}}}), 1+3+1)
}

// cellOfTwo has two ranks: rank 1 multiplies for long before it comes to the barrier, while it copies
// on another stream; rank 0 waits for it, and then works alone.
func cellOfTwo() *Timeline {
	b0, b1 := meets(op(0, "barrier", "cell[3]:2", 10, 52, 2), 1), meets(op(0, "barrier", "cell[3]:2", 60, 2, 3), 1)
	short, long, copied, last := op(0, "matmul", "cell[3]:1", 0, 10, 1), op(0, "matmul", "cell[3]:1", 0, 60, 1),
		op(1, "put", "cell[3]:4", 20, 30, 2), op(0, "fill", "cell[3]:5", 62, 8, 3)
	return Merge([]Rank{
		rank(0, short, part(Kernel, short, "gemm", 0, 10), b0, part(Kernel, b0, "barrier", 10, 52), wait(b0, 11, 50, 1), last, part(Copy, last, "set", 62, 8)),
		rank(1, long, part(Kernel, long, "gemm", 0, 60), copied, part(Copy, copied, "copy", 20, 30), b1, part(Kernel, b1, "barrier", 60, 2)),
	})
}

func TestSummary(t *testing.T) {
	got := cellOfTwo().Summary()
	expect(t, "kernels", got.Kernels, []Share{{"gemm", 2, 70 * ms}, {"barrier", 2, 4 * ms}})
	expect(t, "copies and waits", []Share{got.Copies, got.Waits}, []Share{{"copies", 2, 38 * ms}, {"waits", 1, 50 * ms}})
	expect(t, "overlap", got.Overlap, []Overlap{{0, 20 * ms, 0}, {1, 62 * ms, 30 * ms}})
	expect(t, "critical path", got.Critical, []Segment{{1, "matmul", "cell[3]:1", 0, 60 * ms}, {1, "barrier", "cell[3]:2", 60 * ms, ms},
		{0, "barrier", "cell[3]:2", 61 * ms, ms}, {0, "fill", "cell[3]:5", 62 * ms, 8 * ms}})
	expect(t, "text", got.String(), `kernels   2 × gemm 70.0 ms, 2 × barrier 4.00 ms
the rest  2 × copies 38.0 ms, 1 × waits 50.0 ms; all ranks together
critical  70.0 ms: rank 1 matmul at cell[3]:1 60.0 ms → rank 1 barrier at cell[3]:2 1.00 ms → rank 0 barrier at cell[3]:2 1.00 ms → rank 0 fill at cell[3]:5 8.00 ms
overlap   rank 0 0 %, rank 1 48 % of the time in which it works, on two tracks at once
slowest   rank 1: the others waited 50.0 ms for it, rank 0 longest, 50.0 ms in barrier at cell[3]:2, when rank 1 was in matmul at cell[3]:1`)
}

// A rank that issues nothing makes the others wait too.
func TestSlowestHost(t *testing.T) {
	b0, b1 := meets(op(0, "barrier", "", 0, 50, 1), 1), meets(op(0, "barrier", "", 49, 1, 1), 1)
	slow := Merge([]Rank{rank(0, b0, wait(b0, 0, 49, 1)), rank(1, b1)}).Summary().Slowest
	if slow.Doing != "had nothing on its streams: its cell had issued nothing yet" {
		t.Errorf("%+v", slow)
	}
	call := Slice{Kind: Call, Track: Host, Name: "Synchronize", At: "cell[1]:4", Begin: 2 * ms, Took: 44 * ms}
	slow = Merge([]Rank{rank(0, b0, wait(b0, 0, 49, 1)), rank(1, call, b1)}).Summary().Slowest
	if slow.Doing != "was on the host in Synchronize at cell[1]:4" {
		t.Errorf("%+v", slow)
	}
	if none := Merge([]Rank{rank(0, b1)}).Summary(); none.Slowest != nil || strings.Contains(none.String(), "slowest") {
		t.Errorf("%+v", none)
	}
}

const textOfTwo = `rank 0  stream 0 |████████▓░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░▓▒▒▒▒▒▒▒|
rank 1  stream 0 |███████████████████████████████████████████████████▓▓       |
        stream 1 |                 aaaaaaaaaaaaaaaaaaaaaaaaa                  |
70.0 ms in all: ░ waits  █ matmul  ▓ barrier  ▒ fill  a put

rank  track     begin    took     waited         operation
0     stream 0  0        10.0 ms                 matmul at cell[3]:1
0     stream 0  10.0 ms  52.0 ms  50.0 ms for 1  barrier at cell[3]:2
0     stream 0  62.0 ms  8.00 ms                 fill at cell[3]:5
1     stream 0  0        60.0 ms                 matmul at cell[3]:1
1     stream 1  20.0 ms  30.0 ms                 put at cell[3]:4
1     stream 0  60.0 ms  2.00 ms                 barrier at cell[3]:2`

// Two streams are two bars.
func TestText(t *testing.T) {
	if got := cellOfTwo().Text(); got != textOfTwo {
		t.Errorf("\n%s\nwant\n%s", got, textOfTwo)
	}
	if got := Merge([]Rank{rank(0)}).Text(); got != "" {
		t.Error(got)
	}
}

// Operations between hosts are shown with their bytes. Only equal ones share a line.
func TestTextOverNetwork(t *testing.T) {
	over := func(at int, name, over string, bytes int) Slice {
		s := op(0, name, "cell[1]:1", at, 1, at+1)
		s.Over, s.Bytes = over, bytes
		return s
	}
	got := Merge([]Rank{rank(0, over(0, "put", "the null network to rank 3 on host 1", 4096), over(1, "put", "the null network to rank 3 on host 1", 4096),
		over(2, "put", "the null network to rank 2 on host 1", 4096), over(3, "put", "", 0), over(4, "barrier", "the null network with host 1", 0))}).Text()
	const want = `
rank  begin    took     waited  operation
0     0        2.00 ms          2 × put at cell[1]:1, 4096 bytes over the null network to rank 3 on host 1
0     2.00 ms  1.00 ms          put at cell[1]:1, 4096 bytes over the null network to rank 2 on host 1
0     3.00 ms  1.00 ms          put at cell[1]:1
0     4.00 ms  1.00 ms          barrier at cell[1]:1, over the null network with host 1`
	if !strings.HasSuffix(got, want) {
		t.Errorf("\n%s\nwant%s", got, want)
	}
}

// The bars and the legend are at most 80 characters wide with any number of operations. The table
// has a bound.
func TestWideText(t *testing.T) {
	var list []Slice
	for i := range 50 {
		list = append(list, op(0, fmt.Sprintf("operation_%d", i), "", i, 1, i+1))
	}
	text := Merge([]Rank{rank(11, list...)}).Text()
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > lineWidth+1 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if !strings.HasSuffix(text, "operation_39\n… 10 more operations") {
		t.Error(text)
	}
}

func TestRanks(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "3": {3}, "0-2,5,7-8": {0, 1, 2, 5, 7, 8}} {
		if got := Ranks(list); got != want {
			t.Errorf("%v is %q, want %q", list, got, want)
		}
	}
}

// A clock that is read twice shows two times, and is CLOCK_MONOTONIC.
func TestNow(t *testing.T) {
	before := monotonic()
	now := Now()
	after := monotonic()
	const exact = 100000 // nanoseconds
	if now < before-exact || now > after+exact {
		t.Errorf("%d is not between %d and %d", now, before, after)
	}
	if r := Resolution(); r < 1 || r > ms {
		t.Errorf("the clock resolves %d ns", r)
	}
	if a, b := Machine(), Machine(); a == "" || a != b {
		t.Errorf("the machine is %q, then %q", a, b)
	}
}

// Delays of a known length, on one way or both, are within the stated uncertainty, and the bounds of
// several trips are narrower than those of each.
func TestCompare(t *testing.T) {
	for _, delays := range [][][2]int64{
		{{100, 100}}, {{5000, 10}}, {{10, 5000}}, {{5000, 10}, {10, 5000}}, {{900, 800}, {100, 300}, {2000, 50}}, {{0, 0}},
	} {
		const ahead = 123456789
		now, trip := int64(0), 0
		clock := func() int64 { return now }
		c, err := Compare(len(delays), clock, func() (int64, error) {
			d := delays[trip]
			trip++
			now += d[0]
			there := now + ahead
			now += d[1]
			return there, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if off := c.middle() - ahead; off > c.within() || off < -c.within() {
			t.Errorf("delays %v: off by %d, stated ± %d", delays, off, c.within())
		}
		quickest := slices.MinFunc(delays, func(a, b [2]int64) int { return int(a[0] + a[1] - b[0] - b[1]) })
		if most := (quickest[0]+quickest[1])/2 + 1; c.within() > most {
			t.Errorf("delays %v: ± %d, the quickest trip alone has ± %d", delays, c.within(), most)
		}
	}
	if c, err := Compare(2, func() int64 { return 0 }, func() func() (int64, error) {
		n := int64(0)
		return func() (int64, error) { n += 10; return n, nil }
	}()); err == nil {
		t.Errorf("a clock that was set gives %+v", c)
	}
}

// The critical path begins with the first operation of any rank, as the bars do, also if the trace
// began long before.
func TestCriticalWithinTotal(t *testing.T) {
	late := Timeline{Ranks: []Rank{
		{Rank: 0, Slices: []Slice{{Kind: Operation, Name: "fill", Begin: 100 * ms, Took: 5 * ms, Call: 1}}},
		{Rank: 1, Slices: []Slice{{Kind: Operation, Name: "fill", Begin: 103 * ms, Took: 5 * ms, Call: 1}}},
	}}
	begin, end := Span(late.Bars())
	path := late.Summary().Critical
	took := int64(0)
	for _, s := range path {
		took += s.Took
	}
	if len(path) != 2 || path[0].Begin != begin || path[0].Name != Idle || took != end-begin {
		t.Errorf("the critical path is %+v of %d ms, and all took %d ms", path, took/ms, (end-begin)/ms)
	}
}
