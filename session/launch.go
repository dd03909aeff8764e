package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// KillAfter is the default of Config.KillAfter.
const KillAfter = 3 * time.Second

// Config configures a session.
type Config struct {
	Ranks   int    // number of processes that Launch starts; Join uses the launcher's number
	Device  string // passed to the workers: "cpu", "cuda" or "auto"
	Backend string // passed to the workers
	Hosts   Hosts  // simulated hosts, for all ranks
	Network string // passed to the workers: the network for operations between hosts
	// KillAfter is the time that an interrupted worker may take to stop before it is killed or,
	// with Cell.Again, reported. Zero means the constant KillAfter. A worker that gets too little
	// processor time may take up to eight times as long.
	KillAfter time.Duration
	// Rendezvous is host:port of rank 0, for launchers that do not provide it. Only Join uses it.
	Rendezvous string
	// Heartbeat is the time of silence after which Join counts another host as lost; 0 means never.
	// Rank 0's value counts.
	Heartbeat time.Duration
	// Notice, unless nil, receives sentences for the user: which ranks Join waits for, if that
	// takes more than a moment; a note about the devices from rank 0; and, while no cell runs,
	// which ranks are lost and whose workers have died.
	Notice func(string)
	// Prompt means that Notice prints above the prompt at which the user enters cells. The session
	// then does not repeat a notice with a cell.
	Prompt bool
	// Reports is a folder for the reports of Go's runtime about workers that it has ended: one file
	// for each rank, with the last report. If Reports is empty, the reports are shown.
	Reports string
	// Args is os.Args in cells; if empty, the name of this program.
	Args []string
	// Deadlock selects the treatment of a wait that cannot end: DeadlockEnd, which is the default,
	// or DeadlockWait.
	Deadlock string
	// Program, unless nil, means that the cells belong to a program.
	Program *Program
	// Private means that no further front ends can attach to the session.
	Private bool
}

// Program means that the cells of a session are one program, run as by `go run`: the program reads
// its own standard input, and a rank that calls os.Exit ends the program. Such a rank is not
// replaced, and no more cells run.
type Program struct {
	// Stdin is the standard input of rank 0. The standard input of other ranks is empty, as with
	// mpirun.
	Stdin *os.File
	// Unattended means that no user watches the program. With one rank the session then does not
	// report cells that take long.
	Unattended bool
}

// Hosts divides the ranks among simulated hosts. The zero Hosts divides nothing.
type Hosts = bootstrap.Parts

// HostsVariable is the environment variable with the default of Config.Hosts, also for compiled
// programs.
const HostsVariable = bootstrap.PartsVariable

// ParseHeartbeat parses a value for Config.Heartbeat: see [heartbeat.Parse].
func ParseHeartbeat(text string) (time.Duration, error) { return heartbeat.Parse(text) }

// HeartbeatVariable is the environment variable with the default of Config.Heartbeat.
const HeartbeatVariable = heartbeat.Variable

// ParseHosts parses a value for Config.Hosts: see [bootstrap.ParseParts].
func ParseHosts(text string, ranks int) (Hosts, error) { return bootstrap.ParseParts(text, ranks) }

// worker returns the specification that a supervisor with this configuration passes to the worker
// of a rank.
func (c Config) worker(rank, size, localRank, localSize int, dir string) workerSpec {
	return workerSpec{Rank: rank, Size: size, LocalRank: localRank, LocalSize: localSize, Dir: dir, Device: c.Device,
		Backend: c.Backend, Hosts: c.Hosts.String(), Network: c.Network,
		Args: c.Args, Program: c.Program != nil}
}

// stdin returns the standard input of a rank's worker; nil stands for empty input.
func (c Config) stdin(rank int) *os.File {
	if rank != 0 || c.Program == nil {
		return nil
	}
	return c.Program.Stdin
}

// Launch starts config.Ranks workers on this host and, when all of them are ready, returns the
// session that drives them. The calling process becomes their supervisor; its main function must
// begin as described at IsWorker. If a worker cannot start, the error says why, and no process is
// left.
func Launch(ctx context.Context, config Config) (Session, error) {
	if config.Ranks < 1 {
		return nil, fmt.Errorf("a session needs at least one rank, not %d", config.Ranks)
	}
	if err := enoughRoom("a session of "+FormatSize(config.Ranks), config.Ranks, 0); err != nil {
		return nil, err
	}
	rendezvous.TakeToken() // only Join needs it
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	c := newController(config, config.Ranks, dir)
	for r := range config.Ranks {
		c.addLocal(r, r, config.Ranks)
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// open makes the session ready for its first cell, or closes it.
func (c *controller) open(ctx context.Context) error {
	err := c.startWorkers(ctx)
	if err == nil && !c.config.Private {
		err = c.serveFronts() // only now, because the ranks take cells
	}
	if err != nil {
		c.Close()
	}
	return err
}

// addLocal makes this process the supervisor of rank.
func (c *controller) addLocal(rank, localRank, localSize int) {
	s := &supervisor{
		spec:       c.config.worker(rank, c.size, localRank, localSize, c.dir.Path),
		stdin:      c.config.stdin(rank),
		reports:    c.config.Reports,
		spawner:    c.spawner,
		connectHub: c.hubConnector(rank),
		emit:       func(e event, payload []byte) { c.event([]int{rank}, e, payload) },
	}
	c.mu.Lock()
	c.ranks[rank].keeper = s
	c.mu.Unlock()
}

// startWorkers starts a worker on every rank and waits until all of them take cells.
func (c *controller) startWorkers(ctx context.Context) error {
	c.mu.Lock()
	for _, s := range c.ranks {
		s.startNext()
	}
	c.mu.Unlock()
	c.tell(allRanks(c.size), command{Start: &startCommand{1}}, nil)
	if err := c.awaitWorkers(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for r, s := range c.ranks {
		if s.failed != nil {
			errs = append(errs, fmt.Errorf("rank %d: %w", r, s.failed))
		}
	}
	if first := c.ranks[0].ready; first != nil && first.Note != "" && c.config.Notice != nil {
		c.config.Notice(first.Note)
	}
	return errors.Join(errs...)
}
