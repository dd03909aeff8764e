package controller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/worker"
)

func TestMain(m *testing.M) {
	if worker.Is() {
		os.Exit(worker.Serve(startFake))
	}
	if isSimulation() {
		os.Exit(serveSimulation(startQuick))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // workers under the race detector end at once
	if os.Getenv("FAKE_CONTROLLER") != "" {
		os.Exit(fakeController())
	}
	os.Exit(m.Run())
}

// fakeController is a program with a session: it prints its directory and its workers, and runs a
// cell that does not end.
func fakeController() int {
	s, err := Launch(context.Background(), session.Config{Ranks: 2})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	infos, _ := s.Ranks(context.Background())
	fmt.Println(s.(*controller).dir.Path, infos[0].PID, infos[1].PID)
	s.Eval(context.Background(), session.Cell{Source: os.Getenv("FAKE_CONTROLLER"), Output: func(o session.Output) { fmt.Print(o.Text) }})
	return 0
}

// fake is an interpreter of one-word commands, and the communicator below it. A line may begin with
// "2:" to run on rank 2 only. Variables are words set by "let".
type fake struct {
	env      worker.Env
	vars     map[string]string
	encoded  map[string][]byte // displays that were made by "encode"
	tallies  []session.Tally
	findings []session.Finding // from the command "find"

	sanitizing session.Sanitizing
	told       []session.Sanitizing // the calls of Sanitize by the session

	mu         sync.Mutex
	aborted    chan struct{}
	why        string
	waits      map[int]session.Wait
	waiting    int
	doing      session.Activity
	ordinal    uint64
	generation int
	running    int          // number of cells and goroutines that run
	timers     bool         // a timer is set
	moves      uint64       // progress
	kind       session.Kind // kind of the errors of waits that were ended

	stands fakeStands
}

func startFake(env worker.Env) (session.Evaluator, session.Communicator, error) {
	if why := os.Getenv("FAKE_START_ERROR"); why != "" && fmt.Sprint(env.Rank) == os.Getenv("FAKE_START_RANK") {
		switch why {
		case "exit":
			os.Exit(7)
		case "hang": // the first worker that comes here
			if f, err := os.OpenFile(os.Getenv("FAKE_START_HUNG"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				f.Close()
				select {}
			}
		default:
			return nil, nil, &session.Error{Kind: session.KindSystem, Peer: -1, Msg: why, Hint: "buy one"}
		}
	}
	f := &fake{env: env, vars: map[string]string{}, encoded: map[string][]byte{}, aborted: make(chan struct{}),
		waits: map[int]session.Wait{}, kind: session.KindPeer}
	return f, f, nil
}

func (f *fake) DeviceName() string { return "fake:" + strconv.Itoa(f.env.LocalRank) }

func (f *fake) Eval(ctx context.Context, cell session.Cell) (r session.Result) {
	f.count(1)
	defer f.count(-1)
	for i, line := range strings.Split(cell.Source, "\n") {
		if cell.Debugged && !f.stands.reach(ctx, cell, i+1, f.env.Rank, line) {
			return session.Result{Err: &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}}
		}
		if who, rest, ok := strings.Cut(line, ":"); ok {
			if n, err := strconv.Atoi(who); err == nil {
				if n != f.env.Rank {
					continue
				}
				line = rest
			}
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := f.command(ctx, word, rest, &r); err != nil {
			if err.File == "" {
				err.File, err.Line = cell.Name, cell.Line+i
			}
			if ctx.Err() != nil {
				err.Kind = session.KindInterrupted
			}
			r.Err = err
			return r
		}
	}
	return r
}

func (f *fake) command(ctx context.Context, word, arg string, r *session.Result) *session.Error {
	arg = strings.NewReplacer("RANK", fmt.Sprint(f.env.Rank), "PID", fmt.Sprint(os.Getpid())).Replace(arg)
	switch word {
	case "", "nothing":
	case "find": // KIND: LINE LINE SOURCE
		var lines [2]int
		kind, rest, _ := strings.Cut(arg, ": ")
		var source string
		fmt.Sscanf(rest, "%d %d %q", &lines[0], &lines[1], &source)
		found := session.Finding{Kind: kind, Seed: int64(f.env.Rank)}
		for _, line := range lines {
			found.Accesses = append(found.Accesses, session.Access{Rank: f.env.Rank, File: "cell", Line: line, Source: source})
		}
		f.findings = append(f.findings, found)
	case "sanitize": // seed, or nothing to switch it off
		f.sanitizing = session.Sanitizing{}
		if seed, err := strconv.ParseInt(arg, 10, 64); err == nil {
			f.sanitizing = session.Sanitizing{On: true, Seed: seed}
		}
	case "told": // the session's calls of Sanitize since the last "told"
		r.Value, r.HasValue = fmt.Sprint(f.told), true
		f.told = nil
	case "pwd":
		folder, err := os.Getwd()
		if err != nil {
			return session.AsError(err)
		}
		r.Value, r.HasValue = folder, true
	case "print":
		fmt.Println(arg)
	case "write":
		fmt.Print(arg)
	case "warn":
		fmt.Fprintln(os.Stderr, arg)
	case "flood": // bytes
		n, _ := strconv.Atoi(arg)
		line := []byte(strings.Repeat("0123456789abcde\n", 512))
		for ; n > 0; n -= len(line) {
			os.Stdout.Write(line)
		}
	case "later": // file text: prints the text once the file exists, and then makes file.done
		file, text, _ := strings.Cut(arg, " ")
		go func() {
			for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
				time.Sleep(time.Millisecond)
			}
			fmt.Println(text)
			os.WriteFile(file+".done", nil, 0o600)
		}()
	case "direct": // file: standard output goes there
		f, err := os.Create(arg)
		if err == nil {
			err = unix.Dup2(int(f.Fd()), 1)
		}
		if err != nil {
			return session.AsError(err)
		}
	case "read": // a line of standard input
		line, err := bufio.NewReader(f.env.Input).ReadString('\n')
		r.Value, r.HasValue = fmt.Sprintf("%q %v", line, err), true
	case "leave": // milliseconds that leaving the debugger takes from now on
		n, _ := strconv.Atoi(arg)
		f.stands.leaves.Store(int64(n))
	case "let":
		name, value, _ := strings.Cut(arg, " ")
		f.vars[name] = value
	case "get":
		if f.vars[arg] == "" {
			return &session.Error{Kind: session.KindType, Peer: -1, Msg: "undefined: " + arg}
		}
		r.Value, r.HasValue = f.vars[arg], true
	case "value":
		r.Value, r.HasValue = arg, true
	case "rich": // text html
		text, html, _ := strings.Cut(arg, " ")
		r.Value, r.HasValue, r.Data = text, true, map[string]any{"text/html": html}
	case "encode": // text html
		text, html, _ := strings.Cut(arg, " ")
		f.encoded[arg], _ = inband.Encode(session.Display{Data: map[string]any{"text/plain": text, "text/html": html}})
	case "display": // the encoded display; encoding takes some ranks much longer on a busy machine
		os.Stdout.Write(f.encoded[arg])
	case "fail":
		return &session.Error{Kind: session.KindPanic, Peer: -1, Msg: arg}
	case "reduce": // digest
		n, _ := strconv.Atoi(arg)
		if len(f.tallies) == 0 {
			f.tallies = []session.Tally{{Group: "world", Key: "w", Ranks: []int{0, 1, 2}}}
		}
		t := &f.tallies[0]
		t.Calls, t.Digest, t.Last = t.Calls+1, t.Digest*31+uint64(n), "reduce "+arg
	case "poison":
		return &session.Error{Kind: session.KindFault, Peer: -1, Msg: arg, Fatal: true}
	case "sleep": // milliseconds
		n, _ := strconv.Atoi(arg)
		select {
		case <-time.After(time.Duration(n) * time.Millisecond):
		case <-ctx.Done():
			return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
		}
	case "do": // blocked, asleep or not, in a call of a name, until it is interrupted
		blocked, what, _ := strings.Cut(arg, " ")
		f.mu.Lock()
		f.doing = session.Activity{What: what, At: "in:1", Blocked: blocked != "free", Sleeps: blocked == "asleep"}
		f.mu.Unlock()
		<-ctx.Done()
		f.mu.Lock()
		f.doing = session.Activity{}
		f.mu.Unlock()
		return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
	case "spin": // deaf to everything, for milliseconds or for ever
		ms, err := strconv.Atoi(arg)
		for end := time.Now().Add(time.Duration(ms) * time.Millisecond); err != nil || time.Now().Before(end); {
			_ = strings.Repeat("x", 100)
		}
	case "exit":
		n, _ := strconv.Atoi(arg)
		os.Exit(n)
	case "gopanic":
		go func() { panic(arg) }()
		select {}
	case "segv":
		unix.Kill(os.Getpid(), unix.SIGSEGV)
		select {}
	case "kill": // signal number: one that ends or stops the process, perhaps after a long report
		n, _ := strconv.Atoi(arg)
		unix.Kill(os.Getpid(), syscall.Signal(n))
		<-ctx.Done()
		return &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}
	case "child": // a process that outlives its parent if it may
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			return session.AsError(err)
		}
		r.Value, r.HasValue = fmt.Sprint(cmd.Process.Pid), true
	case "away": // the same, in a new session
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return session.AsError(err)
		}
		fmt.Println("ready", cmd.Process.Pid)
	case "grandchild": // a child of a process that has ended
		out, err := exec.Command("setsid", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!").Output()
		if err != nil {
			return session.AsError(err)
		}
		fmt.Println("ready", strings.TrimSpace(string(out)))
	case "fill": // mebibytes resident
		n, _ := strconv.Atoi(arg)
		f.vars["memory"] = strings.Repeat("x", n<<20)
	case "gather":
		return f.gather(ctx, arg, r)
	case "wait": // for a signal of a rank that never comes
		peer, _ := strconv.Atoi(arg)
		return f.wait(session.Wait{Op: "wait_signal", Ordinal: 7, Group: "world", Peers: []int{peer}, For: "a signal on channel 3", At: "in:4"})
	case "vain": // for a signal of a rank, as operations wait
		peer, _ := strconv.Atoi(arg)
		return f.wait(session.Wait{Op: "wait_signal", Group: "world", Peers: []int{peer}, For: "a signal on channel 3", At: "in:4", Sure: true})
	case "maybe": // the same, but goes on after the error, as code that recovers
		peer, _ := strconv.Atoi(arg)
		f.wait(session.Wait{Op: "wait_signal", Group: "world", Peers: []int{peer}, For: "a signal on channel 3", At: "in:4", Sure: true})
		f.mu.Lock()
		f.aborted = make(chan struct{})
		f.moves++
		f.mu.Unlock()
	case "limited": // the same, for a time
		peer, _ := strconv.Atoi(arg)
		return f.wait(session.Wait{Op: "wait_signal", Group: "world", Peers: []int{peer}, For: "a signal on channel 3", At: "in:4",
			Sure: true, Limit: 60})
	case "call": // name peer: in a collective call
		name, peer, _ := strings.Cut(arg, " ")
		n, _ := strconv.Atoi(peer)
		return f.wait(session.Wait{Op: name, Ordinal: 1, Group: "world", Peers: []int{n}, Sure: true, Call: name})
	case "behind": // a goroutine
		f.count(1)
	case "timer":
		f.timers = true
	default:
		return &session.Error{Kind: session.KindSyntax, Peer: -1, Msg: "unknown command " + word}
	}
	return nil
}

func (f *fake) gather(ctx context.Context, name string, r *session.Result) *session.Error {
	f.mu.Lock()
	f.ordinal++
	call := bootstrap.Call{Group: rankset.All(f.env.Size), Key: fmt.Sprint("world/", f.generation), Ordinal: f.ordinal, Op: "Gather", Desc: name}
	aborted := f.aborted
	f.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-aborted:
			cancel()
		case <-ctx.Done():
		}
	}()
	all, err := f.env.Client.Gather(ctx, call, []byte(fmt.Sprint(f.env.Rank)))
	var absent *bootstrap.AbsentError
	switch {
	case errors.As(err, &absent):
		return &session.Error{Kind: session.KindPeer, Op: "Gather", Peer: absent.Rank, Msg: err.Error()}
	case err != nil:
		return &session.Error{Kind: session.KindMismatch, Op: "Gather", Peer: -1, Msg: err.Error()}
	}
	r.HasValue = true
	for _, b := range all {
		r.Value += string(b)
	}
	return nil
}

func (f *fake) wait(w session.Wait) *session.Error {
	f.mu.Lock()
	f.waiting++
	id, start := f.waiting, time.Now()
	w.Since = -float64(start.UnixNano()) / 1e9
	f.waits[id] = w
	aborted := f.aborted
	f.mu.Unlock()
	<-aborted
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waits, id)
	return &session.Error{Kind: f.kind, Op: w.Op, Peer: w.Peers[0], Msg: f.why}
}

func (f *fake) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running, f.moves = f.running+n, f.moves+1
}

func (f *fake) Others() (running int, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running, !f.timers
}

func (f *fake) Progress() session.Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	return session.Progress{Moves: f.moves, Stands: true, Inside: len(f.waits), Waits: f.listWaits()}
}

func (f *fake) EndWaits(why string) {
	f.mu.Lock()
	f.kind = session.KindDeadlock
	f.mu.Unlock()
	f.Abort(why)
}

func (f *fake) Inspect(_ context.Context, q session.Query) (session.Answer, error) {
	switch q.Topic {
	case session.TopicLines:
		var a session.Answer
		for i, line := range strings.Split(q.Arg, "\n") {
			if line != "" {
				a.Lines = append(a.Lines, i+1)
			}
		}
		return a, nil
	case session.TopicFrames, session.TopicEvaluate:
		return f.stands.answer(q, f.env.Rank)
	case session.TopicType:
		return session.Answer{Text: fmt.Sprint(f.env.Rank, " ", q.Arg)}, nil
	case session.TopicTop:
		time.Sleep(time.Hour)
	}
	return session.Answer{}, fmt.Errorf("no topic %s", q.Topic)
}

func (f *fake) Abort(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.aborted:
	default:
		f.why = why
		close(f.aborted)
	}
}

func (f *fake) Waits() []session.Wait {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listWaits()
}

func (f *fake) listWaits() (list []session.Wait) {
	for _, w := range f.waits {
		w.Since += float64(time.Now().UnixNano()) / 1e9
		w.Seen = uint64(time.Now().UnixNano())
		list = append(list, w)
	}
	return list
}

func (f *fake) Doing() session.Activity {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doing
}

func (f *fake) Tallies() []session.Tally { return f.tallies }

func (f *fake) Findings() []session.Finding {
	found := f.findings
	f.findings = nil
	return found
}

func (f *fake) Sanitize(s session.Sanitizing) *session.Error {
	f.told = append(f.told, s)
	if s.Seed < 0 {
		return &session.Error{Kind: session.KindMisuse, Peer: -1, Msg: "no such seed"}
	}
	f.sanitizing = s
	return nil
}

func (f *fake) Sanitizing() session.Sanitizing { return f.sanitizing }

func (f *fake) Begin(uint64) {}

func (f *fake) Finish(context.Context) *session.Error { return nil }

// Recover meets all remaining ranks and agrees with them on a new generation of calls.
func (f *fake) Recover(ctx context.Context, replaced []int) ([]string, error) {
	if f.vars["stubborn"] != "" {
		return nil, errors.New("cannot recover")
	}
	_, all, err := f.env.Client.GatherLeft(ctx, bootstrap.Call{Key: "recover", Op: "Recover", Desc: fmt.Sprint(replaced)},
		[]byte(fmt.Sprint(f.generation)))
	if err != nil {
		return nil, err
	}
	f.tallies = nil
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range all {
		n, _ := strconv.Atoi(string(b))
		f.generation = max(f.generation, n+1)
	}
	f.ordinal, f.kind = 0, session.KindPeer
	f.aborted = make(chan struct{})
	if len(replaced) > 0 {
		return []string{fmt.Sprintf("symmetric memory of rank %s", session.FormatRanks(replaced))}, nil
	}
	return nil, nil
}

func (f *fake) Close() error { return nil }
