package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/session"
)

// tracesOfTwo are the traces of two ranks: rank 0 waits for rank 1, which comes late, and then puts
// twice, on another stream.
func tracesOfTwo() map[int]session.Trace {
	const ms = int64(time.Millisecond)
	const zero = 1700000000 * ms
	op := func(track timeline.Track, name, at string, begin, took int64, call int) timeline.Slice {
		return timeline.Slice{Kind: timeline.Operation, Track: track, Name: name, At: at, Begin: zero + begin*ms, Took: took * ms, Call: call}
	}
	barrier := func(begin, took int64) timeline.Slice {
		b := op(0, "barrier", "cell[3]:1", begin, took, 1)
		b.Meets = "world #1"
		return b
	}
	wait := timeline.Slice{Kind: timeline.Wait, Name: "wait", Begin: zero + 10*ms, Took: 25 * ms, Call: 1, Peers: []int{1}, Ended: []int{1}, Meets: "world #1"}
	clock := timeline.Clock{Machine: "m", Resolution: 40}
	return map[int]session.Trace{
		0: {Source: "a test", Clock: clock,
			Slices: []timeline.Slice{barrier(0, 40), wait, op(1, "Put", "cell[3]:2", 40, 5, 2), op(1, "Put", "cell[3]:2", 50, 10, 3)}},
		1: {Rank: 1, Source: "a test", Clock: clock, Slices: []timeline.Slice{barrier(30, 10)}, More: 7},
	}
}

const timelineOfTwo = `rank 0  stream 0 |██████████░░░░░░░░░░░░░░░░░░░░░░░░░█████                    |
        stream 1 |                                        ▓▓▓▓▓     ▓▓▓▓▓▓▓▓▓▓|
rank 1  stream 0 |                              ██████████                    |
60.0 ms in all: ░ waits  █ barrier  ▓ Put

rank  track     begin    took     waited         operation
0     stream 0  0        40.0 ms  25.0 ms for 1  barrier at cell[3]:1
0     stream 1  40.0 ms  15.0 ms                 2 × Put at cell[3]:2
1     stream 0  30.0 ms  10.0 ms                 barrier at cell[3]:1
… 7 more operations

kernels   2 × barrier 25.0 ms, 2 × Put 15.0 ms
the rest  no copies, 1 × waits 25.0 ms; all ranks together
critical  60.0 ms: rank 1 nothing on its streams 30.0 ms → rank 1 barrier at cell[3]:1 5.00 ms → rank 0 barrier at cell[3]:1 5.00 ms → rank 0 Put at cell[3]:2 5.00 ms → rank 0 nothing on its streams 5.00 ms → rank 0 Put at cell[3]:2 10.0 ms
overlap   rank 0-1 0 % of the time in which it works, on two tracks at once
slowest   rank 1: the others waited 25.0 ms for it, rank 0 longest, 25.0 ms in barrier at cell[3]:1, when rank 1 had nothing on its streams: its cell had issued nothing yet

times on streams of rank 0-1: a test
clock of rank 0; times of other ranks are exact to ± 40ns (rank 0)
rank 1: 7 more were not recorded`

// tracing is a console whose ranks answer with traces, and the queries that they got.
func tracing(traces *map[int]session.Trace) (c *consoletest.Console, out fmt.Stringer, reset func(), cells func() []session.Cell, asked *[]string) {
	con, fake, buffer := newConsole()
	asked = new([]string)
	fake.OnInspect = func(_ []int, q session.Query) (answers []session.Answer) {
		*asked = append(*asked, fmt.Sprint(q.Topic, " after ", len(fake.Cells)))
		for rank := range 2 {
			a := session.Answer{Rank: rank}
			if trace, ok := (*traces)[rank]; ok && q.Topic == session.TopicStopTrace {
				a.Trace = &trace
			}
			answers = append(answers, a)
		}
		return answers
	}
	return con, buffer, buffer.Reset, func() []session.Cell { return fake.Cells }, asked
}

func TestTraceCommand(t *testing.T) {
	traces := tracesOfTwo()
	c, out, reset, cells, asked := tracing(&traces)
	if c.Run(t.Context(), ":trace h.Barrier(0)") != console.Done || out.String() != timelineOfTwo+"\n" {
		t.Errorf("%s", out)
	}
	if got := strings.Join(*asked, ", "); got != "start trace after 0, stop trace after 1" || cells()[0].Source != "h.Barrier(0)" {
		t.Error(got)
	}
	reset()
	traces = nil
	if c.Run(t.Context(), ":trace 1+1") != console.Done || out.String() != "the cell called no operation on a device\n" {
		t.Errorf("%s", out)
	}
}

func TestTraceToFile(t *testing.T) {
	traces := tracesOfTwo()
	c, out, _, cells, _ := tracing(&traces)
	path := filepath.Join(t.TempDir(), "t.pftrace")
	if c.Run(t.Context(), ":trace --out "+path+" h.Barrier(0)") != console.Done || cells()[0].Source != "h.Barrier(0)" ||
		!strings.Contains(out.String(), "the timeline is in "+path) {
		t.Errorf("%s", out)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "rank 1 on host 0") {
		t.Errorf("the file has %q, %v", data, err)
	}
	if c.Run(t.Context(), ":trace --out") != console.Failed || !strings.Contains(out.String(), ":trace: --out needs the name of a file") {
		t.Errorf("%s", out)
	}
	if c.Run(t.Context(), ":trace --out "+filepath.Join(path, "below")+" 1") != console.Failed {
		t.Errorf("%s", out)
	}
}

func TestFileOfTrace(t *testing.T) {
	for arg, want := range map[string][3]string{
		"x.Fill(1)": {"", "x.Fill(1)", "true"}, "--out a b": {"a", "b", "true"}, "--out=a\nb\nc": {"a", "b\nc", "true"},
		"--out": {"", "", "false"}, "--outer": {"", "--outer", "true"},
		" --out  t.pftrace  x": {"t.pftrace", "x", "true"}, "--out t": {"t", "", "true"},
	} {
		file, code, ok := fileOfTrace(arg)
		if got := [3]string{file, code, fmt.Sprint(ok)}; got != want {
			t.Errorf("%q is %q, want %q", arg, got, want)
		}
	}
}

// A notebook gets the picture as a page and as an image, and the text.
func TestTraceForms(t *testing.T) {
	traces := tracesOfTwo()
	c, _, _, _, _ := tracing(&traces)
	request := c.Request(":trace h.Barrier(0)")
	var shown session.Reply
	request.Printer = replies{request.Printer, &shown}
	if c.Console.Run(t.Context(), request) != console.Done || len(shown.Values) != 1 {
		t.Fatalf("%+v", shown)
	}
	v := shown.Values[0]
	page, _ := v.Data["text/html"].(string)
	image, _ := v.Data["image/svg+xml"].(string)
	if !strings.HasPrefix(page, `<div class="symm-timeline">`) || !strings.HasPrefix(image, "<svg ") || v.Text != timelineOfTwo || len(v.Data) != 2 {
		t.Errorf("%+v", v)
	}
}

// replies is a printer that keeps the last reply.
type replies struct {
	console.Printer
	last *session.Reply
}

func (r replies) Reply(reply session.Reply) { *r.last = reply }
