package worker

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
	"github.com/symmrepl/symmrepl/session/inherit"
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
	Lender      string            // as in Config
	Input       io.Reader         // the standard input of cells: lines that the user types when a cell reads, or os.Stdin
	// Trail is the memory in which the evaluator stores the position of the running code. It does
	// not lie in Go's heap.
	Trail *session.Trail
}

// Is reports whether this process was started as a worker. Then main must do nothing but call Serve.
func Is() bool { return os.Getenv(inherit.Variable) != "" }

// Serve is the main function of a worker. start makes the rank's interpreter and communicator; it may
// meet its peers only if Env.Incarnation is 1. session/optional.go lists further interfaces that they may
// implement. Serve returns the process's exit status when the session is over.
func Serve(start func(Env) (session.Evaluator, session.Communicator, error)) int {
	var spec inherit.Spec
	if err := json.Unmarshal([]byte(os.Getenv(inherit.Variable)), &spec); err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %s is not to be set by hand: %v\n", inherit.Variable, err)
		return 2
	}
	os.Unsetenv(inherit.Variable) // programs that cells start are not workers
	os.Setenv(inband.Variable, "1")
	debug.SetMaxStack(maxStack)
	leaveThreads()
	setArgs(spec.Args)
	adopt()
	control, err := inherited(inherit.Control)
	if err != nil {
		fmt.Fprintln(os.Stderr, "symmrepl: the control connection:", err)
		return 2
	}
	out := frame.NewWriter(control)
	w := &worker{spec: spec, supervisor: os.Getppid()}
	w.rank.Incarnation, w.rank.debugs, w.rank.begins = spec.Incarnation, make(chan wire.Debug, 64), make(chan uint64, 1)
	w.rank.Emit = func(e wire.Event, payload []byte) { // a failure shows at the reading end
		if e.IsAnswer() {
			w.out.Write(e, payload)
		} else {
			out.Write(e, payload)
		}
	}
	w.leaveBySignal()
	if err := w.start(start); err != nil {
		w.rank.send(wire.Event{Failed: session.AsError(err)}, nil)
		return 1
	}
	go w.work(frame.NewReader(w.jobs, wire.MaxPayload))
	go w.rank.debug()
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

// worker is this process, beside the rank that it runs.
type worker struct {
	rank       Rank
	spec       inherit.Spec
	supervisor int           // the number of its process
	hub        *channel      // the connection through which the rank meets the others
	jobs       *jobChannel   // the connection on which cells arrive
	answers    *jobChannel   // the connection for the answers to them
	out        *frame.Writer // on answers
	files      uint64        // number of open files that it must be permitted
}

func (w *worker) start(start func(Env) (session.Evaluator, session.Communicator, error)) error {
	var err error
	if w.hub, err = inherited(inherit.Hub); err != nil {
		return fmt.Errorf("the bootstrap connection: %w", err)
	}
	if w.jobs, err = inheritedJobs(inherit.Jobs); err != nil {
		return fmt.Errorf("the connection for cells: %w", err)
	}
	if w.answers, err = inheritedJobs(inherit.Answers); err != nil {
		return fmt.Errorf("the connection for answers: %w", err)
	}
	w.out = frame.NewWriter(w.answers)
	shares, err := inherit.Map(inherit.Shared)
	if err != nil {
		return fmt.Errorf("the memory shared with the supervisor: %w", err)
	}
	unix.Close(inherit.Shared)
	w.rank.Begin, w.rank.harm = newBeginMarker(shares).mark, w.harm
	inband.SetOrder(inherit.NewOrder(shares, int(session.Stderr)))
	s := w.spec
	hosts, err := session.ParseHosts(s.Hosts, s.Size)
	if err != nil {
		return err
	}
	client, err := bootstrap.NewClient(w.hub, s.Rank, s.Size, s.Dir, hosts)
	if err != nil {
		return err
	}
	var input io.Reader = &w.rank.stdin
	if s.Program {
		input = os.Stdin
	}
	w.rank.Evaluator, w.rank.Communicator, err = start(Env{
		Rank: s.Rank, Size: s.Size, LocalRank: s.LocalRank, LocalSize: s.LocalSize, Incarnation: s.Incarnation, Client: client,
		Dir: s.Dir, Device: s.Device, Backend: s.Backend, Network: s.Network, Lender: s.Lender, Input: input, Trail: &shares.Trail,
	})
	if err != nil {
		return err
	}
	if stands, can := w.rank.Evaluator.(session.DebuggedEvaluator); can {
		stands.OnStop(w.rank.stopped)
	}
	w.files = filesNeeded()
	host, _ := os.Hostname()
	if hosts.Hosts() > 1 {
		host += "/" + hosts.Name(s.Rank)
	}
	ready := &wire.Ready{PID: os.Getpid(), Host: host, Device: s.Device}
	if named, ok := w.rank.Communicator.(session.DeviceNamer); ok {
		ready.Device = named.DeviceName()
	}
	if noted, ok := w.rank.Communicator.(session.SharingReporter); ok && s.Rank == 0 && s.Incarnation == 1 {
		ready.Note = noted.Note()
	}
	w.rank.send(wire.Event{Ready: ready}, nil)
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
		w.rank.Handle(c, payload)
	}
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
			w.rank.Do(c, payload)
		}
	}
}

// close closes the communicator, for at most inherit.CloseGrace.
func (w *worker) close() {
	done := make(chan struct{})
	go func() {
		w.rank.Communicator.Abort("the session is over")
		w.rank.Communicator.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(inherit.CloseGrace):
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
