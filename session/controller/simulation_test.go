package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/hosts"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
	"github.com/symmrepl/symmrepl/session/worker"
)

// simulationVariable marks a process that simulates hosts. Its value is the JSON of a simulation.
const simulationVariable = "SYMMREPL_SIMULATION"

// simulation is a session whose ranks have no processes, to measure the session's own parts: the
// controller, its links to the hosts, the fold and the watchdog. One further process simulates all
// hosts, and each host has its own link.
type simulation struct {
	Ranks   int
	PerHost int // ranks of a host; the last host has the rest
}

// hosts returns the ranks of each host.
func (s simulation) hosts() [][]int {
	var hosts [][]int
	for all := rankset.All(s.Ranks); len(all) > 0; {
		n := min(s.PerHost, len(all))
		hosts, all = append(hosts, all[:n:n]), all[n:]
	}
	return hosts
}

// simulate starts a simulated session of this test program, whose TestMain must begin as described at
// isSimulation.
func simulate(ctx context.Context, sim simulation) (*controller, error) {
	all := sim.hosts()
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	c := newController(session.Config{}, sim.Ranks, dir)
	links, err := startSimulated(sim, len(all))
	if err != nil {
		c.Close()
		return nil, err
	}
	for i, ranks := range all {
		k := newHostKeeper(links[i], ranks)
		for _, r := range ranks {
			c.ranks[r].keeper = k
		}
		go k.listen(c)
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// startSimulated starts the process that simulates hosts, and returns its links: it ends when these do.
func startSimulated(sim simulation, count int) ([]*rendezvous.Link, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(sim)
	if err != nil {
		return nil, err
	}
	files := []*os.File{nil, os.Stdout, os.Stderr}
	defer func() {
		for _, f := range files[3:] {
			f.Close()
		}
	}()
	var links []*rendezvous.Link
	for range count {
		mine, theirs, err := inherit.Pair()
		if err != nil {
			for _, l := range links {
				l.Close()
			}
			return nil, err
		}
		files, links = append(files, theirs), append(links, newLink(mine))
	}
	p, err := os.StartProcess(program, []string{"symmrepl-simulation"}, &os.ProcAttr{
		Env: append(os.Environ(), simulationVariable+"="+string(encoded)), Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		for _, l := range links {
			l.Close()
		}
		return nil, err
	}
	go p.Wait()
	return links, nil
}

// newLink makes a link from a connection that needs no handshake.
func newLink(conn net.Conn) *rendezvous.Link {
	c := heartbeat.New(conn)
	c.WriteWithin(waitAtMost)
	return &rendezvous.Link{Conn: c, In: frame.NewReader(c, wire.MaxPayload), Out: frame.NewWriter(c)}
}

// isSimulation reports whether this process was started to simulate hosts. Then TestMain must do
// nothing but call serveSimulation.
func isSimulation() bool { return os.Getenv(simulationVariable) != "" }

// simulatedRank describes its rank to an Evaluator of a simulation.
type simulatedRank struct {
	Rank, Size int
	// writes to the rank's standard output, while Eval runs: all ranks of the simulation share the
	// descriptors of one process
	Print func(text string)
}

// serveSimulation is the main function of a process that simulates hosts. start makes the evaluator
// and the communicator of a rank. serveSimulation returns the process's exit status when the
// session is over.
func serveSimulation(start func(simulatedRank) (session.Evaluator, session.Communicator)) int {
	var sim simulation
	if err := json.Unmarshal([]byte(os.Getenv(simulationVariable)), &sim); err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %s is not to be set by hand: %v\n", simulationVariable, err)
		return 2
	}
	var serving sync.WaitGroup
	for i, ranks := range sim.hosts() {
		conn, err := net.FileConn(os.NewFile(uintptr(inherit.Control+i), "link"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "symmrepl: the link of a simulated host:", err)
			return 2
		}
		h := hosts.NewLeader()
		for _, r := range ranks {
			h.Add(r, &simulated{rank: r, size: sim.Ranks, start: start, host: fmt.Sprint("host", i),
				emit: func(e wire.Event, payload []byte) { h.Emit(r, e, payload) }})
		}
		serving.Go(func() {
			defer conn.Close()
			link := newLink(conn)
			defer h.Serve(link)()
			for {
				var c wire.Command
				payload, err := link.In.Read(&c)
				if err != nil || c.Quit {
					return
				}
				h.Do(c, payload)
			}
		})
	}
	serving.Wait()
	return 0
}

// simulated is the supervisor and the worker of a rank without a process. It lacks features for
// which the evaluator needs a process.
type simulated struct {
	rank, size int
	host       string
	start      func(simulatedRank) (session.Evaluator, session.Communicator)
	emit       func(wire.Event, []byte)
	worker     *worker.Rank
	jobs       chan func() // of worker
}

func (s *simulated) Do(c wire.Command, payload []byte) {
	w := s.worker
	switch {
	case c.Start != nil:
		s.startWorker(c.Start.Incarnation)
	case w == nil || c.Eval != nil && c.Eval.Incarnation != w.Incarnation:
	case c.Kill != 0:
		if c.Kill == w.Incarnation {
			s.worker = nil
			close(s.jobs)
			w.Communicator.Abort("its worker was killed")
			s.emit(wire.Event{Incarnation: c.Kill, Died: &wire.Death{Cause: "was killed (SIGKILL)"}}, nil)
		}
	case c.IsJob():
		s.jobs <- func() { w.Do(c, payload) }
	default:
		w.Handle(c, payload)
		if c.Status != 0 {
			s.emit(wire.Event{Incarnation: w.Incarnation, Process: &wire.Process{State: "S"}}, nil)
		}
	}
}

// startWorker starts an incarnation.
func (s *simulated) startWorker(incarnation int) {
	// The beginning of a run is reported with its output, as by a supervisor.
	var begins uint64
	print := func(text string) {
		if begins != 0 {
			s.emit(wire.Event{Incarnation: incarnation, Output: session.Stdout, Begins: begins}, nil)
			begins = 0
		}
		s.emit(wire.Event{Incarnation: incarnation, Output: session.Stdout}, []byte(text))
	}
	w := &worker.Rank{Incarnation: incarnation, Emit: s.emit, Begin: func(run uint64) { begins = run }}
	w.Evaluator, w.Communicator = s.start(simulatedRank{s.rank, s.size, print})
	jobs := make(chan func(), 1)
	s.worker, s.jobs = w, jobs
	go func() {
		for job := range jobs {
			job()
		}
	}()
	s.emit(wire.Event{Incarnation: incarnation, Ready: &wire.Ready{PID: os.Getpid(), Host: s.host, Device: "none"}}, nil)
}

func (s *simulated) Close() {}
