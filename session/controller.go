package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// Bounds of what the controller waits for.
const (
	startTimeout    = 60 * time.Second // until every rank has a worker that takes cells
	recoverTimeout  = 5 * time.Second  // for Communicator.Recover on all ranks
	recoverReport   = 2 * time.Second  // for a rank whose Recover has timed out to say so
	answerTimeout   = 5 * time.Second  // for an answer to Inspect
	killAfter       = 3 * time.Second
	startAttempts   = 3 // workers in a row that may die without having run a cell
	recoverAttempts = 3
)

// ErrClosed is returned by calls on a session after Close.
var ErrClosed = errors.New("the session is closed")

// keeper is a rank's supervisor as the controller sees it: in this process, or at the other end of a
// connection.
type keeper interface {
	do(command, []byte) // failures show as events
	close()             // ends the worker and returns when nothing of it is left
}

// controller is the session itself. It is the only one that knows all ranks. The fields above mu do not change after open; mu guards those
// below it, and what they point to.
type controller struct {
	config  Config
	size    int
	hub     *bootstrap.Hub
	dir     *userdir.Dir
	spawner *spawner
	within  time.Duration      // startTimeout
	front   net.Listener       // for further front ends; nil before open
	meeting *rendezvous.Server // for supervisors in other processes; nil after Launch
	turn    chan struct{}      // held by whoever runs a cell or changes the world
	closing sync.Once
	over    chan struct{} // closed when the session ends

	mu          sync.Mutex
	changed     chan struct{} // closed and made anew when a rank's state changes
	ranks       []*rankState
	history     []Cell
	failures    map[int]string // why cells of the history failed
	cells       int
	run         *run
	runs        uint64
	idle        *fold    // collects what is printed between cells
	printed     []Output // by idle
	dirty       bool     // Recover is due before the next cell
	replaced    []int    // since the last Recover
	unrecovered []int    // whose Recover failed, in that order
	questions   uint64
	answers     map[uint64]chan *answer
}

// rankState is what the controller knows of one rank. controller.mu guards it.
type rankState struct {
	keeper      keeper
	incarnation int
	reported    chan struct{} // closed when the death of the current worker is
	bootstrap   net.Conn      // of the newest worker
	alone       chan struct{} // closed when that of the worker before is not used any more
	served      chan struct{} // closed when it is not used any more itself
	ready       *readyEvent   // nil while a worker starts
	leaving     bool          // it was told to die, and will be replaced
	busy        bool          // the worker has a cell to finish
	attempts    int           // workers in a row that died without having run a cell
	failed      *Error        // why there will be no worker until a restart
	lost        bool          // its supervisor is: there will be no worker any more
	cause       string        // why the last worker ended
	stopped     bool          // by a signal, when last looked at
	rss         int64         // bytes, likewise
}

func newController(config Config, size int, dir *userdir.Dir) *controller {
	if config.KillAfter == 0 {
		config.KillAfter = killAfter
	}
	c := &controller{
		config: config, size: size, hub: bootstrap.NewHub(size), dir: dir, spawner: newSpawner(), within: startTimeout,
		turn: make(chan struct{}, 1), over: make(chan struct{}), changed: make(chan struct{}),
		ranks: make([]*rankState, size), answers: map[uint64]chan *answer{}, failures: map[int]string{},
	}
	for r := range c.ranks {
		c.ranks[r] = &rankState{}
	}
	c.idle = newFold(allRanks(size), foldAge, c.keepPrinted())
	return c
}

// keeper returns the supervisor of rank.
func (c *controller) keeper(rank int) keeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ranks[rank].keeper
}

// tell gives a command to the supervisor of rank. c.mu is not held: the supervisor may emit events before do returns.
func (c *controller) tell(rank int, cmd command, payload []byte) {
	c.keeper(rank).do(cmd, payload)
}

// startLocked asks for a fresh worker. c.mu is held.
func (c *controller) startLocked(rank int) {
	s := c.ranks[rank]
	s.incarnation++
	s.reported = make(chan struct{})
	s.ready, s.busy, s.leaving, s.stopped, s.rss = nil, false, false, false, 0
	k, n := s.keeper, s.incarnation
	go k.do(command{Start: &startCommand{n}}, nil)
}

// killLocked ends a rank's worker; another takes its place. why says so to the user. c.mu is held.
func (c *controller) killLocked(rank int, why string) {
	s := c.ranks[rank]
	s.leaving, s.cause = true, why
	go s.keeper.do(command{Kill: s.incarnation}, nil)
}

// event takes in what a rank says. It may be called from several goroutines, in order for each rank and kind.
func (c *controller) event(rank int, e event, payload []byte) {
	if e.Output == Stdout || e.Output == Stderr {
		c.output(rank, e, payload)
		return
	}
	c.mu.Lock()
	s := c.ranks[rank]
	if e.Gone == "" && (e.Incarnation != s.incarnation || s.incarnation == 0) {
		c.mu.Unlock()
		return // of a worker that is not there any more
	}
	run := c.run
	switch {
	case e.Ready != nil:
		s.ready, s.failed = e.Ready, nil
		c.notify()
	case e.Failed != nil:
		s.failed = e.Failed
		s.failed.Ranks = []int{rank}
		c.notify()
	case e.Died != nil:
		c.died(rank, e.Died)
	case e.Gone != "":
		c.gone(rank, e.Gone)
		e.Died = &deathEvent{Cause: e.Gone}
	case e.Process != nil:
		s.rss, s.stopped = e.Process.RSS, e.Process.State == "T" || e.Process.State == "t"
	case e.Status != nil:
		c.deliver(e.Status.ID, e, payload)
	case e.Done != nil:
		s.busy, s.attempts = false, 0
	case e.Answer != nil:
		c.deliver(e.Answer.ID, e, payload)
	case e.Recovered != nil:
		if e.Recovered.Err != "" { // those who wait for it are to fail too, and after it
			c.hub.Leave(rank, "failed: "+e.Recovered.Err)
			c.unrecovered = append(c.unrecovered, rank)
		}
		c.deliver(e.Recovered.ID, e, payload)
	}
	c.mu.Unlock()
	if run != nil && (e.Done != nil || e.Died != nil || e.Status != nil || e.Process != nil || e.Probe != 0) {
		run.event(rank, e, payload)
	}
}

// output gives what a rank printed to the cell that runs, or keeps it for the next one.
func (c *controller) output(rank int, e event, b []byte) {
	c.mu.Lock()
	f := c.idle
	if c.run != nil && slices.Contains(c.run.ranks, rank) {
		f = c.run.fold
	}
	c.mu.Unlock()
	f.write(rank, e.Output, b, time.Now())
}

// died notes the end of a worker and asks for the next. c.mu is held.
func (c *controller) died(rank int, d *deathEvent) {
	s := c.ranks[rank]
	if s.leaving {
		d.Cause = s.cause
	}
	s.cause = d.Cause
	c.hub.Leave(rank, d.Cause)
	s.report()
	c.dirty = true
	if !slices.Contains(c.replaced, rank) {
		c.replaced = append(c.replaced, rank)
		slices.Sort(c.replaced)
	}
	when := ""
	switch {
	case s.ready == nil:
		when = "before it was ready"
	case c.run == nil || !slices.Contains(c.run.ranks, rank):
		when = "while no cell ran"
	}
	if when == "" || s.leaving {
		s.attempts = 0
	} else if s.attempts++; s.attempts == startAttempts && s.failed == nil {
		s.failed = &Error{Kind: KindDied, Ranks: []int{rank}, Peer: -1, Detail: d.Stderr,
			Msg: fmt.Sprintf("the worker %s %s, the last of %d in a row", d.Cause, when, startAttempts)}
	}
	s.ready = nil
	if s.failed == nil && !c.isOver() {
		c.startLocked(rank)
	}
	c.notify()
}

func (c *controller) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// gone notes that a rank's supervisor is lost, for good. c.mu is held.
func (c *controller) gone(rank int, why string) {
	s := c.ranks[rank]
	s.ready, s.lost = nil, true
	s.failed = &Error{Kind: KindDied, Ranks: []int{rank}, Peer: -1, Msg: why, Hint: "start the session again"}
	c.hub.Leave(rank, why)
	s.report()
	c.notify()
}

// report says that the end of the current worker is known. controller.mu is held.
func (s *rankState) report() {
	if s.reported != nil {
		close(s.reported)
		s.reported = nil
	}
}

// notify wakes whoever waits for a change. c.mu is held.
func (c *controller) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns when every rank has a worker that takes cells, or none to come. A worker that takes too long
// to start is replaced, for the next who waits.
func (c *controller) await(ctx context.Context) error {
	late := time.After(c.within)
	first := map[int]int{} // the incarnations that were there at the beginning
	for {
		c.mu.Lock()
		var starting []int
		for r, s := range c.ranks {
			if (s.ready == nil || s.leaving) && s.failed == nil {
				starting = append(starting, r)
			}
			if first[r] == 0 {
				first[r] = s.incarnation
			}
		}
		changed := c.changed
		c.mu.Unlock()
		if len(starting) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-c.over:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("rank %s has not started: %w", FormatRanks(starting), ctx.Err())
		case <-late:
			c.mu.Lock()
			for _, r := range starting {
				if s := c.ranks[r]; s.ready == nil && s.failed == nil && s.incarnation == first[r] {
					c.killLocked(r, "did not start")
				}
			}
			c.mu.Unlock()
			return fmt.Errorf("rank %s did not start within %v; try again", FormatRanks(starting), c.within)
		}
	}
}

// acquire waits for the turn to change the world; turns are given in the order in which they were asked for.
func (c *controller) acquire(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
	case <-c.over:
		return ErrClosed
	case <-ctx.Done():
		if other := c.runningCell(); other != "" {
			return fmt.Errorf("interrupted while it waited for %s, which another front end has entered", other)
		}
		return errors.New("interrupted before it began")
	}
	if c.isOver() {
		<-c.turn
		return ErrClosed
	}
	return nil
}

func (c *controller) release() { <-c.turn }

// absent says why some of ranks take no commands. c.mu is held.
func (c *controller) absent(ranks []int) (errs []*Error) {
	for _, r := range ranks {
		s := c.ranks[r]
		switch {
		case s.failed != nil:
			e := *s.failed
			e.Ranks, e.Msg = []int{r}, fmt.Sprintf("rank %d has no worker: %s", r, s.failed.Msg)
			if e.Hint == "" {
				e.Hint = "`:restart` tries again"
			}
			errs = append(errs, &e)
		case s.ready == nil:
			errs = append(errs, &Error{Kind: KindDied, Ranks: []int{r}, Peer: -1, Msg: fmt.Sprintf("rank %d has just died (its worker %s) and starts anew", r, s.cause), Hint: "try again in a moment"})
		}
	}
	return errs
}

// History implements Session.
func (c *controller) History(context.Context) ([]Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cells := slices.Clone(c.history)
	for i := range cells {
		cells[i].Failed = c.failures[cells[i].ID]
	}
	return cells, nil
}

// Close implements Session. A cell that runs is interrupted by the end of its workers.
func (c *controller) Close() error {
	c.closing.Do(func() {
		close(c.over)
		if c.front != nil {
			c.front.Close()
		}
		if c.meeting != nil {
			c.meeting.Close()
		}
		var wg sync.WaitGroup
		c.mu.Lock()
		for _, s := range c.ranks {
			if s.keeper != nil {
				wg.Go(s.keeper.close)
			}
		}
		c.mu.Unlock()
		wg.Wait()
		c.spawner.close()
		c.dir.Remove()
	})
	return nil
}
