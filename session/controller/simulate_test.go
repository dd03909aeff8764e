package controller

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// quick is a simulated rank that knows a few words. A line may begin with "2:" to run on rank 2
// only.
type quick struct {
	simulatedRank
	mu      sync.Mutex
	aborted chan struct{}
	waits   []session.Wait
}

func startQuick(r simulatedRank) (session.Evaluator, session.Communicator) {
	q := &quick{simulatedRank: r, aborted: make(chan struct{})}
	return q, q
}

func (q *quick) Eval(ctx context.Context, cell session.Cell) (r session.Result) {
	for line := range strings.Lines(cell.Source) {
		if who, rest, ok := strings.Cut(line, ":"); ok {
			if fmt.Sprint(q.Rank) != who {
				continue
			}
			line = rest
		}
		word, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		arg = strings.ReplaceAll(arg, "RANK", fmt.Sprint(q.Rank))
		switch word {
		case "print":
			q.Print(arg + "\n")
		case "flood": // bytes
			n, _ := strconv.Atoi(arg)
			for ; n > 0; n -= 1 << 10 {
				q.Print(strings.Repeat("x", 1<<10-1) + "\n")
			}
		case "value":
			r.Value, r.HasValue = arg, true
		case "fail":
			r.Err = &session.Error{Kind: session.KindPanic, Peer: -1, Msg: arg}
			return r
		case "wait":
			peer, _ := strconv.Atoi(arg)
			r.Err = q.wait(ctx, session.Wait{Op: "wait_signal", Peers: session.RankList{peer}, For: "a signal on channel 3", Since: 2})
			return r
		case "sleep":
			<-ctx.Done()
			r.Err = &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
			return r
		}
	}
	return r
}

func (q *quick) wait(ctx context.Context, w session.Wait) *session.Error {
	q.mu.Lock()
	q.waits = []session.Wait{w}
	aborted := q.aborted
	q.mu.Unlock()
	<-aborted
	q.mu.Lock()
	q.waits = nil
	q.mu.Unlock()
	if ctx.Err() != nil {
		return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
	}
	return &session.Error{Kind: session.KindPeer, Peer: -1, Msg: "a peer failed"}
}

func (q *quick) Waits() []session.Wait {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waits
}

func (q *quick) Abort(string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.aborted:
	default:
		close(q.aborted)
	}
}

func (q *quick) Recover(context.Context, []int) ([]string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.aborted = make(chan struct{})
	return nil, nil
}

func (q *quick) Inspect(_ context.Context, query session.Query) (session.Answer, error) {
	return session.Answer{Text: fmt.Sprint(q.Rank, query.Arg)}, nil
}
func (q *quick) Begin(uint64)                          {}
func (q *quick) Finish(context.Context) *session.Error { return nil }
func (q *quick) Tallies() []session.Tally              { return nil }
func (q *quick) Findings() []session.Finding           { return nil }
func (q *quick) Close() error                          { return nil }

func startSimulation(t testing.TB, ranks, perHost int) *console {
	t.Helper()
	runtimeDir(t)
	c, err := simulate(context.Background(), simulation{ranks, perHost})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &console{Session: c, t: t, size: ranks, c: c}
}

// Equal output, values and errors of 1,024 ranks are shown once.
func TestManyRanks(t *testing.T) {
	c := startSimulation(t, 1024, 8)
	c.want(c.eval("print a\nprint b"), "[0-1023] a\n[0-1023] b\n")
	c.want(c.eval("print a\n512:print own\nprint z\n7:print last"), "[0-1023] a\n[0-511,513-1023] z\n[512] own\n[7] last\n[512] z\n")
	c.want(c.eval("value 1\n1023:value RANK"), "= [0-1022] 1\n= [1023] 1023\n")
	c.want(c.eval("5:fail boom\n700:fail boom"), "! [5,700] panic boom\n")
	c.want(c.eval("print RANK", 3, 4, 900), "[3] 3\n[4] 4\n[900] 900\n")
	var want []string
	for r := range 1024 {
		want = append(want, fmt.Sprintf("[%d] rank %d", r, r))
	}
	got := strings.Split(strings.TrimSpace(c.eval("print rank RANK")), "\n")
	slices.Sort(want)
	slices.Sort(got) // a rank that is late by seconds, as with the race detector, comes after the others
	if !slices.Equal(got, want) {
		t.Errorf("%d lines: %q", len(got), got)
	}
	answers, err := c.Inspect(context.Background(), nil, session.Query{Topic: session.TopicType, Arg: "x"})
	if err != nil || len(answers) != 1024 {
		t.Fatal(len(answers), err)
	}
	for r, a := range answers {
		if a.Rank != r || a.Text != fmt.Sprint(r, "x") {
			t.Fatalf("answer %d is %+v", r, a)
		}
	}
}

// The table of the waits of 1,024 ranks has a line only for each different wait, and an interrupt
// ends all waits.
func TestManyRanksHang(t *testing.T) {
	c := startSimulation(t, 1024, 8)
	var table string
	const want = "  rank 0-16,18-1022  waits in wait_signal for rank 1023: a signal on channel 3\n" +
		"  rank 17            waits in wait_signal for rank 5: a signal on channel 3\n" +
		"  rank 1023          runs\n"
	ctx, interrupt := context.WithTimeout(context.Background(), patience)
	reply := c.Eval(ctx, session.Cell{Source: "1023:sleep\n17:wait 5\nwait 1023", Silent: true, Output: func(o session.Output) {
		if table == want { // a busy machine may have more to say until all waits have ended
			return
		}
		_, table, _ = strings.Cut(o.Text, "\n")
		table = regexp.MustCompile(`, for .*`).ReplaceAllString(table, "")
		if table == want { // ranks that are slow come into a later table
			interrupt()
		}
	}})
	if table != want {
		t.Errorf("told\n%swant\n%s", table, want)
	}
	if len(reply.Errors) != 1 || session.FormatRanks(reply.Errors[0].Ranks) != "0-1023" || reply.Errors[0].Kind != session.KindInterrupted {
		t.Errorf("%v", reply.Errors)
	}
	c.want(c.eval("print again"), "[0-1023] again\n")
}

// If a rank fails, all ranks that wait for it are released, also those that wait for it through
// others.
func TestManyRanksAreReleased(t *testing.T) {
	c := startSimulation(t, 256, 8)
	notes := regexp.MustCompile(`(?m)^note .*\n`) // of a slow machine
	c.want(notes.ReplaceAllString(c.eval("255:fail boom\n0:wait 255\nwait 0"), ""), "! [255] panic boom\n! [0-254] peer a peer failed\n")
	c.want(c.eval("print again"), "[0-255] again\n")
}

// If a rank prints endlessly, only that rank is held back: other ranks of its host go on, and no
// output is lost.
func TestFloodOnHost(t *testing.T) {
	c := startSimulation(t, 4, 2)
	const size = 3 << 20
	got := map[string]int{}
	reply := c.Eval(context.Background(), session.Cell{Source: fmt.Sprintf("1:flood %d\n0:print a\n2:print a\n3:print a", size),
		Silent: true, Output: func(o session.Output) {
			got[session.FormatRanks(o.Ranks)] += len(o.Text)
		}})
	if len(reply.Errors) > 0 || got["1"] != size || got["0,2,3"] != 2 || len(got) != 2 {
		t.Errorf("%v, %v", got, reply.Errors)
	}
	c.want(c.eval(fmt.Sprintf("flood %d", 1<<10)), "[0-3] "+strings.Repeat("x", 1<<10-1)+"\n")
}

// A single rank of a host can be replaced, and all ranks of a lost host are lost.
func TestHostIsLost(t *testing.T) {
	c := startSimulation(t, 6, 2)
	if err := c.Restart(context.Background(), []int{3}, false, nil); err != nil {
		t.Fatal(err)
	}
	c.want(c.eval("print a"), "[0-5] a\n")
	infos, err := c.Ranks(context.Background())
	if err != nil || infos[3].Incarnation != 2 || infos[2].Incarnation != 1 || infos[3].State != "idle" {
		t.Errorf("%+v, %v", infos, err)
	}
	interrupt, shown := c.start("sleep", 0, 1, 2, 3, 4, 5)
	c.c.keeper(2).(*hostKeeper).Link.Close()
	soon(t, "the ranks of the host are lost", func() bool {
		infos, err := c.Ranks(context.Background())
		return err == nil && infos[2].State == "dead" && infos[3].State == "dead"
	})
	interrupt()
	got := shown()
	for _, want := range []string{"! [2,3] died the worker was lost: its supervisor is gone", "! [0,1,4,5] interrupted interrupted"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	c.want(c.eval("print b", 0, 1, 4, 5), "[0,1,4,5] b\n")
}

func BenchmarkCell(b *testing.B) {
	for word, source := range map[string]string{"empty": "", "equal": "print a", "own": "print RANK"} {
		for _, world := range []simulation{{4, 8}, {1024, 8}, {1024, 64}} {
			b.Run(fmt.Sprintf("%s/%d/%d", word, world.Ranks, world.PerHost), func(b *testing.B) {
				c := startSimulation(b, world.Ranks, world.PerHost)
				for b.Loop() {
					c.Eval(context.Background(), session.Cell{Source: source, Silent: true})
				}
			})
		}
	}
}
