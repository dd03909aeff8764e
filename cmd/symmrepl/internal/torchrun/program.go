package torchrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/finding"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/symmem/foreign"
)

// programVariable names the program that the Python package starts.
const programVariable = "SYMMREPL"

// Program is a program of Python to run on every rank.
type Program struct {
	Version  string   // of this program, which the package symmrepl of the ranks compares with its own
	Name     string   // in messages
	Command  []string // the interpreter and its arguments
	Ranks    int
	Timeout  time.Duration        // 0: none
	Deadlock string               // session.DeadlockEnd, DeadlockWait, or "": waits that cannot end are ended, unless they are on GPUs
	Sanitize bool                 // every access of kernels and of PyTorch's operators is watched
	Seed     int64                // with Sanitize: the order of threads, blocks and ranks
	Emit     func(session.Output) // shows output and notes; it is not called concurrently
}

const (
	failGrace = 500 * time.Millisecond // between the first failure of a rank and the end of the others, which may say why, too
	killGrace = 2 * time.Second        // between SIGTERM and SIGKILL
)

// Outcome is the result of a run.
type Outcome struct {
	Failed   bool              // not all ranks have ended by themselves, without a failure, or some were not watched
	Findings []session.Finding // of the sanitizer
	Unseen   []string          // accesses that nobody watched: "Tensor.numpy at prog.py:7"
}

// run is a run of a program.
type run struct {
	*Program
	ranks []*rank
	fold  *fold.Fold
	queue chan func()   // from other goroutines
	over  chan struct{} // closed when nobody takes from the queue any more
	began time.Time
	shown time.Time // when a rank printed last

	mark   string          // in the environment of all that the ranks start
	found  finding.Program // with Sanitize
	shadow string
	port   *os.File // keeps the port at which the ranks meet

	gpus     bool // the program uses GPUs
	watch    watchdog.Watch
	question uint64 // the number of the last one

	asked        map[uint64]request // requests to ranks, by their numbers
	requests     uint64             // so far
	unattachable error              // why no session can attach; nil if one can
	awaited      []awaiting
	stopped      uint64 // at how many breakpoints it has stood
	invited      bool   // it was said that one can

	limitAt time.Time // when the time limit is over
	stoodAt time.Time // since when all ranks stand at a breakpoint; zero if they do not

	failedAt time.Time // of the first failure
	failed   bool      // the program has failed
	ending   bool      // the ranks are being ended
	killAt   time.Time
}

// Run runs the program to its end. The end of ctx ends the ranks. Errors: the program cannot be started.
func (p *Program) Run(ctx context.Context) (o Outcome, err error) {
	runtime.LockOSThread() // the kernel ends a rank when the thread ends that has started it: Pdeathsig
	defer runtime.UnlockOSThread()
	r := p.run()
	r.mark = fmt.Sprintf("torchrun/%d.%d", os.Getpid(), r.began.UnixNano())
	defer r.clear()
	defer close(r.over)
	defer r.lend()()
	if p.Sanitize {
		var end func()
		if r.shadow, end, err = foreign.Shadow(); err != nil {
			return o, err
		}
		defer end()
	}
	if err := r.start(); err != nil {
		return o, err
	}
	r.limitAt = time.Now().Add(p.Timeout)
	r.loop(ctx.Done(), nil)
	if p.Sanitize {
		r.collect(&o)
	}
	o.Failed = r.failed
	return o, nil
}

// run returns the state of a run that begins now.
func (p *Program) run() *run {
	r := &run{Program: p, queue: make(chan func()), over: make(chan struct{}), began: time.Now(), shown: time.Now()}
	r.fold = fold.New(rankset.All(p.Ranks), fold.MostFor(p.Ranks), p.Emit)
	r.fold.Unfinished = p.Ranks == 1
	return r
}

// loop watches the ranks until all have ended, or until left. They are ended when interrupted.
func (r *run) loop(interrupted, left <-chan struct{}) {
	tick := time.NewTicker(fold.Tick)
	defer tick.Stop()
	for r.running() {
		select {
		case do := <-r.queue:
			do()
		case <-tick.C:
			r.tick(time.Now())
			r.dropRequests(time.Now())
		case <-interrupted:
			interrupted = nil
			r.endWith("%s is interrupted:", r.Name)
		case <-left:
			return
		}
	}
	r.fold.End(time.Now())
}

// collect adds what the sanitizer has found. A rank that was not watched to its end must not look clean.
func (r *run) collect(o *Outcome) {
	var partly []int
	for _, rk := range r.ranks {
		if !r.found.Ended(rk.number) {
			partly = append(partly, rk.number)
		}
	}
	if len(partly) > 0 {
		r.failed = true
		r.note(fmt.Sprintf("rank %s was not watched to its end, because it was ended, or opened no device of symmrepl.torch: there may be more findings\n",
			session.FormatRanks(partly)))
	}
	o.Findings = r.found.Findings()
	for _, u := range r.found.Unseen() {
		o.Unseen = append(o.Unseen, fmt.Sprintf("%s at %s:%d", u.What, u.At.File, u.At.Line))
	}
}

// clear ends what the ranks have put into sessions of its own, and frees their port.
func (r *run) clear() {
	r.port.Close()
	for _, left := range procfs.Marked(inherit.MarkVariable)[r.mark] {
		syscall.Kill(left, syscall.SIGKILL)
	}
}

// start starts all ranks, or none.
func (r *run) start() error {
	python, err := exec.LookPath(r.Command[0])
	if err != nil {
		return fmt.Errorf("there is no %s, which runs the program: %w", r.Command[0], err)
	}
	var port int
	if port, r.port, err = freePort(); err != nil {
		return err
	}
	for n := range r.Ranks {
		rk, err := start(n, append([]string{python}, r.Command[1:]...), r.environment(n, port),
			func(stream session.Stream, b []byte) { r.print(n, stream, b) },
			func(m *message) { r.do(func() { r.heard(r.ranks[n], m) }) },
			func(failure string) { r.do(func() { r.rankEnded(r.ranks[n], failure) }) })
		if err != nil {
			r.ending = true
			for r.signal(syscall.SIGKILL); r.running(); {
				(<-r.queue)()
			}
			return fmt.Errorf("rank %d cannot be started: %w", n, err)
		}
		r.ranks = append(r.ranks, rk)
	}
	return nil
}

// do runs a function in the goroutine of Run, unless that has ended.
func (r *run) do(f func()) {
	select {
	case r.queue <- f:
	case <-r.over:
	}
}

// environment returns the variables of a rank: those that torchrun sets, the sanitizer's, its socket, and
// this program, which need not be in PATH. The user's own SYMMREPL comes before it. The world's store is
// rank 0's.
func (r *run) environment(rank, port int) []string {
	env, ranks := os.Environ(), r.Ranks
	set := func(name string, value any) { env = append(env, fmt.Sprintf("%s=%v", name, value)) }
	for _, name := range []string{"RANK", "LOCAL_RANK", "ROLE_RANK"} {
		set(name, rank)
	}
	for _, name := range []string{"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"} {
		set(name, ranks)
	}
	for _, name := range []string{"GROUP_RANK", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS"} {
		set(name, 0)
	}
	set("GROUP_WORLD_SIZE", 1)
	set("ROLE_NAME", "default")
	set("MASTER_ADDR", "127.0.0.1")
	set("MASTER_PORT", port)
	set("TORCHELASTIC_RUN_ID", "none")
	set("TORCHELASTIC_USE_AGENT_STORE", "False")
	set(variable, fmt.Sprintf("%d %s", fd, r.Version))
	set(inherit.MarkVariable, r.mark)
	if r.Sanitize {
		set("SYMMREPL_SANITIZE", r.shadow)
		set("SYMMREPL_SEED", r.Seed)
	}
	if program, err := os.Executable(); err == nil && os.Getenv(programVariable) == "" {
		set(programVariable, program)
	}
	if os.Getenv("OMP_NUM_THREADS") == "" && ranks > 1 {
		set("OMP_NUM_THREADS", 1)
	}
	return env
}

// freePort returns a port of this machine at which nobody listens. While the file is open the kernel gives
// the port to no other program: rank 0 listens there only when it has imported PyTorch.
func freePort() (int, *os.File, error) {
	fail := func(err error) (int, *os.File, error) {
		return 0, nil, fmt.Errorf("a port at which the ranks meet: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	s := os.NewFile(uintptr(fd), "")
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // rank 0 may bind to it, too
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{})
	}
	var at unix.Sockaddr
	if err == nil {
		at, err = unix.Getsockname(fd)
	}
	if err != nil {
		s.Close()
		return fail(err)
	}
	return at.(*unix.SockaddrInet4).Port, s, nil
}

// print adds what a rank has printed. It waits while the rank is far ahead of the others.
func (r *run) print(rank int, stream session.Stream, b []byte) {
	if wait := r.fold.Add([]int{rank}, stream, b, time.Now()); wait != nil {
		wait()
	}
	r.do(func() { r.shown = time.Now() })
}

// running reports whether a rank has not ended.
func (r *run) running() bool {
	for _, rk := range r.ranks {
		if rk.ended.IsZero() {
			return true
		}
	}
	return false
}

// rankEnded notes the end of a rank. If it has failed, the others are ended a moment later.
func (r *run) rankEnded(rk *rank, failure string) {
	rk.ended = time.Now()
	r.fold.EndRanks([]int{rk.number}, rk.ended)
	if failure == "" || r.ending {
		return
	}
	rk.failure, r.failed = failure, true
	if r.failedAt.IsZero() {
		r.failedAt = rk.ended
	}
}

// tick does what is due.
func (r *run) tick(now time.Time) {
	if behind := r.fold.Tick(now); len(behind) > 0 {
		r.fold.NoteAlive(rankset.Filter(behind, func(n int) bool { return !r.ranks[n].thread.runs }), now)
	}
	switch {
	case r.ending && now.After(r.killAt):
		r.signal(syscall.SIGKILL)
	case r.ending:
	case !r.failedAt.IsZero():
		if now.Sub(r.failedAt) >= failGrace {
			r.endWith("%s; the other ranks are ended:", watchdog.DeathCauses(r.snapshot(now)))
		}
	case r.stands():
	case r.Timeout > 0 && now.After(r.limitAt):
		r.endWith("%s has reached its time limit of %v, and is ended:", r.Name, r.Timeout)
	default:
		r.look(now)
	}
}

// endWith ends all ranks, and shows what they do under a head.
func (r *run) endWith(head string, args ...any) {
	if r.ending {
		return
	}
	r.answerStanding()
	r.note(fmt.Sprintf(head, args...) + "\n" + r.watch.Activity(r.snapshot(time.Now())).Text)
	r.failed = true
	r.end()
}

// end ends all ranks: those that do not end within killGrace are killed.
func (r *run) end() {
	if !r.ending {
		r.ending, r.killAt = true, time.Now().Add(killGrace)
		r.signal(syscall.SIGTERM)
		r.signal(syscall.SIGCONT) // a stopped process ends only then
	}
}

func (r *run) signal(signal syscall.Signal) {
	for _, rk := range r.ranks {
		if rk.ended.IsZero() {
			rk.kill(signal)
		}
	}
}

// note shows a remark between lines of output.
func (r *run) note(text string) { r.fold.Show(session.Output{Stream: session.Note, Text: text}) }
