package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// The traces of two ranks: rank 0 waits for rank 1, which comes late, and then puts twice.
func tracesOfTwo() map[int]session.Trace {
	const ms = time.Millisecond
	zero := time.Unix(1700000000, 0)
	at := func(d time.Duration) time.Time { return zero.Add(d) }
	return map[int]session.Trace{
		0: {Ops: []session.TracedOp{
			{Op: "barrier", At: "cell[3]:1", Begin: at(0), Took: 40 * ms,
				Waits: []session.TracedWait{{Peers: []int{1}, Begin: at(10 * ms), Took: 20 * ms},
					{Peers: []int{1}, Begin: at(25 * ms), Took: 10 * ms}}},
			{Op: "Put", At: "cell[3]:2", Begin: at(40 * ms), Took: 5 * ms},
			{Op: "Put", At: "cell[3]:2", Begin: at(50 * ms), Took: 10 * ms},
		}},
		1: {Ops: []session.TracedOp{{Op: "barrier", At: "cell[3]:1", Begin: at(30 * ms), Took: 10 * ms}}, More: 7},
	}
}

const timelineOfTwo = `rank 0  |██████████░░░░░░░░░░░░░░░░░░░░░░░░░█████▓▓▓▓▓     ▓▓▓▓▓▓▓▓▓▓|
rank 1  |                              ██████████                    |
60.0 ms in all: ░ waits  █ barrier  ▓ Put

rank  begin    took     waited         operation
0     0        40.0 ms  25.0 ms for 1  barrier at cell[3]:1
0     40.0 ms  15.0 ms                 2 × Put at cell[3]:2
1     30.0 ms  10.0 ms                 barrier at cell[3]:1
… 7 more operations`

func TestTimeline(t *testing.T) {
	l := newTimeline(tracesOfTwo())
	if got := l.text(); got != timelineOfTwo {
		t.Errorf("\n%s\nwant\n%s", got, timelineOfTwo)
	}
	svg := l.picture().SVG()
	for _, part := range []string{
		`<path d="M45,84.75L345,84.75L345,96.75L45,96.75Z" style="fill:#2A9D4A" />`,
		`<rect x="45" y="2.25" width="300" height="12" fill="none" pointer-events="all"><title>barrier at cell[3]:1, 40.0 ms from 0 on</title></rect>`,
		`<path d="M120,87.75L270,87.75L270,93.75L120,93.75Z" style="fill:#BBBBBB" />`,
		`<rect x="120" y="5.25" width="150" height="6" fill="none" pointer-events="all"><title>barrier waits 20.0 ms for rank 1</title></rect>`,
		`<rect x="270" y="18.75" width="75" height="12" fill="none" pointer-events="all"><title>barrier at cell[3]:1, 10.0 ms from 30.0 ms on</title></rect>`,
		`<path d="M420,84.75L495,84.75L495,96.75L420,96.75Z" style="fill:#3A6EA5" />`,
		`<rect x="420" y="2.25" width="75" height="12" fill="none" pointer-events="all"><title>Put at cell[3]:2, 10.0 ms from 50.0 ms on</title></rect>`,
	} {
		if !strings.Contains(svg, part) {
			t.Errorf("the picture lacks %s: %s", part, svg)
		}
	}
}

// The timeline shows operations between hosts with their bytes. Only equal ones share a line.
func TestTimelineOverNetwork(t *testing.T) {
	op := func(at int, op, over string, bytes int) session.TracedOp {
		return session.TracedOp{Op: op, At: "cell[1]:1", Begin: time.Unix(0, int64(at)*1e6), Took: time.Millisecond, Over: over,
			Bytes: bytes}
	}
	l := newTimeline(map[int]session.Trace{0: {Ops: []session.TracedOp{
		op(0, "put", "the null network to rank 3 on host 1", 4096), op(1, "put", "the null network to rank 3 on host 1", 4096),
		op(2, "put", "the null network to rank 2 on host 1", 4096), op(3, "put", "", 0),
		op(4, "barrier", "the null network with host 1", 0),
	}}})
	const want = `
rank  begin    took     waited  operation
0     0        2.00 ms          2 × put at cell[1]:1, 4096 bytes over the null network to rank 3 on host 1
0     2.00 ms  1.00 ms          put at cell[1]:1, 4096 bytes over the null network to rank 2 on host 1
0     3.00 ms  1.00 ms          put at cell[1]:1
0     4.00 ms  1.00 ms          barrier at cell[1]:1, over the null network with host 1`
	if got := l.text(); !strings.HasSuffix(got, want) {
		t.Errorf("\n%s\nwant%s", got, want)
	}
	if svg := l.picture().SVG(); !strings.Contains(svg, "<title>put at cell[1]:1, 4096 bytes over the null network to rank 2 on host 1, 1.00 ms from 2.00 ms on</title>") {
		t.Error(svg)
	}
}

// The bars and the legend are at most 80 characters wide with any number of operations. The table
// has a bound.
func TestWideTimeline(t *testing.T) {
	var trace session.Trace
	for i := range 50 {
		trace.Ops = append(trace.Ops, session.TracedOp{Op: fmt.Sprintf("operation_%d", i), Begin: time.Unix(0, int64(i)*1000),
			Took: time.Microsecond})
	}
	text := newTimeline(map[int]session.Trace{11: trace}).text()
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > pageWidth+1 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if !strings.HasSuffix(text, "operation_39\n… 10 more operations") {
		t.Error(text)
	}
}
