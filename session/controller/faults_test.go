package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/supervisor"
)

// replacedNote is the note about a rank's worker that was replaced.
func replacedNote(rank, size int, cause string) string {
	return fmt.Sprintf("note [%d] rank %d %s: a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)\n"+
		"note [0-%d] lost: symmetric memory of rank %d\n", rank, rank, cause, size-1, rank)
}

func TestFaults(t *testing.T) {
	c := launch(t, 3)
	c.eval("let x RANK")
	for _, f := range []struct{ command, cause string }{
		{"exit 3", "exited with status 3"},
		{"exit 0", "exited with status 0"},
		{"kill 9", "was killed (SIGKILL)"},
		{"kill 6", "crashed (SIGABRT: abort)"},
		{"segv", "crashed (SIGSEGV: segmentation violation)"},
		{"gopanic boom", "crashed (panic: boom)"},
	} {
		start := time.Now()
		var stderr []string
		var shown string
		for line := range strings.Lines(c.eval("1:" + f.command + "\ngather all")) {
			if strings.HasPrefix(line, "err ") {
				stderr = append(stderr, line) // the runtime's report
			} else {
				shown += line
			}
		}
		c.want(shown, replacedNote(1, 3, f.cause)+
			fmt.Sprintf("! [1] died the worker %s (a fresh one takes its place)\n! [0,2] peer in:2: Gather all: rank 1 %s\n", f.cause, f.cause))
		if reported := strings.HasPrefix(f.cause, "crashed"); reported != (len(stderr) > 0) {
			t.Errorf("%s: %d lines of standard error", f.command, len(stderr))
		}
		if took := time.Since(start); took > pace.Unhurried(5*time.Second) {
			t.Errorf("%s took %v", f.command, took)
		}
		c.want(c.eval("gather again"), "= [0-2] 012\n")
	}
	c.want(c.eval("get x"), "= [0] 0\n= [2] 2\n! [1] type in:1: undefined: x\n")
	infos, err := c.Ranks(context.Background())
	if err != nil || infos[0].Incarnation != 1 || infos[1].Incarnation != 7 || infos[1].Device != "fake:1" || infos[1].State != "idle" {
		t.Errorf("%+v, %v", infos, err)
	}
}

// A worker that reports that it cannot go on is replaced, and its error is shown.
func TestFatalErrors(t *testing.T) {
	c := launch(t, 3)
	c.want(c.eval("1:poison the device is lost\ngather all"), replacedNote(1, 3, "cannot go on: the device is lost")+
		"! [1] fault in:1: the device is lost\n! [0,2] peer in:2: Gather all: rank 1 cannot go on: the device is lost\n")
	c.want(c.eval("gather again"), "= [0-2] 012\n")
}

// If ranks made different calls, the cell ends with an error about that, and the ranks recover
// together.
func TestDifferentCalls(t *testing.T) {
	c := launch(t, 3)
	c.want(c.eval("reduce 7"), "")
	c.want(c.eval("0:reduce 1\n1:reduce 2\n2:reduce 1"), "! [0-2] mismatch the ranks have made different collective calls in world: "+
		"rank 0,2: 2 calls, the last of them reduce 1; rank 1: 2 calls, the last of them reduce 2 (results of this cell may be wrong; make the same calls in the same order, on the same parts of the same tensors, on all of them)\n")
	c.want(c.eval("reduce 3"), "")
	c.want(c.eval("0:reduce 4\n1:reduce 4"), "! [0-2] mismatch the ranks have made different collective calls in world: "+
		"rank 0,1: 2 calls, the last of them reduce 4; rank 2: 1 call, the last of them reduce 3 (results of this cell may be wrong; make the same calls in the same order, on the same parts of the same tensors, on all of them)\n")
	c.want(c.eval("gather again"), "= [0-2] 012\n")
}

// The end of a worker with much memory is reported long before the kernel has taken it down.
func TestLargeWorkerDiesSoon(t *testing.T) {
	c := launch(t, 2)
	c.eval("0:fill 256")
	start := time.Now()
	got := c.eval("0:kill 9\ngather x")
	if !strings.Contains(got, "! [1] peer in:2: Gather x: rank 0 was killed (SIGKILL)") {
		t.Error(got)
	}
	t.Log(time.Since(start))
}

// Another process kills a worker while it runs a cell, and while it is idle.
func TestKilledFromOutside(t *testing.T) {
	c := launch(t, 3)
	pids := c.pids()
	_, shown := c.start("2:sleep 60000\ngather x", 0, 1, 2)
	start := time.Now()
	syscall.Kill(pids[2], syscall.SIGKILL)
	got := shown()
	if took := time.Since(start); took > pace.Unhurried(3*time.Second) {
		t.Errorf("took %v", took)
	}
	// On a busy machine the other ranks are still at it when the death is told.
	got = strings.Replace(got, "note [0-2] rank 2 was killed (SIGKILL); in still runs on other ranks (Ctrl-C interrupts it)\n", "", 1)
	c.want(got, replacedNote(2, 3, "was killed (SIGKILL)")+
		"! [2] died the worker was killed (SIGKILL) (a fresh one takes its place)\n! [0,1] peer in:2: Gather x: rank 2 was killed (SIGKILL)\n")
	syscall.Kill(c.pids()[0], syscall.SIGKILL)
	soon(t, "rank 0 is replaced", func() bool { now := c.pids()[0]; return now != 0 && now != pids[0] })
	c.want(c.eval("gather y"), replacedNote(0, 3, "was killed (SIGKILL)")+"= [0-2] 012\n")
}

// A rank that fails releases the ranks that wait for it on the device, and the ranks that wait for
// those.
func TestFailureReleasesPeers(t *testing.T) {
	c := launch(t, 4)
	got := c.eval("0:wait 1\n1:wait 2\n2:fail out of luck\n3:sleep 500\n3:value fine")
	c.want(got, "= [3] fine\n! [2] panic in:3: out of luck\n! [0] peer in:1: rank 2 failed: out of luck\n! [1] peer in:2: rank 2 failed: out of luck\n")
	c.want(c.eval("gather y"), "= [0-3] 0123\n")
	got = c.eval("0:wait 1\n1:kill 9")
	if !strings.Contains(got, "! [0] peer in:1: rank 1 failed: the worker was killed (SIGKILL)\n") {
		t.Error(got)
	}
}

func TestInterrupt(t *testing.T) {
	c := launch(t, 3)
	c.eval("let x RANK")
	c.want(c.interrupted("sleep 60000", 0, 1, 2), "! [0-2] interrupted in:1: interrupted\n")
	c.want(c.interrupted("0:wait 1\n1:gather x\n2:sleep 60000", 0, 1, 2),
		"! [0] interrupted in:1: interrupted\n! [1] interrupted in:2: context canceled\n! [2] interrupted in:3: interrupted\n")
	c.want(c.eval("get x"), "= [0] 0\n= [1] 1\n= [2] 2\n")
	interrupt, shown := c.start("1:spin\nprint done", 1)
	start := time.Now()
	interrupt()
	c.want(shown(), "[0,2] done\n"+replacedNote(1, 3, "did not stop within 400ms and was killed")+
		"! [1] interrupted the worker did not stop within 400ms of the interrupt and was killed (a fresh one takes its place)\n")
	if took := time.Since(start); took < 400*time.Millisecond || took > pace.Unhurried(5*time.Second) {
		t.Errorf("took %v", took)
	}
	c.want(c.eval("gather x"), "= [0-2] 012\n")
	ctx, late := context.WithCancel(context.Background())
	c.want(c.evalContext(ctx, "value over before"), "= [0-2] over before\n")
	late()
	c.want(c.eval("gather x"), "= [0-2] 012\n")
}

// A caller that waits for its turn sees which cell it waits for, and can give up.
func TestInterruptInLine(t *testing.T) {
	c := launch(t, 1)
	interrupt, shown := c.start("sleep 60000", 0)
	ctx, cancel := context.WithCancel(context.Background())
	notes, never := make(chan session.Output, 10), make(chan session.Reply, 1)
	go func() {
		never <- c.Eval(ctx, session.Cell{Source: "print never", Stop: "■", Output: func(o session.Output) { notes <- o }})
	}()
	c.want(receive(t, "the cell in line says so", notes).Text, "this cell waits for in, which another front end has entered (■ gives up, then `:stop` interrupts that one)\n")
	cancel()
	reply := receive(t, "the cell in line gives up", never)
	c.want(fmt.Sprint(reply.Errors[0].Kind, " ", reply.Errors[0]),
		"interrupted interrupted while it waited for in, which another front end has entered: `:stop` interrupts that one")
	interrupt()
	c.want(shown(), "! interrupted in:1: interrupted\n")
}

// A stopped worker is diagnosed. One interrupt lets it go on and ends the cell; the worker lives.
func TestStoppedWorker(t *testing.T) {
	c := launch(t, 2)
	pid := c.pids()[1]
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var notes string
	reply := c.Eval(ctx, session.Cell{Source: "1:kill " + strconv.Itoa(int(syscall.SIGSTOP)) + "\n0:wait 1", Output: func(o session.Output) {
		if strings.Contains(o.Text, "waits (Ctrl-C") {
			notes = o.Text
			cancel()
		}
	}})
	if !regexp.MustCompile(`(?m)^  rank 1  does not answer: its process is stopped \(SIGCONT continues it\), for \d\.\d s$`).MatchString(notes) {
		t.Error(notes)
	}
	if len(reply.Errors) != 2 || !slices.Equal(reply.Errors[1].Ranks, []int{1}) || reply.Errors[1].Kind != session.KindInterrupted {
		t.Errorf("%+v", reply.Errors)
	}
	if got := c.pids()[1]; got != pid || stopped(pid) {
		t.Errorf("the worker was %d and is %d", pid, got)
	}
	c.want(c.eval("gather x"), "= [0,1] 01\n")
}

// A hang is diagnosed within two seconds: which rank waits for which rank and what, and which rank
// never came.
func TestWatchdog(t *testing.T) {
	c := launch(t, 4)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var notes []string
	start := time.Now()
	var first time.Duration
	c.Eval(ctx, session.Cell{Source: "0:wait 2\n1:gather x\n2:sleep 60000\n3:gather x", Output: func(o session.Output) {
		if first == 0 {
			first = time.Since(start)
			time.AfterFunc(1200*time.Millisecond, cancel) // enough to say it twice
		}
		notes = append(notes, o.Text)
	}})
	want := `^cell 1 has run for \d\.\d s and waits \(Ctrl-C interrupts it\):
  rank 0    waits in wait_signal #7 at in:4 for rank 2: a signal on channel 3, for \d\.\d s
  rank 1-3  runs
  Gather x: rank 1,3 came \d\.\d s ago, rank 0,2 did not
$`
	if len(notes) != 1 || !regexp.MustCompile(want).MatchString(notes[0]) {
		t.Errorf("%d notes: %s", len(notes), notes)
	}
	if first > pace.Unhurried(2500*time.Millisecond) {
		t.Errorf("diagnosed after %v", first)
	}
	t.Log("diagnosed after", first)
	c.want(c.eval("gather x"), "= [0-3] 0123\n")
}

func TestRestart(t *testing.T) {
	c := launch(t, 2)
	pids := c.pids()
	c.eval("let x RANK")
	c.eval("print shown\ngather x")
	c.eval("let y 5", 1)
	var out strings.Builder
	show := func(o session.Output) { out.WriteString(session.Prefix(o.Ranks, 2) + o.Text) }
	if err := c.Restart(context.Background(), []int{1}, false, show); err != nil {
		t.Fatal(err)
	}
	c.want(out.String(), "[1] rank 1 was restarted: a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)\n[0,1] lost: symmetric memory of rank 1\n")
	c.want(c.eval("get x", 0, 1), "= [0] 0\n! [1] type in:1: undefined: x\n")
	if now := c.pids(); now[0] != pids[0] || now[1] == pids[1] {
		t.Errorf("processes %v, before %v", now, pids)
	}
	out.Reset()
	if err := c.Restart(context.Background(), nil, true, show); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(out.String(), "[0,1] shown\n") {
		t.Errorf("replay showed %s", out.String())
	}
	c.want(c.eval("get y", 1), "= [1] 5\n")
	c.want(c.eval("gather z"), "= [0,1] 01\n")
	history, _ := c.History(context.Background())
	if len(history) != 6 {
		t.Errorf("%d cells in the history", len(history))
	}
}

func TestStartErrors(t *testing.T) {
	runtimeDir(t)
	t.Setenv("FAKE_START_RANK", "1")
	for _, s := range []struct{ fault, want string }{
		{"no such device", "rank 1: no such device (buy one)"},
		{"exit", "rank 1: the worker exited with status 7 before it was ready, the last of 3 in a row"},
	} {
		t.Setenv("FAKE_START_ERROR", s.fault)
		session, err := Launch(context.Background(), session.Config{Ranks: 2})
		if session != nil || err == nil || err.Error() != s.want {
			t.Errorf("%v, not %s", err, s.want)
		}
	}
	if _, err := Launch(context.Background(), session.Config{}); err == nil {
		t.Error("a session of no ranks")
	}
	entries, _ := os.ReadDir(os.Getenv("XDG_RUNTIME_DIR") + fmt.Sprintf("/symmrepl-%d", os.Getuid()))
	if len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// A restart ends the cell that runs on those ranks.
func TestRestartWhileRunning(t *testing.T) {
	c := launch(t, 2)
	_, shown := c.start("0:spin\n1:wait 0", 0, 1)
	if err := c.Restart(context.Background(), []int{0}, false, nil); err != nil {
		t.Error(err)
	}
	c.want(strings.Replace(shown(), "[0,1]", "[0-1]", 1), replacedNote(0, 2, "was restarted")+
		"! [0] died the worker was restarted (a fresh one takes its place)\n! [1] peer in:2: rank 0 failed: the worker was restarted\n")
	c.want(c.eval("gather x"), "= [0,1] 01\n")
	if infos, _ := c.Ranks(context.Background()); infos[0].Incarnation != 2 || infos[1].Incarnation != 1 {
		t.Errorf("%+v", infos)
	}
}

// A replay leaves out cells that failed before, stops at a cell that fails now, and names it.
func TestReplayFailures(t *testing.T) {
	c := launch(t, 2)
	c.eval("let x 1")
	c.eval("print again\nfail always")
	c.eval("gather x")
	c.eval("let y 1")
	var out strings.Builder
	if err := c.Restart(context.Background(), nil, true, func(o session.Output) { out.WriteString(o.Text) }); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "the replay leaves out cell 2, which failed\n") || strings.Contains(out.String(), "again\n") ||
		strings.Contains(out.String(), "variables are lost") {
		t.Errorf("replay showed %s", out.String())
	}
	c.want(c.eval("get y"), "= [0,1] 1\n")
	err := c.Restart(context.Background(), []int{0}, true, nil)
	if err == nil || err.Error() != "replay stopped at cell 3: in:1: Gather x: rank 1 is not running this cell; collective calls need all ranks: restart them all to replay" {
		t.Error(err)
	}
	c.want(c.eval("gather x"), "= [0,1] 01\n")
}

// A restart of all ranks without replay ends the earlier history: a later replay begins after the
// restart. A cell that the restart has ended, and a cell that was interrupted in a replay, are not
// replayed either.
func TestReplayBeginsAnew(t *testing.T) {
	c := launch(t, 2)
	restart := func(ctx context.Context, replay bool) string {
		var out strings.Builder
		if err := c.Restart(ctx, nil, replay, func(o session.Output) { out.WriteString(session.Prefix(o.Ranks, 2) + o.Text) }); err != nil {
			out.WriteString("! " + err.Error() + "\n")
		}
		return out.String()
	}
	const restarted = "[0,1] rank 0,1 was restarted: a fresh worker took over, variables are lost there\n[0,1] lost: symmetric memory of rank 0,1\n"
	replaying := strings.Replace(restarted, ", variables are lost there", "", 1)
	c.eval("print old\nlet x 1")
	_, shown := c.start("do blocked here", 0, 1)
	c.want(restart(t.Context(), false), "")
	c.want(shown(), strings.ReplaceAll("\n"+restarted, "\n[",
		"\nnote [")[1:]+"! [0,1] died the worker was restarted (a fresh one takes its place)\n")
	history, _ := c.History(t.Context())
	if len(history) != 2 || !history[0].Ended || !history[1].Ended || history[1].Failed == "" {
		t.Errorf("history %+v", history)
	}
	c.want(restart(t.Context(), true), replaying+"nothing is replayed: no cell was entered on these ranks since they were started\n")
	c.eval("print new\nlet y 1")
	c.eval("sleep 600")
	c.want(restart(t.Context(), true), replaying+"[0,1] new\n")
	c.want(c.eval("get x"), "! [0,1] type in:1: undefined: x\n")
	c.want(c.eval("get y"), "= [0,1] 1\n")

	// The replay is interrupted in a cell that sleeps: the next replay leaves that cell out.
	ctx, interrupt := context.WithCancel(t.Context())
	running := func() int {
		c.c.mu.Lock()
		defer c.c.mu.Unlock()
		if c.c.run == nil {
			return 0
		}
		return c.c.run.cell.ID
	}
	go func() {
		for running() != 4 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		interrupt()
	}()
	if got := restart(ctx, true); !strings.Contains(got, "! replay stopped at cell 4: ") {
		t.Errorf("the interrupted replay: %s", got)
	}
	c.want(restart(t.Context(), true), replaying+"the replay leaves out the cells 4,5, which failed\n[0,1] new\n")
	history, _ = c.History(t.Context())
	if last := history[len(history)-1]; last.Ended || last.Failed != "" {
		t.Errorf("the last cell %+v", last)
	}

	// A restart of one rank ends nothing: the other has its variables.
	if err := c.Restart(t.Context(), []int{1}, false, nil); err != nil {
		t.Error(err)
	}
	c.want(restart(t.Context(), true), replaying+"the replay leaves out the cells 4,5, which failed\n[0,1] new\n")
}

// A rank that dies again and again while nothing runs is given up, until a restart.
func TestGivesUp(t *testing.T) {
	c := launch(t, 2)
	for n := range startAttempts {
		infos, _ := c.Ranks(context.Background())
		syscall.Kill(infos[1].PID, syscall.SIGKILL)
		soon(t, "the death is noticed, and what comes of it", func() bool {
			infos, _ = c.Ranks(context.Background())
			return infos[1].State == "dead" || infos[1].State == "idle" && infos[1].Incarnation > n+1
		})
	}
	if got := c.eval("print x", 1); got != "! [1] died rank 1 has no worker: the worker was killed (SIGKILL) while no cell ran, the last of 3 in a row (`:restart` tries again)\n" {
		t.Error(got)
	}
	c.want(c.eval("print x", 0), "[0] x\n")
	answers, err := c.Inspect(context.Background(), nil, session.Query{Topic: session.TopicType, Arg: "x"})
	if err != nil || len(answers) != 2 || answers[0].Text != "0 x" || answers[1].Err == nil {
		t.Errorf("%+v, %v", answers, err)
	}
	if err := c.Restart(context.Background(), []int{1}, false, nil); err != nil {
		t.Error(err)
	}
	c.want(c.eval("gather x"), "= [0,1] 01\n")
}

// Close ends a cell that runs.
func TestCloseWhileRunning(t *testing.T) {
	c := launch(t, 2)
	_, shown := c.start("0:spin\n1:wait 0", 0, 1)
	c.Close()
	if got := shown(); !strings.Contains(got, "! ") {
		t.Errorf("the cell succeeded: %s", got)
	}
}

// A rank whose communicator cannot recover is replaced, and the others are not.
func TestRecoverFails(t *testing.T) {
	c := launch(t, 3)
	pids := c.pids()
	got := c.eval("1:let stubborn yes\n0:fail x")
	c.want(got, replacedNote(1, 3, "could not go on after the cell")+"! [0] panic in:2: x\n")
	if now := c.pids(); now[0] != pids[0] || now[1] == pids[1] || now[2] != pids[2] {
		t.Errorf("processes %v, before %v", now, pids)
	}
	c.want(c.eval("gather z"), "= [0-2] 012\n")
}

// The death of a rank is reported at once if the others neither wait for it nor end.
func TestDeathToldAtOnce(t *testing.T) {
	c := launch(t, 3)
	for i, endless := range []string{"0:spin\n1:sleep 60000", "0:flood 1000000000000\n1:sleep 60000", "0:sleep 60000\n1:wait 0"} {
		pid := c.pids()[2]
		ctx, cancel := context.WithCancel(context.Background())
		notes := make(chan string, 100)
		ended := make(chan session.Reply, 1)
		go func() {
			ended <- c.Eval(ctx, session.Cell{Source: "2:print it runs\n" + endless + "\n2:sleep 60000", Output: func(o session.Output) {
				if o.Stream == session.Note || o.Text == "it runs\n" {
					notes <- o.Text
				}
			}})
		}()
		for receive(t, "the cell runs", notes) != "it runs\n" {
		}
		killed := time.Now()
		syscall.Kill(pid, syscall.SIGKILL)
		said := receive(t, "the death is told", notes)
		if want := fmt.Sprintf("rank 2 was killed (SIGKILL); cell %d still runs on other ranks (Ctrl-C interrupts it)\n", 1+2*i); said != want {
			t.Errorf("%s: told\n%swant\n%s", endless, said, want)
		}
		if took := time.Since(killed); took > pace.Unhurried(time.Second) {
			t.Errorf("%s: told after %v", endless, took)
		} else {
			t.Log(took)
		}
		cancel()
		receive(t, "the cell ends", ended)
		c.want(c.eval("gather x"), "= [0-2] 012\n")
	}
}

// If the kernel takes long to reap a worker, its death is reported and the worker replaced before
// that.
func TestSlowReaping(t *testing.T) {
	c := launch(t, 3)
	release := make(chan struct{})
	c.c.keeper(1).(*supervisor.Supervisor).Reap = func(p *os.Process) (*os.ProcessState, error) {
		<-release
		return p.Wait()
	}
	c.want(c.eval("1:exit 3\ngather x"), replacedNote(1, 3, "exited with status 3")+
		"! [1] died the worker exited with status 3 (a fresh one takes its place)\n! [0,2] peer in:2: Gather x: rank 1 exited with status 3\n")
	c.want(c.eval("gather again"), "= [0-2] 012\n")
	close(release)
}

// A death that ends the cell on all ranks is also reported at once, even if the next worker takes
// long to start.
func TestDeathToldBeforeReplaced(t *testing.T) {
	c := launch(t, 3)
	c.c.startLimit = 3 * time.Second
	t.Setenv("FAKE_START_HUNG", filepath.Join(t.TempDir(), "hung"))
	t.Setenv("FAKE_START_RANK", "1")
	t.Setenv("FAKE_START_ERROR", "hang")
	began := time.Now()
	var notes []string
	reply := c.Eval(t.Context(), session.Cell{Source: "1:kill 9\ngather x", Name: "in", Output: func(o session.Output) {
		if took := time.Since(began); len(notes) == 0 && took > pace.Unhurried(time.Second) {
			t.Errorf("told after %v", took)
		}
		notes = append(notes, o.Text)
	}})
	if want := []string{"rank 1 was killed (SIGKILL); the ranks are brought together again\n"}; !slices.Equal(notes, want) {
		t.Errorf("told %q, want %q", notes, want)
	}
	last := reply.Errors[len(reply.Errors)-1].Error()
	if want := "rank 1 did not start within 3s"; !strings.Contains(last, want) {
		t.Errorf("%s, want %s", last, want)
	}
	c.want(c.eval("gather x"), replacedNote(1, 3, "did not start")+"= [0-2] 012\n")
}

// The table shows, within two seconds of the cell's beginning and once, the activity of a rank that
// waits in no operation. If all ranks compute or sleep, no table is shown.
func TestActivitiesAreTold(t *testing.T) {
	c := launch(t, 3)
	for _, f := range []struct{ cell, want string }{
		{"0:do blocked waits in time.Sleep\n1:do free is in sort.Ints\n2:nothing",
			"  rank 0  waits in time.Sleep at in:1\n  rank 1  is in sort.Ints at in:1\n  rank 2  has finished the cell\n"},
		{"do free ", ""},
		{"do blocked waits in a channel receive", "  rank 0-2  waits in a channel receive at in:1\n"},
		{"0:do free is in sort.Ints\n1:do free \n2:do asleep waits in time.Sleep", ""},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 3500*time.Millisecond)
		defer cancel()
		var notes []string
		var first time.Duration
		start := time.Now()
		c.Eval(ctx, session.Cell{Source: f.cell, Output: func(o session.Output) {
			if first == 0 {
				first = time.Since(start)
				time.AfterFunc(1200*time.Millisecond, cancel) // enough to say it twice
			}
			notes = append(notes, o.Text)
		}})
		if f.want == "" {
			if len(notes) != 0 {
				t.Errorf("%s: told %s", f.cell, notes)
			}
			continue
		}
		if len(notes) != 1 {
			t.Errorf("%d notes: %s", len(notes), notes)
			continue
		}
		if _, said, _ := strings.Cut(notes[0], "\n"); said != f.want {
			t.Errorf("told\n%swant\n%s", said, f.want)
		}
		if first > pace.Unhurried(2500*time.Millisecond) {
			t.Errorf("told after %v", first)
		}
		t.Log(first)
	}
}
