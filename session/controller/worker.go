package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
	"github.com/symmrepl/symmrepl/session/wire"
)

const (
	maxStack = 256 << 20 // bytes; endless recursion then ends the worker in half a second instead of three
)

// yieldEvery is the interval at which the goroutine that runs cells yields. This goroutine and the
// goroutines of its cells wake each other, and Go's runtime takes them for one goroutine that does
// not yield. After 10 ms the runtime takes the processor away from the wait for the next cell, and
// then looks for further processors to take every 20 µs, 50 times.
const yieldEvery = 4 * time.Millisecond

// Env describes a worker to its start function.
type Env struct {
	Rank, Size  int
	LocalRank   int               // among the ranks of this host; picks the GPU
	LocalSize   int               // number of ranks on this host, 0 if it is not known
	Incarnation int               // 1 for the first worker of this rank; a later one has no peers until Recover
	Client      *bootstrap.Client // the connection through which it meets its peers
	Dir         string            // private to the user, on this host, removed at the end
	Device      string            // as in Config
	Backend     string            // as in Config
	Network     string            // as in Config
	Input       io.Reader         // the standard input of cells: lines that the user types when a cell reads, or os.Stdin
	// Trail is the memory in which the evaluator stores the position of the running code. It does
	// not lie in Go's heap.
	Trail *session.Trail
}

// IsWorker reports whether this process was started as a worker. Then main must do nothing but call
// ServeWorker.
func IsWorker() bool { return os.Getenv(workerVariable) != "" }

// ServeWorker is the main function of a worker. start makes the rank's interpreter and
// communicator; it may meet its peers only if Env.Incarnation is 1. optional.go lists further
// interfaces that they may implement. ServeWorker returns the process's exit status when the
// session is over.
func ServeWorker(start func(Env) (session.Evaluator, session.Communicator, error)) int {
	var spec workerSpec
	if err := json.Unmarshal([]byte(os.Getenv(workerVariable)), &spec); err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %s is not to be set by hand: %v\n", workerVariable, err)
		return 2
	}
	os.Unsetenv(workerVariable) // programs that cells start are not workers
	os.Setenv(inband.Variable, "1")
	debug.SetMaxStack(maxStack)
	leaveThreads()
	setArgs(spec.Args)
	adopt()
	control, err := inherited(controlFD)
	if err != nil {
		fmt.Fprintln(os.Stderr, "symmrepl: the control connection:", err)
		return 2
	}
	out := frame.NewWriter(control)
	w := &worker{
		spec: spec, supervisor: os.Getppid(), heldUp: &heldUp{}, debugs: make(chan wire.Debug, 64), begins: make(chan uint64, 1),
	}
	w.emit = func(e wire.Event, payload []byte) { // a failure shows at the reading end
		if e.IsAnswer() {
			w.out.Write(e, payload)
		} else {
			out.Write(e, payload)
		}
	}
	w.leaveBySignal()
	if err := w.start(start); err != nil {
		w.send(wire.Event{Failed: session.AsError(err)}, nil)
		return 1
	}
	go w.work(frame.NewReader(w.jobs, wire.MaxPayload))
	go w.debug()
	quit := w.read(frame.NewReader(control, wire.MaxPayload))
	w.close()
	endDescendants()
	if !quit {
		userdir.RemoveAbandoned(spec.Dir, w.supervisorEnds)
	}
	return 0
}

// setArgs sets os.Args for the cells, and resets package flag to these arguments.
func setArgs(args []string) {
	if len(args) == 0 {
		args = []string{"symmrepl"}
	}
	os.Args = args
	flag.CommandLine = flag.NewFlagSet(args[0], flag.ExitOnError)
	flag.CommandLine.Usage = func() { flag.Usage() }
}

// worker is the process-wide state of one rank.
type worker struct {
	spec       workerSpec
	supervisor int // the number of its process
	emit       func(wire.Event, []byte)
	eval       session.Evaluator
	comm       session.Communicator
	stdin      stdinReader
	begin      func(run uint64) // notes that a run begins in the output
	heldUp     *heldUp          // judges since the run began
	hub        *channel         // the connection through which the rank meets the others
	jobs       *jobChannel      // the connection on which cells arrive; nil for a rank of a simulation
	answers    *jobChannel      // the connection for the answers to them
	out        *frame.Writer    // on answers
	files      uint64           // number of open files that it must be permitted
	debugs     chan wire.Debug
	begins     chan uint64 // runs that may begin: see beginDebugged

	mu        sync.Mutex
	current   uint64       // the run in hand, 0 when idle
	latest    uint64       // the run that was in hand last
	early     wire.Command // the last Cancel of a run that was not in hand yet: see interrupt
	cancel    context.CancelFunc
	finishing bool // the cell's code has ended, its device work has not
}

// job is an evaluation or a recovery.
type job struct {
	ctx     context.Context
	eval    *wire.Eval
	source  string
	recover *wire.Recovery
}

func (w *worker) start(start func(Env) (session.Evaluator, session.Communicator, error)) error {
	var err error
	if w.hub, err = inherited(bootstrapFD); err != nil {
		return fmt.Errorf("the bootstrap connection: %w", err)
	}
	if w.jobs, err = inheritedJobs(jobsFD); err != nil {
		return fmt.Errorf("the connection for cells: %w", err)
	}
	if w.answers, err = inheritedJobs(answersFD); err != nil {
		return fmt.Errorf("the connection for answers: %w", err)
	}
	w.out = frame.NewWriter(w.answers)
	shares, err := inheritedShared()
	if err != nil {
		return fmt.Errorf("the memory shared with the supervisor: %w", err)
	}
	w.begin = newBeginMarker(shares).mark
	inband.SetOrder(newOutputOrder(shares, int(session.Stderr)))
	s := w.spec
	hosts, err := session.ParseHosts(s.Hosts, s.Size)
	if err != nil {
		return err
	}
	client, err := bootstrap.NewClient(w.hub, s.Rank, s.Size, s.Dir, hosts)
	if err != nil {
		return err
	}
	var input io.Reader = &w.stdin
	if s.Program {
		input = os.Stdin
	}
	w.eval, w.comm, err = start(Env{
		Rank: s.Rank, Size: s.Size, LocalRank: s.LocalRank, LocalSize: s.LocalSize, Incarnation: s.Incarnation, Client: client,
		Dir: s.Dir, Device: s.Device, Backend: s.Backend, Network: s.Network, Input: input, Trail: &shares.Trail,
	})
	if err != nil {
		return err
	}
	if stands, can := w.eval.(session.DebuggedEvaluator); can {
		stands.OnStop(w.stopped)
	}
	w.files = filesNeeded()
	host, _ := os.Hostname()
	if hosts.Hosts() > 1 {
		host += "/" + hosts.Name(s.Rank)
	}
	ready := &wire.Ready{PID: os.Getpid(), Host: host, Device: s.Device}
	if named, ok := w.comm.(session.DeviceNamer); ok {
		ready.Device = named.DeviceName()
	}
	if noted, ok := w.comm.(session.SharingReporter); ok && s.Rank == 0 && s.Incarnation == 1 {
		ready.Note = noted.Note()
	}
	w.send(wire.Event{Ready: ready}, nil)
	return nil
}

// read carries out the controller's commands, except for cells and recoveries, until Quit or until
// the connection ends. It reports whether Quit came. It runs no user code, so it answers while a
// cell spins.
func (w *worker) read(in *frame.Reader) (quit bool) {
	for {
		var c wire.Command
		payload, err := in.Read(&c)
		if err != nil || c.Quit {
			return err == nil
		}
		w.handle(c, payload)
	}
}

// handle carries out a command that is neither Quit nor a job.
func (w *worker) handle(c wire.Command, payload []byte) {
	switch {
	case c.Cancel != 0:
		w.interrupt(c)
	case c.Abort != "":
		w.endWaits(c)
	case c.Status != 0:
		w.send(wire.Event{Status: w.status(c.Status, c.Look)}, nil)
	case c.Probe != 0:
		_, late := w.heldUp.now()
		w.send(wire.Event{Probe: c.Probe, HeldUp: late}, nil)
	case c.Judge:
		w.heldUp.look()
	case c.Input != nil:
		w.mu.Lock()
		if w.current == c.Input.Run {
			w.stdin.deliver(typedLine{string(payload), c.Input.End})
		}
		w.mu.Unlock()
	case c.Inspect != nil:
		go w.inspect(*c.Inspect)
	case c.Debug != nil:
		w.debugs <- *c.Debug
	}
}

// endWaits ends every wait of a run, unless the run has ended meanwhile. A rank that has moved since its wait
// was found to be in vain has no such wait: the end of another rank's wait may have released it.
func (w *worker) endWaits(c wire.Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != c.Run {
		return
	}
	ender, ends := w.comm.(session.WaitEnder)
	if !ends || !c.InVain {
		w.comm.Abort(c.Abort)
		return
	}
	if p, known := w.progress(); known && p.Moves != c.Moves {
		return
	}
	ender.EndWaits(c.Abort)
}

// interrupt interrupts a run. Cells arrive on a connection of their own, so the run may not be in
// hand yet; it is then interrupted when it begins.
func (w *worker) interrupt(c wire.Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.current == c.Cancel:
		w.cancel()
		w.comm.Abort(c.Abort)
	case c.Cancel > w.latest:
		w.early = c
	}
}

// accept makes a job of a command, and its run the current one.
func (w *worker) accept(c wire.Command, payload []byte) job {
	if c.Recover != nil {
		return job{recover: c.Recover}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.current, w.latest, w.cancel = c.Eval.Run, c.Eval.Run, cancel
	w.heldUp.begin(c.Eval.Run)
	early := w.early
	w.mu.Unlock()
	if early.Cancel == c.Eval.Run {
		w.interrupt(early)
	}
	return job{ctx: ctx, eval: c.Eval, source: string(payload)}
}

// work runs the cells and recoveries that arrive on a connection, until it ends. The goroutine that
// reads a cell runs it: a hand-over to another one wakes a thread.
func (w *worker) work(in *frame.Reader) {
	yielded := time.Now()
	for {
		if now := time.Now(); now.Sub(yielded) > yieldEvery {
			yielded = now
			runtime.Gosched()
		}
		var c wire.Command
		payload, err := in.Read(&c)
		if err != nil {
			return // harm or the supervisor tells why
		}
		if c.IsJob() {
			w.do(w.accept(c, payload))
		}
	}
}

// do runs a cell or a recovery.
func (w *worker) do(j job) {
	if j.recover != nil {
		w.recover(j.recover)
		return
	}
	w.run(j)
}

func (w *worker) run(j job) {
	w.stdin.reset(j.ctx)
	w.begin(j.eval.Run)
	if confined, ok := w.comm.(session.Confiner); ok {
		confined.Confine(j.eval.Only)
	}
	if remembers, ok := w.comm.(session.CellCommunicator); ok {
		cell := j.eval.Cell
		if j.eval.Silent { // it has the number of the next cell
			cell = 0
		}
		remembers.BeginCell(cell)
	}
	r := session.Result{Err: w.sanitize(j.eval.Sanitize)}
	w.comm.Begin(j.eval.Run)
	if r.Err == nil {
		r.Err = changeFolder(j.eval)
	}
	w.beginDebugged(j)
	if r.Err == nil {
		r = w.eval.Eval(j.ctx, session.Cell{ID: j.eval.Cell, Name: j.eval.Name, Line: j.eval.Line, Columns: j.eval.Columns,
			Typed: j.eval.Typed, Imports: j.eval.Imports, Program: j.eval.Program, Source: j.source, Debugged: j.eval.Debugged})
	}
	if r.Err == nil && j.ctx.Err() != nil && w.stdin.wasCut() {
		r = session.Result{Err: &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}}
	}
	w.mu.Lock()
	w.finishing = true
	w.mu.Unlock()
	if fault := w.comm.Finish(j.ctx); r.Err == nil {
		r.Err = fault
	}
	w.mu.Lock()
	w.current, w.finishing = 0, false
	w.cancel()
	w.mu.Unlock()
	if why := w.harm(); why != "" {
		w.send(wire.Event{Died: &wire.Death{Cause: why}}, nil)
		return // the supervisor ends the process
	}
	done := &wire.Done{
		Run: j.eval.Run, HasValue: r.HasValue, Err: wire.ClipError(r.Err), Tallies: w.comm.Tallies(), Late: w.late(),
		Findings: w.comm.Findings(), Sanitizing: w.sanitizing(),
	}
	var payload []byte
	payload, done.Rich = wire.EncodeValue(r, wire.MaxRich)
	w.send(wire.Event{Done: done}, payload)
}

// beginDebugged gives the evaluator the breakpoints of a cell, and no others. What the debugger commanded
// before the cell may arrive after it, on the other connection; the cell waits for these commands, so that
// none of them lets it go on or makes it stand.
func (w *worker) beginDebugged(j job) {
	if !j.eval.Follows {
		return
	}
	for begun := uint64(0); begun != j.eval.Run; {
		select {
		case begun = <-w.begins:
		case <-j.ctx.Done():
			return
		}
	}
	if stands, can := w.eval.(session.DebuggedEvaluator); can {
		stands.LeaveDebugger()
		stands.Break(j.eval.Breaks)
	}
}

func (w *worker) recover(r *wire.Recovery) {
	ctx, cancel := context.WithTimeout(context.Background(), r.Timeout)
	defer cancel()
	lost, err := w.comm.Recover(ctx, r.Replaced)
	e := &wire.Recovered{ID: r.ID, Lost: lost}
	if err != nil {
		e.Err = err.Error()
	}
	w.send(wire.Event{Recovered: e}, nil)
}

func (w *worker) inspect(q wire.Question) {
	a, err := w.eval.Inspect(context.Background(), q.Query)
	a.Text = wire.Clip(a.Text, wire.MaxPayload/2)
	payload, unencodable := json.Marshal(a)
	if err = cmp.Or(err, unencodable); err == nil && len(payload) > wire.MaxPayload {
		err = fmt.Errorf("the answer is too long (%d bytes)", len(payload))
	}
	e := &wire.Answer{ID: q.ID}
	if err != nil {
		e.Err, payload = wire.ClipError(session.AsError(err)), nil
	}
	w.send(wire.Event{Answer: e}, payload)
}

// debug carries out commands for the evaluator in their order. It may wait while a cell is compiled,
// and the goroutine that reads commands must not.
func (w *worker) debug() {
	stands, can := w.eval.(session.DebuggedEvaluator)
	for c := range w.debugs {
		switch {
		case c.Begin != 0:
			w.begins <- c.Begin
		case !can:
		case c.Breaks != nil:
			stands.Break(c.Breaks)
		case c.Resume != "":
			stands.Resume(c.Resume)
		case c.Pause:
			stands.Pause()
		case c.Leave:
			stands.LeaveDebugger()
		}
	}
}

// stopped reports that code of the cell stands.
func (w *worker) stopped(reason session.StopReason, at session.Place) {
	w.mu.Lock()
	run := w.current
	w.mu.Unlock()
	w.send(wire.Event{Stopped: &wire.Stopped{Run: run, Reason: reason, Place: at}}, nil)
}

func (w *worker) send(e wire.Event, payload []byte) {
	e.Incarnation = w.spec.Incarnation
	w.emit(e, payload)
}

// close closes the communicator, for at most closeGrace.
func (w *worker) close() {
	done := make(chan struct{})
	go func() {
		w.comm.Abort("the session is over")
		w.comm.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeGrace):
	}
}

// leaveBySignal ends the worker when its supervisor has died, and removes the session's directory
// then. In that case the kernel sends SIGHUP, and continues a stopped worker. SIGTERM would not do:
// NVRTC takes it during a compile, and ends the process.
func (w *worker) leaveBySignal() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ch
		endDescendants()
		userdir.RemoveAbandoned(w.spec.Dir, w.supervisorEnds)
		os.Exit(1)
	}()
}

// supervisorEnds reports whether the supervisor's process has ended or is ending. The kernel sends
// SIGHUP when the thread that started this worker ends, which may be long before the process does.
func (w *worker) supervisorEnds() bool {
	info, err := procfs.Of(w.supervisor)
	return err != nil || info.Exiting || os.Getppid() != w.supervisor
}

// sanitize makes the change of the sanitizer before a cell.
func (w *worker) sanitize(s *session.Sanitizing) *session.Error {
	if s == nil {
		return nil
	}
	if able, ok := w.comm.(session.SanitizingCommunicator); ok {
		return able.Sanitize(*s)
	}
	return &session.Error{Kind: session.KindSystem, Peer: -1, Msg: "these ranks have no sanitizer"}
}

// sanitizing returns the sanitizer's state.
func (w *worker) sanitizing() (s session.Sanitizing) {
	if able, ok := w.comm.(session.SanitizingCommunicator); ok {
		s = able.Sanitizing()
	}
	return s
}
