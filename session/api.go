package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Eval implements Session.
func (c *controller) Eval(ctx context.Context, cell Cell) Reply {
	waits := c.sayLate(cell)
	err := c.acquire(ctx)
	waits()
	if err != nil {
		return Reply{Errors: []*Error{waitError(ctx, err)}}
	}
	defer c.release()
	c.mu.Lock()
	cell.ID = c.cells + 1
	if !cell.Silent {
		c.cells++
		record := cell
		record.Output, record.Input = nil, nil
		c.history = append(c.history, record)
	}
	c.mu.Unlock()
	reply := c.evaluate(ctx, cell)
	if !cell.Silent && len(reply.Errors) > 0 {
		c.mu.Lock()
		c.failures[cell.ID] = firstLine(reply.Errors[0].Error())
		c.mu.Unlock()
	}
	return reply
}

// sayLate tells the user of a cell, if it has to wait long for its turn, for what. When the function that it returns has returned, nothing more is
// said.
func (c *controller) sayLate(cell Cell) (done func()) {
	if cell.Output == nil {
		return func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(hangAfter, func() {
		defer close(said)
		if other := c.runningCell(); other != "" {
			text := fmt.Sprintf("this cell waits for %s, which another front end has entered (%s gives up)\n", other, cmp.Or(cell.Stop, "Ctrl-C"))
			cell.Output(Output{Stream: Note, Text: text})
		}
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

// runningCell is what remarks call the cell that runs, "" if none does.
func (c *controller) runningCell() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		return ""
	}
	return c.run.cell.title()
}

// waitError is why a cell did not run that had to wait first.
func waitError(ctx context.Context, err error) *Error {
	e := asError(err)
	if ctx.Err() != nil {
		e.Kind = KindInterrupted
	}
	return e
}

// Inspect implements Session.
func (c *controller) Inspect(ctx context.Context, ranks []int, q Query) ([]Answer, error) {
	if ranks == nil {
		ranks = allRanks(c.size)
	}
	ranks = union(ranks, nil)
	if len(ranks) == 0 || ranks[0] < 0 || ranks[len(ranks)-1] >= c.size {
		return nil, fmt.Errorf("ranks %v: ranks are 0 to %d", ranks, c.size-1)
	}
	c.mu.Lock()
	errs := c.absent(ranks)
	c.mu.Unlock()
	alive := ranks
	var list []Answer
	for _, e := range errs {
		list = append(list, Answer{Rank: e.Ranks[0], Err: e})
		alive = difference(alive, e.Ranks)
	}
	answers := c.ask(ctx, alive, answerTimeout, func(id uint64) command {
		return command{Inspect: &question{id, q}}
	})
	for _, r := range alive {
		a := answers[r]
		switch {
		case a == nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case a == nil:
			list = append(list, Answer{Rank: r, Err: &Error{Kind: KindSystem, Ranks: []int{r}, Peer: -1, Msg: "the worker does not answer", Hint: "`:ranks` shows what it does"}})
		case a.Answer.Err != nil:
			a.Answer.Err.Ranks = []int{r}
			list = append(list, Answer{Rank: r, Err: a.Answer.Err})
		default:
			list = append(list, decodeAnswer(r, a.payload))
		}
	}
	slices.SortFunc(list, func(a, b Answer) int { return a.Rank - b.Rank })
	return list, nil
}

// decodeAnswer returns the answer of a rank that a worker sent as payload.
func decodeAnswer(rank int, payload []byte) Answer {
	var a Answer
	if err := json.Unmarshal(payload, &a); err != nil {
		a = Answer{Err: &Error{Kind: KindSystem, Ranks: []int{rank}, Peer: -1, Msg: err.Error()}}
	}
	a.Rank = rank
	return a
}

// statusTimeout is how long Ranks waits for a worker to say what it does. Of one that says nothing it tells whether that has a cell to finish.
const statusTimeout = 300 * time.Millisecond

// Ranks implements Session.
func (c *controller) Ranks(ctx context.Context) ([]RankInfo, error) {
	answers := c.ask(ctx, allRanks(c.size), statusTimeout, func(id uint64) command { return command{Status: id} })
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]RankInfo, c.size)
	for r, s := range c.ranks {
		info := RankInfo{Rank: r, Incarnation: s.incarnation, RSS: s.rss, State: "starting"}
		if s.ready != nil {
			info.Host, info.PID, info.Device = s.ready.Host, s.ready.PID, s.ready.Device
			info.State = "idle"
		}
		a := answers[r]
		switch {
		case s.failed != nil:
			info.State, info.Doing = "dead", s.failed.Msg
		case s.ready == nil:
		case s.stopped:
			info.State, info.Doing = "stopped", "does not answer: its process is stopped (SIGCONT continues it)"
		case a == nil:
			info.Doing = "does not answer"
			if s.busy {
				info.State = "running"
			}
		case len(a.Status.Waits) > 0:
			info.State, info.Doing = "waiting", describeWaits(a.Status.Waits)
		case a.Status.Run != 0:
			info.State = "running"
		}
		list[r] = info
	}
	return list, nil
}

// Restart implements Session. A cell that runs does not hold it up: on ranks that are in one the workers are
// killed at once.
func (c *controller) Restart(ctx context.Context, ranks []int, replay bool, out func(Output)) error {
	if out == nil {
		out = func(Output) {}
	}
	if ranks == nil {
		ranks = allRanks(c.size)
	}
	ranks = union(ranks, nil)
	if len(ranks) == 0 || ranks[0] < 0 || ranks[len(ranks)-1] >= c.size {
		return fmt.Errorf("ranks %v: ranks are 0 to %d", ranks, c.size-1)
	}
	before := c.preempt(ranks)
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	c.mu.Lock()
	for _, r := range ranks {
		s := c.ranks[r]
		switch {
		case s.lost:
		case s.failed != nil: // there is no worker whose death would call for another
			s.failed, s.attempts = nil, 0
			c.dirty, c.replaced = true, union(c.replaced, []int{r})
			c.startLocked(r)
		case s.ready != nil && !s.leaving && s.incarnation == before[r]:
			c.killLocked(r, "was restarted")
		}
	}
	history := slices.Clone(c.history)
	c.mu.Unlock()
	if err := c.await(ctx); err != nil {
		return err
	}
	if err := c.settle(ctx, out); err != nil {
		return err
	}
	c.mu.Lock()
	errs := c.absent(ranks)
	c.mu.Unlock()
	if len(errs) > 0 {
		return errs[0]
	}
	if !replay {
		return nil
	}
	return c.replay(ctx, ranks, history, out)
}

// preempt kills those workers of ranks that are in a cell. It returns the incarnation of every rank's worker,
// by which to tell those that were there before.
func (c *controller) preempt(ranks []int) map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := map[int]int{}
	for _, r := range ranks {
		s := c.ranks[r]
		before[r] = s.incarnation
		if c.run != nil && s.ready != nil && !s.leaving && slices.Contains(c.run.ranks, r) {
			c.killLocked(r, "was restarted")
		}
	}
	return before
}

// replay runs the history on ranks that have just been started. Cells that failed at first may fail again.
func (c *controller) replay(ctx context.Context, ranks []int, history []Cell, out func(Output)) error {
	for _, cell := range history {
		on := ranks
		if cell.Ranks != nil {
			on = intersection(ranks, cell.Ranks)
		}
		if len(on) == 0 {
			continue
		}
		cell.Ranks, cell.Output = on, out
		reply := c.evaluate(ctx, cell)
		c.mu.Lock()
		_, failed := c.failures[cell.ID]
		c.mu.Unlock()
		if len(reply.Errors) > 0 && (!failed || ctx.Err() != nil) {
			e := reply.Errors[0]
			err := fmt.Errorf("replay stopped at cell %d: %w", cell.ID, e)
			if len(ranks) < c.size {
				err = fmt.Errorf("%w; collective calls need all ranks: restart them all to replay", err)
			}
			return err
		}
	}
	return nil
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
