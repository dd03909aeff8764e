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
	"github.com/symmrepl/symmrepl/internal/procfs"
)

// KillAfter is how long an interrupted worker may take to stop, unless Config says otherwise.
const KillAfter = 3 * time.Second

// Config says how a session is made.
type Config struct {
	Ranks   int    // processes that Launch starts; Join takes the launcher's number
	Device  string // passed to the workers: "cpu", "cuda" or "auto"
	Backend string // passed to the workers
	Hosts   Hosts  // simulated ones, of all ranks
	Network string // passed to the workers: what carries operations between hosts
	// KillAfter is how long an interrupted worker may take to stop before it is killed, or told of: see Cell.Again. Zero is the constant of that name.
	KillAfter time.Duration
	// Rendezvous is host:port of rank 0, for launchers that do not provide it. Only Join uses it.
	Rendezvous string
	// Heartbeat is how long Join takes the silence of another host for no loss; 0 is for ever. That of rank 0 counts.
	Heartbeat time.Duration
	// Notice, unless nil, is told in a sentence what Join waits for if that takes more than a moment, what rank 0 has to note of the devices, and, while no cell
	// runs, which ranks are lost.
	Notice func(string)
	// Reports is a folder for what Go's runtime reports of a worker that it ends, one file for the last of each rank. When empty, the
	// reports are shown.
	Reports string
	// Args is os.Args in cells; the name of this program when empty.
	Args []string
	// Deadlock says what is done with a wait that cannot end: DeadlockEnd, as when empty, or DeadlockWait.
	Deadlock string
	// Program, unless nil, says that the cells are a program's.
	Program *Program
}

// Program says that the cells of a session are those of one program, as `go run` would run it: it reads a standard input of its own, and a rank
// that calls os.Exit ends it. Such a rank is not replaced, and no more cells run.
type Program struct {
	// Stdin is the standard input of rank 0. Those of the other ranks are at their end, as mpirun has it.
	Stdin *os.File
	// Unattended says that nobody sees what the session says while the program runs. With one rank it then says nothing of cells that take long.
	Unattended bool
}

// Hosts divides the ranks among simulated hosts. The zero Hosts divides nothing.
type Hosts = bootstrap.Parts

// HostsVariable is the environment variable with the simulated hosts of programs and sessions that are not told otherwise.
const HostsVariable = bootstrap.PartsVariable

// ParseHeartbeat reads how long a host may be silent: see [heartbeat.Parse].
func ParseHeartbeat(text string) (time.Duration, error) { return heartbeat.Parse(text) }

// HeartbeatVariable is the environment variable with that.
const HeartbeatVariable = heartbeat.Variable

// ParseHosts reads simulated hosts: see [bootstrap.ParseParts].
func ParseHosts(text string, ranks int) (Hosts, error) { return bootstrap.ParseParts(text, ranks) }

// worker returns what a supervisor with this configuration passes to the worker of a rank.
func (c Config) worker(rank, size, localRank, localSize int, dir string) workerSpec {
	return workerSpec{Rank: rank, Size: size, LocalRank: localRank, LocalSize: localSize, Dir: dir, Device: c.Device, Backend: c.Backend, Hosts: c.Hosts.String(), Network: c.Network,
		Args: c.Args, Program: c.Program != nil}
}

// stdin is what the worker of a rank reads as its own standard input; nil is an empty one.
func (c Config) stdin(rank int) *os.File {
	if rank != 0 || c.Program == nil {
		return nil
	}
	return c.Program.Stdin
}

// Launch starts config.Ranks workers on this host and returns the session that drives them, when all of them
// are ready. The caller becomes their supervisor; its program must begin as IsWorker says. If a worker cannot
// start, the error says why, and no process is left.
func Launch(ctx context.Context, config Config) (Session, error) {
	if config.Ranks < 1 {
		return nil, fmt.Errorf("a session needs at least one rank, not %d", config.Ranks)
	}
	if err := enoughThreads(config.Ranks, procfs.ThreadLimit); err != nil {
		return nil, err
	}
	rendezvous.TakeToken() // for Join only
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
	if err == nil {
		err = c.serveFronts() // not before the ranks take cells
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
