package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem/bootstrap"
)

// Config says how a session is made.
type Config struct {
	Ranks   int    // processes to start; of Launch only, under a launcher it is the world's size
	Device  string // passed to the workers: "cpu", "cuda" or "auto"
	Backend string // passed to the workers
	// KillAfter is how long an interrupted worker may take to stop before it is killed; 3 s when zero.
	KillAfter time.Duration
	// Rendezvous is host:port of rank 0, for launchers that do not say; of Join only.
	Rendezvous string
}

// Bounds of what the controller waits for.
const (
	startTimeout    = 60 * time.Second // until every rank has a worker that takes cells
	recoverTimeout  = 10 * time.Second // for Fabric.Recover on all ranks
	answerTimeout   = 5 * time.Second  // for an answer to Inspect
	killAfter       = 3 * time.Second
	startAttempts   = 2 // workers in a row that may die before they take cells
	recoverAttempts = 3
)

// ErrClosed is returned by calls on a session after Close.
var ErrClosed = errors.New("the session is closed")

// keeper is a rank's supervisor as the controller sees it: in this process, or at the other end of a connection.
type keeper interface {
	do(command, []byte) // failures show as events
	close()             // ends the worker and returns when nothing of it is left
}

// controller is the session itself. It is the only one that knows all ranks.
type controller struct {
	config  Config
	size    int
	hub     *bootstrap.Hub
	dir     *sessionDir
	spawner *spawner
	front   net.Listener  // for further front ends
	turn    chan struct{} // held by whoever runs a cell or changes the world
	closing sync.Once
	over    chan struct{} // closed when the session ends

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew when a rank's state changes
	ranks     []*rankState
	history   []Cell
	cells     int
	run       *run
	runs      uint64
	idle      *fold    // collects what is printed between cells
	printed   []Output // by idle
	dirty     bool     // Recover is due before the next cell
	replaced  []int    // since the last Recover
	questions uint64
	answers   map[uint64]chan *answer
}

// rankState is what the controller knows of one rank. controller.mu guards it.
type rankState struct {
	keeper      keeper
	incarnation int
	reported    chan struct{} // closed when the death of the current worker is
	ready       *readyEvent   // nil while a worker starts
	leaving     bool          // it was told to die, and will be replaced
	attempts    int           // workers in a row that never got ready
	failed      *Error        // why there will be no worker until a restart
	cause       string        // why the last worker ended
	doing       string        // what it waits for, when last asked
	stopped     bool
	rss         int64
}

func newController(config Config, size int, dir *sessionDir) *controller {
	if config.KillAfter == 0 {
		config.KillAfter = killAfter
	}
	c := &controller{
		config: config, size: size, hub: bootstrap.NewHub(size), dir: dir, spawner: newSpawner(),
		turn: make(chan struct{}, 1), over: make(chan struct{}), changed: make(chan struct{}),
		ranks: make([]*rankState, size), answers: map[uint64]chan *answer{},
	}
	for r := range c.ranks {
		c.ranks[r] = &rankState{}
	}
	c.idle = newFold(allRanks(size), c.keepPrinted())
	return c
}

// addLocal makes this process the supervisor of rank.
func (c *controller) addLocal(rank, localRank int) {
	s := &supervisor{
		spec:    workerSpec{Rank: rank, Size: c.size, LocalRank: localRank, Dir: c.dir.path, Device: c.config.Device, Backend: c.config.Backend},
		spawner: c.spawner,
		boot:    c.bootstrapper(rank),
		emit:    func(e event, payload []byte) { c.event(rank, e, payload) },
	}
	c.mu.Lock()
	c.ranks[rank].keeper = s
	c.mu.Unlock()
}

// bootstrapper returns a function that connects successive workers of a local rank with the hub.
func (c *controller) bootstrapper(rank int) func() (*os.File, error) {
	var served chan struct{}
	var previous net.Conn
	return func() (*os.File, error) {
		if previous != nil {
			previous.Close()
			<-served // or its end would be taken for that of the next
		}
		mine, theirs, err := socketPair()
		if err != nil {
			return nil, err
		}
		previous, served = mine, make(chan struct{})
		go func(done chan struct{}) {
			defer close(done)
			c.serveBootstrap(rank, mine)
		}(served)
		return theirs, nil
	}
}

// serveBootstrap connects a rank's worker with the hub until it ends.
func (c *controller) serveBootstrap(rank int, conn net.Conn) {
	defer conn.Close()
	c.mu.Lock()
	reported := c.ranks[rank].reported
	c.mu.Unlock()
	c.hub.Serve(rank, patientConn{conn, reported})
}

// patientConn holds back the end of a worker's connection until its death is reported: that names the cause.
type patientConn struct {
	net.Conn
	reported <-chan struct{}
}

const patience = 250 * time.Millisecond

func (p patientConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err != nil {
		select {
		case <-p.reported:
		case <-time.After(patience):
		}
	}
	return n, err
}

// begin starts a worker on every rank and waits until all take cells.
func (c *controller) begin(ctx context.Context) error {
	c.mu.Lock()
	for r := range c.ranks {
		c.startLocked(r)
	}
	c.mu.Unlock()
	if err := c.await(ctx); err != nil {
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
	return errors.Join(errs...)
}

// startLocked asks for a fresh worker. c.mu is held.
func (c *controller) startLocked(rank int) {
	s := c.ranks[rank]
	s.incarnation++
	s.reported = make(chan struct{})
	s.ready, s.leaving, s.stopped, s.rss = nil, false, false, 0
	k, n := s.keeper, s.incarnation
	go k.do(command{Start: &startCommand{n}}, nil)
}

// killLocked ends a rank's worker; another takes its place. why says so to the user. c.mu is held.
func (c *controller) killLocked(rank int, why string) {
	s := c.ranks[rank]
	s.leaving, s.cause = true, why
	go s.keeper.do(command{Kill: true}, nil)
}

// event takes in what a rank says. It may be called from several goroutines, in order for each rank and kind.
func (c *controller) event(rank int, e event, payload []byte) {
	if e.Output != 0 {
		c.output(rank, e, payload)
		return
	}
	c.mu.Lock()
	s := c.ranks[rank]
	if e.Incarnation != s.incarnation && e.Gone == "" {
		c.mu.Unlock()
		return // of a worker that is not there any more
	}
	run := c.run
	switch {
	case e.Ready != nil:
		s.ready, s.attempts, s.failed = e.Ready, 0, nil
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
	case e.Answer != nil:
		c.deliver(e.Answer.ID, e, payload)
	case e.Recovered != nil:
		c.deliver(e.Recovered.ID, e, payload)
	}
	c.mu.Unlock()
	if run != nil && (e.Done != nil || e.Died != nil || e.Status != nil || e.Process != nil) {
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
	if !s.leaving {
		s.cause = d.Cause
	}
	c.hub.Leave(rank, d.Cause)
	close(s.reported)
	c.dirty = true
	if !slices.Contains(c.replaced, rank) {
		c.replaced = append(c.replaced, rank)
		slices.Sort(c.replaced)
	}
	if s.ready == nil {
		s.attempts++
		if s.failed == nil && s.attempts >= startAttempts {
			s.failed = &Error{Kind: KindDied, Ranks: []int{rank}, Peer: -1, Msg: "the worker " + d.Cause + " before it was ready", Detail: d.Stderr}
		}
	}
	select {
	case <-c.over:
		return
	default:
	}
	if s.failed == nil {
		c.startLocked(rank)
	}
	c.notify()
}

// gone notes that a rank's supervisor is lost, for good. c.mu is held.
func (c *controller) gone(rank int, why string) {
	s := c.ranks[rank]
	s.ready = nil
	s.failed = &Error{Kind: KindDied, Ranks: []int{rank}, Peer: -1, Msg: why, Hint: "start the session again"}
	c.hub.Leave(rank, why)
	c.notify()
}

// notify wakes whoever waits for a change. c.mu is held.
func (c *controller) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns when every rank has a worker that takes cells, or none to come.
func (c *controller) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c.mu.Lock()
		var starting []int
		for r, s := range c.ranks {
			if (s.ready == nil || s.leaving) && s.failed == nil {
				starting = append(starting, r)
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
			return fmt.Errorf("rank %s did not start: %w", FormatRanks(starting), ctx.Err())
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
		return ctx.Err()
	}
	select {
	case <-c.over:
		<-c.turn
		return ErrClosed
	default:
		return nil
	}
}

func (c *controller) release() { <-c.turn }

// unasked is the number of a question whose answers only the running cell wants.
const unasked = 1<<64 - 1

// answer is an event that somebody asked for, with its payload.
type answer struct {
	event
	payload []byte
}

// ask sends a command to each of ranks and returns what they answer; nothing for a rank that died or let the time pass.
func (c *controller) ask(ctx context.Context, ranks []int, timeout time.Duration, question func(id uint64) command) map[int]*answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ids, channels := map[int]uint64{}, map[int]chan *answer{}
	c.mu.Lock()
	for _, r := range ranks {
		c.questions++
		ids[r], channels[r] = c.questions, make(chan *answer, 1)
		c.answers[c.questions] = channels[r]
	}
	c.mu.Unlock()
	for r, id := range ids {
		c.ranks[r].keeper.do(question(id), nil)
	}
	answers := map[int]*answer{}
	for r, ch := range channels {
		if a := c.receive(ctx, r, ch); a != nil {
			answers[r] = a
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.answers, id)
	}
	return answers
}

// receive waits for an answer for as long as the rank's worker lives.
func (c *controller) receive(ctx context.Context, rank int, ch chan *answer) *answer {
	c.mu.Lock()
	incarnation := c.ranks[rank].incarnation
	c.mu.Unlock()
	for {
		c.mu.Lock()
		s := c.ranks[rank]
		alive, changed := s.incarnation == incarnation && s.ready != nil, c.changed
		c.mu.Unlock()
		if !alive {
			return nil
		}
		select {
		case a := <-ch:
			return a
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// deliver hands an answer to whoever asked. c.mu is held.
func (c *controller) deliver(id uint64, e event, payload []byte) {
	if ch := c.answers[id]; ch != nil {
		delete(c.answers, id)
		ch <- &answer{e, payload}
	}
}

// settle gives every rank a worker and brings their symmetric memory back in order after an abort or a death. It
// is cheap when nothing has happened. The turn is held.
func (c *controller) settle(ctx context.Context, out func(Output)) error {
	for attempt := 0; ; attempt++ {
		c.mu.Lock()
		dirty := c.dirty
		c.mu.Unlock()
		if !dirty {
			return nil
		}
		if err := c.await(ctx); err != nil {
			return err
		}
		again, err := c.recover(ctx, out)
		if err != nil || !again {
			return err
		}
		if attempt == recoverAttempts {
			return errors.New("the ranks could not be brought together again; restart them")
		}
	}
}

// recover runs Fabric.Recover on all ranks. Those that fail are replaced, and it has to run again.
func (c *controller) recover(ctx context.Context, out func(Output)) (again bool, err error) {
	c.mu.Lock()
	replaced := c.replaced
	c.dirty, c.replaced = false, nil
	var alive []int
	causes := map[int]string{}
	for r, s := range c.ranks {
		if s.failed == nil {
			alive = append(alive, r)
		}
		causes[r] = s.cause
	}
	c.mu.Unlock()
	c.hub.Enter(alive)
	answers := c.ask(context.WithoutCancel(ctx), alive, recoverTimeout, func(id uint64) command {
		return command{Recover: &recovery{id, replaced}}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := map[string][]int{}
	for _, r := range alive {
		a := answers[r]
		switch {
		case a == nil && c.ranks[r].ready != nil:
			c.killLocked(r, "did not come back from the cell before")
			again = true
		case a == nil:
			again = true
		case a.Recovered.Err != "":
			err = errors.Join(err, fmt.Errorf("rank %d: %s", r, a.Recovered.Err))
		default:
			for _, l := range a.Recovered.Lost {
				lost[l] = append(lost[l], r)
			}
		}
	}
	if again || err != nil {
		c.dirty, c.replaced = true, union(c.replaced, replaced)
	}
	if again {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	fresh := map[string][]int{}
	for _, r := range replaced {
		if c.ranks[r].failed == nil {
			fresh[causes[r]] = append(fresh[causes[r]], r)
		}
	}
	for _, cause := range sortedKeys(fresh) {
		out(Output{Ranks: fresh[cause], Stream: Note, Text: fmt.Sprintf(
			"rank %s %s: a fresh worker took over, variables are lost there (`:restart` replays the history)\n", FormatRanks(fresh[cause]), cause)})
	}
	for _, l := range sortedKeys(lost) {
		out(Output{Ranks: lost[l], Stream: Note, Text: l + "\n"})
	}
	return false, nil
}

// alive returns those of ranks that take commands, and the errors of the others.
func (c *controller) alive(ranks []int) (alive []int, errs []*Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range ranks {
		s := c.ranks[r]
		switch {
		case s.failed != nil:
			e := *s.failed
			e.Msg = fmt.Sprintf("rank %d has no worker: %s", r, strings.TrimSuffix(e.Msg, "."))
			if e.Hint == "" {
				e.Hint = "`:restart` tries again"
			}
			e.Ranks = []int{r}
			errs = append(errs, &e)
		case s.ready == nil:
			errs = append(errs, &Error{Kind: KindDied, Ranks: []int{r}, Peer: -1, Msg: fmt.Sprintf("rank %d is still starting", r), Hint: "try again in a moment"})
		default:
			alive = append(alive, r)
		}
	}
	return alive, errs
}

// union merges two ascending lists.
func union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func sortedKeys(m map[string][]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
