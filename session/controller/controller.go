package controller

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
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Bounds of the controller's waits.
const (
	startTimeout    = 60 * time.Second // until every rank has a worker that takes cells
	recoverTimeout  = 5 * time.Second  // for Communicator.Recover on all ranks, not counting the silence of a host
	recoverReport   = 2 * time.Second  // until a rank reports that its Recover has timed out
	answerTimeout   = 5 * time.Second  // for an answer to Inspect
	startAttempts   = 3                // workers of a rank in a row that may die before they have run a cell
	recoverAttempts = 3
)

// ErrClosed is returned by calls on a session after Close.
var ErrClosed = errors.New("the session is closed")

// controller is the session itself. Only the controller knows all ranks. The fields above mu do not
// change after open; mu guards the fields below it and the values that they point to.
type controller struct {
	config     session.Config
	size       int
	hub        *bootstrap.Hub
	dir        *userdir.Dir
	spawner    *supervisor.Spawner
	startLimit time.Duration // startTimeout
	// recoverTimeout and the time that another host may be silent: until then no rank is at fault
	recoverLimit time.Duration
	front        net.Listener       // for further front ends; nil before open
	meeting      *rendezvous.Server // for supervisors in other processes; nil after Launch
	turn         chan struct{}      // full while a call runs a cell or replaces workers
	closing      sync.Once
	over         chan struct{} // closed when the session ends

	mu          sync.Mutex
	changed     chan struct{} // closed and replaced when a rank's state changes
	ranks       []*rankState
	history     history
	cells       int
	given       givenVariables
	ended       int // the last cell before a restart of all ranks without replay; 0 if there was none
	run         *run
	stop        context.CancelFunc // interrupts the cell whose turn it is; nil if there is none
	runs        uint64
	idle        *fold.Fold           // collects the output between cells
	late        func(session.Output) // takes the output between cells, unless nil
	endLate     func()               // ends late
	lateTick    bool                 // a check for late lines is scheduled
	printed     []session.Output     // output between cells that is kept for the next cell
	kept        int                  // bytes in printed
	notKept     int                  // bytes that were printed after printed was full
	dirty       bool                 // Recover is due before the next cell
	replaced    []int                // ranks that were replaced since the last Recover
	unrecovered []int                // ranks whose Recover failed, in the order of the failures
	sanitizing  session.Sanitizing   // the sanitizer's state on all ranks, once they have run their next cell
	found       session.Findings     // by the sanitizer, in cells of front ends
	untold      []int                // lost ranks that were not reported yet, ascending
	mourned     []int                // ranks whose idle workers died, which was not reported yet, ascending
	goesOn      bool                 // cells that name no ranks run on the remaining ranks: see meant
	questions   uint64
	asked       map[uint64]*asked // by the number of the question
	debug       debugging
}

// rankState is the controller's knowledge of one rank. controller.mu guards it.
type rankState struct {
	keeper         supervisor.Keeper
	incarnation    int
	deathReported  chan struct{}  // closed when the death of the current worker has been reported
	bootstrap      net.Conn       // between the hub and the newest worker
	previousEnded  chan struct{}  // closed when the hub no longer serves the previous worker
	bootstrapEnded chan struct{}  // closed when the hub no longer serves the newest worker
	ready          *wire.Ready    // nil while a worker starts
	leaving        bool           // the worker was killed and will be replaced
	busy           bool           // the worker has a cell to finish
	attempts       int            // workers in a row that died before they had run a cell
	failed         *session.Error // why there will be no worker until a restart
	lost           bool           // the supervisor is gone: there will never be a worker again
	cause          string         // why the last worker ended
	// the cell during or after which a worker that had run cells was replaced; 0 if no worker was
	// replaced, or the cells were replayed
	replaced   int
	restarted  bool               // Restart has replaced it
	told       bool               // the user has seen that the worker died
	stopped    bool               // stopped by a signal, at the last check
	rss        int64              // bytes resident, at the last check
	sanitizing session.Sanitizing // the sanitizer's state on the worker, at the end of its last cell
}

func newController(config session.Config, size int, dir *userdir.Dir) *controller {
	if config.KillAfter == 0 {
		config.KillAfter = session.KillAfter
	}
	c := &controller{
		given:  givenVariables{},
		config: config, size: size, hub: bootstrap.NewHub(size), dir: dir, spawner: supervisor.NewSpawner(), startLimit: startTimeout,
		recoverLimit: recoverTimeout,
		turn:         make(chan struct{}, 1), over: make(chan struct{}), changed: make(chan struct{}),
		ranks: make([]*rankState, size), asked: map[uint64]*asked{},
	}
	for r := range c.ranks {
		c.ranks[r] = &rankState{}
	}
	c.idle = c.newIdle()
	return c
}

// newIdle returns a fold for the output while no cell runs.
func (c *controller) newIdle() *fold.Fold {
	f := fold.New(rankset.All(c.size), fold.Age, c.keepPrinted)
	f.Between = true
	return f
}

// keeper returns the supervisor of rank.
func (c *controller) keeper(rank int) supervisor.Keeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ranks[rank].keeper
}

// tell sends a command to the supervisors of ranks, once to each host. c.mu is not held: a
// supervisor may emit events before Do returns.
func (c *controller) tell(ranks []int, cmd wire.Command, payload []byte) {
	var single []supervisor.Keeper
	var hosts []*hostKeeper
	var of [][]int
	c.mu.Lock()
	for _, r := range ranks {
		switch k := c.ranks[r].keeper.(type) {
		case *hostKeeper:
			if len(k.named) == 0 {
				hosts = append(hosts, k)
			}
			k.named = append(k.named, r)
		default:
			single = append(single, k)
		}
	}
	for _, h := range hosts {
		of = append(of, h.named)
		h.named = nil
	}
	c.mu.Unlock()
	for _, k := range single {
		k.Do(cmd, payload)
	}
	for i, h := range hosts {
		cmd.Ranks = of[i]
		h.Do(cmd, payload)
	}
}

// startWorker asks for a fresh worker. c.mu is held.
func (c *controller) startWorker(rank int) {
	n := c.ranks[rank].startNext()
	go c.tell([]int{rank}, wire.Command{Start: &wire.Start{Incarnation: n}}, nil)
}

// startNext counts a new worker and resets the state of the previous one. It returns the new
// incarnation. controller.mu is held.
func (s *rankState) startNext() int {
	s.incarnation++
	s.deathReported = make(chan struct{})
	s.ready, s.busy, s.leaving, s.stopped, s.rss, s.sanitizing = nil, false, false, false, 0, session.Sanitizing{}
	return s.incarnation
}

// killWorker ends a rank's worker; another takes its place. why completes "rank 1 …" in messages.
// c.mu is held.
func (c *controller) killWorker(rank int, why string) {
	s := c.ranks[rank]
	s.leaving, s.cause = true, why
	n := s.incarnation
	go c.tell([]int{rank}, wire.Command{Kill: n}, nil)
}

// event handles an event that ranks, ascending, report alike. Several goroutines may call it; the
// events of one rank and kind come in order.
func (c *controller) event(ranks []int, e wire.Event, payload []byte) {
	if e.Begins != 0 {
		c.begins(ranks, e)
		return
	}
	if e.Output == session.Stdout || e.Output == session.Stderr {
		c.output(ranks, e, payload)
		return
	}
	if len(ranks) > 1 && (e.Died != nil || e.Gone != "") { // the consequences of a death differ between ranks
		for _, r := range ranks {
			one := e
			if e.Died != nil {
				d := *e.Died
				one.Died = &d
			}
			c.event([]int{r}, one, payload)
		}
		return
	}
	c.mu.Lock()
	if e.Gone == "" { // leave out workers that have been replaced
		current := func(r int) bool { return e.Incarnation == c.ranks[r].incarnation && e.Incarnation != 0 }
		if ranks = rankset.Filter(ranks, current); len(ranks) == 0 {
			c.mu.Unlock()
			return
		}
	}
	run := c.run
	for _, rank := range ranks {
		c.record(rank, &e)
	}
	switch {
	case e.Ready != nil || e.Failed != nil || e.Died != nil || e.Gone != "":
		c.notify()
	case e.Status != nil:
		c.deliver(e.Status.ID, ranks, e, payload)
	case e.Answer != nil:
		c.deliver(e.Answer.ID, ranks, e, payload)
	case e.Recovered != nil:
		c.deliver(e.Recovered.ID, ranks, e, payload)
	}
	c.mu.Unlock()
	if run != nil && (e.Done != nil || e.Died != nil || e.Stopped != nil || e.Status != nil || e.Process != nil || e.Probe != 0) {
		run.event(ranks, e, payload)
	}
}

// record updates the state of one rank from an event. c.mu is held.
func (c *controller) record(rank int, e *wire.Event) {
	s := c.ranks[rank]
	switch {
	case e.Ready != nil:
		s.ready, s.failed = e.Ready, nil
	case e.Failed != nil:
		failed := *e.Failed
		failed.Ranks = []int{rank}
		s.failed = &failed
	case e.Gone != "":
		c.gone(rank, e.Gone)
		e.Died = &wire.Death{Cause: "was lost: " + e.Gone, Next: s.failed.Hint}
	case e.Died != nil:
		c.died(rank, e.Died)
	case e.Process != nil:
		s.rss, s.stopped = e.Process.RSS, e.Process.State == "T" || e.Process.State == "t"
	case e.Done != nil:
		s.busy, s.attempts = false, 0
	case e.Recovered != nil && e.Recovered.Err != "": // the ranks that wait for this one fail later
		c.hub.Leave(rank, "failed: "+e.Recovered.Err)
		c.unrecovered = append(c.unrecovered, rank)
	}
}

// begins records that the output of ranks belongs to the running cell from now on.
func (c *controller) begins(ranks []int, e wire.Event) {
	c.mu.Lock()
	r := c.run
	if r == nil || e.Begins != r.number {
		c.mu.Unlock()
		return
	}
	for _, rank := range ranks {
		r.on[rank].begun[e.Output] = true
	}
	c.mu.Unlock()
	r.before.EndStreams(ranks, time.Now(), e.Output)
}

// output passes output of ranks to the running cell, if the cell has begun on them; otherwise it
// keeps the output for the next cell. If a rank is far ahead of the others, output waits.
func (c *controller) output(ranks []int, e wire.Event, b []byte) {
	for _, wait := range c.takeOutput(ranks, e, b) {
		wait()
	}
}

// takeOutput is output without the wait. The caller calls the returned functions to wait.
func (c *controller) takeOutput(ranks []int, e wire.Event, b []byte) (waits []func()) {
	for len(ranks) > 0 {
		c.mu.Lock()
		f := c.foldOf(ranks[0], e.Output)
		alike := rankset.Filter(ranks, func(rank int) bool { return c.foldOf(rank, e.Output) == f })
		rest := rankset.Filter(ranks, func(rank int) bool { return c.foldOf(rank, e.Output) != f })
		soon := f == c.idle && c.late != nil && !c.lateTick
		c.lateTick = c.lateTick || soon
		c.mu.Unlock()
		if wait := f.Add(alike, e.Output, b, time.Now()); wait != nil {
			waits = append(waits, wait)
		}
		if soon { // no run checks the lines that wait for other ranks
			time.AfterFunc(fold.Age+fold.Tick, func() {
				c.mu.Lock()
				c.lateTick = false
				c.mu.Unlock()
				f.Tick(time.Now())
			})
		}
		ranks = rest
	}
	return waits
}

// foldOf returns the fold that takes a rank's output on a stream now. c.mu is held.
func (c *controller) foldOf(rank int, stream session.Stream) *fold.Fold {
	switch r := c.run; {
	case r == nil || !r.on[rank].TakesPart:
		return c.idle
	case r.on[rank].begun[stream]:
		return r.fold
	default:
		return r.before
	}
}

// replacedHint is the hint of an error about a worker's death, if the next worker starts.
const replacedHint = "a fresh one takes its place"

// died records the end of a worker and starts the next. c.mu is held.
func (c *controller) died(rank int, d *wire.Death) {
	s := c.ranks[rank]
	if s.leaving {
		d.Cause = s.cause
	}
	s.cause = d.Cause
	c.hub.Leave(rank, d.Cause)
	s.report()
	c.dirty = true
	if at, found := slices.BinarySearch(c.replaced, rank); !found {
		c.replaced = slices.Insert(c.replaced, at, rank)
	}
	if s.ready != nil {
		s.replaced, s.restarted, s.told = c.cells, s.leaving && s.cause == byRestart, false
		if c.run == nil && !s.leaving {
			c.mourn(rank)
		}
	}
	when := ""
	switch {
	case s.ready == nil:
		when = "before it was ready"
	case c.run == nil || !c.run.on[rank].TakesPart:
		when = "while no cell ran"
	}
	if when == "" || s.leaving {
		s.attempts = 0
	} else if s.attempts++; s.attempts == startAttempts && s.failed == nil {
		s.failed = &session.Error{Kind: session.KindDied, Ranks: []int{rank}, Peer: -1, Detail: d.Stderr,
			Msg: fmt.Sprintf("the worker %s %s, the last of %d in a row", d.Cause, when, startAttempts)}
	}
	s.ready = nil
	if c.ends(d) && when == "" && !s.leaving && s.failed == nil {
		s.failed = &session.Error{Kind: session.KindDied, Ranks: []int{rank}, Peer: -1, Msg: "the program " + d.Cause}
	}
	switch {
	case c.isOver():
	case s.failed != nil:
		d.Next = "no other took its place; `:restart` tries again"
	default:
		d.Next = replacedHint
		c.startWorker(rank)
	}
}

// ends reports whether this end of a rank's worker also ends the program that runs, if one does.
func (c *controller) ends(d *wire.Death) bool { return c.config.Program != nil && d.Exited }

func (c *controller) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// gone records that a rank has lost its supervisor, for good. c.mu is held.
func (c *controller) gone(rank int, why string) {
	s := c.ranks[rank]
	s.ready, s.lost = nil, true
	s.failed = &session.Error{Kind: session.KindDied, Ranks: []int{rank}, Peer: -1, Msg: why, Hint: "start the session again"}
	if c.isOver() {
		c.hub.Leave(rank, why)
	} else {
		c.hub.Lose(rank, why)
	}
	s.report()
	if s.bootstrap != nil {
		go s.bootstrap.Close() // closing may block, because the other end may be gone
	}
	if !c.isOver() {
		c.lose(rank, why)
	}
}

// report records that the death of the current worker has been reported. controller.mu is held.
func (s *rankState) report() {
	if s.deathReported != nil {
		close(s.deathReported)
		s.deathReported = nil
	}
}

// notify wakes all goroutines that wait for a change. c.mu is held.
func (c *controller) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// awaitWorkers returns when every rank has a worker that takes cells or has failed for good. If a
// worker takes longer than startLimit to start, awaitWorkers returns an error and replaces the
// worker, so that the next call may succeed.
func (c *controller) awaitWorkers(ctx context.Context) error {
	late := time.After(c.startLimit)
	first := map[int]int{} // each rank's incarnation at the beginning
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
			return fmt.Errorf("rank %s has not started: %w", session.FormatRanks(starting), ctx.Err())
		case <-late:
			c.mu.Lock()
			for _, r := range starting {
				if s := c.ranks[r]; s.ready == nil && s.failed == nil && s.incarnation == first[r] {
					c.killWorker(r, "did not start")
				}
			}
			c.mu.Unlock()
			return fmt.Errorf("rank %s did not start within %v; try again", session.FormatRanks(starting), c.startLimit)
		}
	}
}

// acquire waits for the turn to run a cell or to replace workers. Callers get their turns in the
// order of their calls; release gives the turn back.
func (c *controller) acquire(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
	case <-c.over:
		return ErrClosed
	case <-ctx.Done():
		if other := c.runningCell(); other != "" {
			return fmt.Errorf("interrupted while it waited for %s, which another front end has entered: `:stop` interrupts that one", other)
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

// chosen returns the ranks that a caller has named, ascending and without repetitions; nil names
// all.
func (c *controller) chosen(ranks []int) ([]int, error) {
	if ranks == nil {
		return rankset.All(c.size), nil
	}
	list := rankset.Union(ranks, nil)
	if len(list) == 0 || list[0] < 0 || list[len(list)-1] >= c.size {
		return nil, fmt.Errorf("ranks %v: ranks are 0 to %d", ranks, c.size-1)
	}
	return list, nil
}

// unavailable returns an error for each of ranks that has no worker. c.mu is held.
func (c *controller) unavailable(ranks []int) (errs []*session.Error) {
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
			errs = append(errs, &session.Error{Kind: session.KindDied, Ranks: []int{r}, Peer: -1,
				Msg: fmt.Sprintf("rank %d has just died (its worker %s) and starts anew", r, s.cause), Hint: "try again in a moment"})
		}
	}
	return errs
}

// History implements Session.
func (c *controller) History(context.Context) ([]session.Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cells := c.history.cells()
	for i := range cells[:c.ended] {
		cells[i].Ended = true
	}
	return cells, nil
}

// Close implements Session. It interrupts a cell that runs by ending its workers.
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
		closed := map[supervisor.Keeper]bool{} // the keeper of a host is closed once
		for _, s := range c.ranks {
			if s.keeper != nil && !closed[s.keeper] {
				closed[s.keeper] = true
				wg.Go(s.keeper.Close)
			}
		}
		c.mu.Unlock()
		wg.Wait()
		c.spawner.Close()
		c.dir.Remove()
		if c.meeting != nil {
			userdir.Sweep() // removes the folders of hosts that were killed on this machine
		}
	})
	return nil
}

// reachable lists the ranks that have a worker, or will have one: all but the ranks that the
// session has given up.
func (c *controller) reachable() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return rankset.Filter(rankset.All(c.size), func(rank int) bool { return c.ranks[rank].failed == nil })
}
