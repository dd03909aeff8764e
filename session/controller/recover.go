package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// byRestart is the cause of the end of a worker that Restart replaces.
const byRestart = "was restarted"

// Restart implements Session. It does not wait for a running cell: it kills the workers of ranks
// that run a cell at once.
func (c *controller) Restart(ctx context.Context, ranks []int, replay bool, out func(session.Output)) error {
	if out == nil {
		out = func(session.Output) {}
	}
	ranks, err := c.meant(ranks, "")
	if err != nil {
		return err
	}
	anew := !replay && len(ranks) == c.size
	before := c.preempt(ranks, anew)
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	c.mu.Lock()
	if anew {
		c.ended = c.cells
	}
	for _, r := range ranks {
		s := c.ranks[r]
		switch {
		case s.lost:
		case s.failed != nil: // there is no worker to kill
			s.failed, s.attempts = nil, 0
			c.dirty, c.replaced = true, rankset.Union(c.replaced, []int{r})
			c.startWorker(r)
		case s.ready != nil && !s.leaving && s.incarnation == before[r]:
			c.killWorker(r, byRestart)
		}
	}
	c.mu.Unlock()
	if err := c.awaitWorkers(ctx); err != nil {
		return err
	}
	told := out
	if replay {
		told = func(o session.Output) {
			o.Text = strings.Replace(o.Text, lostThere, "", 1)
			o.Text = strings.Replace(o.Text, replayHint, "", 1)
			out(o)
		}
	}
	if err := c.repair(ctx, told); err != nil {
		return err
	}
	c.mu.Lock()
	errs := c.unavailable(ranks)
	c.mu.Unlock()
	if len(errs) > 0 {
		return errs[0]
	}
	if !replay {
		return nil
	}
	if err := c.replay(ctx, ranks, out); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range ranks {
		c.ranks[r].replaced = 0
	}
	return nil
}

// preempt kills the workers of ranks, if they run a cell. If anew is set, the restart ends the
// earlier history, and this cell is its last. preempt returns the incarnations of all workers of
// ranks before the kill.
func (c *controller) preempt(ranks []int, anew bool) map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if anew && c.run != nil {
		c.ended = c.cells
	}
	before := map[int]int{}
	for _, r := range ranks {
		s := c.ranks[r]
		before[r] = s.incarnation
		if c.run != nil && s.ready != nil && !s.leaving && c.run.on[r].TakesPart {
			c.killWorker(r, byRestart)
		}
	}
	return before
}

// replay runs the history on freshly started ranks, beginning after the last restart that ended the
// earlier history. It leaves out cells that failed or were interrupted, also in an earlier replay:
// they would fail again, or hang.
func (c *controller) replay(ctx context.Context, ranks []int, out func(session.Output)) error {
	history, err := c.History(ctx)
	if err != nil {
		return err
	}
	history = slices.DeleteFunc(history, func(cell session.Cell) bool {
		return cell.Ended || cell.Ranks != nil && len(rankset.Intersection(ranks, cell.Ranks)) == 0
	})
	if len(history) == 0 {
		out(session.Output{Stream: session.Note, Text: "nothing is replayed: no cell was entered on these ranks since they were started\n"})
	}
	var left []int
	for _, cell := range history {
		if cell.Failed != "" {
			left = append(left, cell.ID)
		}
	}
	switch {
	case len(left) == 1:
		out(session.Output{Stream: session.Note, Text: fmt.Sprintf("the replay leaves out cell %d, which failed\n", left[0])})
	case len(left) > 1:
		out(session.Output{Stream: session.Note, Text: fmt.Sprintf("the replay leaves out the cells %s, which failed\n", session.FormatRanks(left))})
	}
	c.mu.Lock()
	note := c.given.note(slices.DeleteFunc(slices.Clone(history), func(cell session.Cell) bool { return cell.Failed != "" }))
	c.mu.Unlock()
	if note != "" {
		out(session.Output{Stream: session.Note, Text: note})
	}
	for _, cell := range history {
		if slices.Contains(left, cell.ID) {
			continue
		}
		on := ranks
		if cell.Ranks != nil {
			on = rankset.Intersection(ranks, cell.Ranks)
		}
		cell.Ranks, cell.Output = on, out
		if reply := c.evaluate(ctx, cell, nil); len(reply.Errors) > 0 {
			if ctx.Err() != nil {
				c.noteFailure(cell.ID, reply.Errors[0])
			}
			err := fmt.Errorf("replay stopped at cell %d: %w", cell.ID, reply.Errors[0])
			if len(ranks) < c.size {
				err = fmt.Errorf("%w; collective calls need all ranks: restart them all to replay", err)
			}
			return err
		}
	}
	return nil
}

// lostThere ends the message about a fresh worker, unless the cells are about to run again.
const lostThere = ", variables are lost there"

// replayHint ends the message about lost variables, unless the cells cannot run again.
const replayHint = " (`:restart replay` runs the cells again)"

// replayHint returns the constant, "" if no cell can be replayed. c.mu is held.
func (c *controller) replayHint() string {
	if c.ended == c.cells {
		return ""
	}
	return replayHint
}

// repair waits until every rank has a worker and, after an abort or a death, makes all ranks
// recover together. It is cheap if no rank failed. While a rank has failed for good, the others go
// on without recovering. Lost ranks are an exception: once cells go on without them, the remaining
// ranks recover. The caller holds the turn.
func (c *controller) repair(ctx context.Context, out func(session.Output)) error {
	c.tellLost(out)
	for range recoverAttempts {
		c.mu.Lock()
		dirty := c.dirty
		c.mu.Unlock()
		if !dirty {
			return nil
		}
		if c.isOver() {
			return ErrClosed
		}
		if err := c.awaitWorkers(ctx); err != nil {
			return err
		}
		c.mu.Lock()
		missing := slices.ContainsFunc(c.ranks, func(s *rankState) bool { return s.failed != nil && !(s.lost && c.goesOn) })
		c.mu.Unlock()
		if missing || !c.recover(out) {
			return nil
		}
	}
	return errors.New("the ranks could not be brought together again; restart them")
}

// recover runs Communicator.Recover on all remaining ranks and shows the losses. If a rank fails to
// recover, recover replaces the rank and reports that recover has to be called again. If the reason
// is that another rank is lost, the next cell tries again.
func (c *controller) recover(out func(session.Output)) (again bool) {
	causes, incarnations, previousEnded := make([]string, c.size), make([]int, c.size), make([]chan struct{}, c.size)
	c.mu.Lock()
	all := c.remaining()
	replaced, hint := rankset.Intersection(c.replaced, all), c.replayHint()
	untold := rankset.Filter(replaced, func(r int) bool { return !c.ranks[r].told })
	c.dirty, c.replaced, c.unrecovered = false, nil, nil
	for r, s := range c.ranks {
		causes[r], incarnations[r], previousEnded[r] = s.cause, s.incarnation, s.previousEnded
	}
	c.mu.Unlock()
	for _, r := range all {
		if ended := previousEnded[r]; ended != nil { // the worker uses the hub
			<-ended // see serveHub
		}
	}
	c.hub.Enter(all)
	answers := c.ask(context.Background(), all, c.recoverLimit+recoverReport, func(id uint64) wire.Command {
		return wire.Command{Recover: &wire.Recovery{ID: id, Replaced: replaced, Timeout: c.recoverLimit}}
	})

	lost, fresh := map[string][]int{}, map[string][]int{}
	var silent []int
	for _, r := range all {
		a := answers[r]
		if a == nil {
			silent = append(silent, r)
			continue
		}
		for _, l := range a.Recovered.Lost {
			if !rankset.Contains(lost[l], r) { // two tensors of the same shape have the same text
				lost[l] = append(lost[l], r)
			}
		}
	}
	c.mu.Lock()
	if bereft := slices.ContainsFunc(all, func(r int) bool { return c.ranks[r].lost }); bereft && len(c.unrecovered) > 0 {
		c.dirty, c.replaced = true, rankset.Union(c.replaced, replaced)
		c.mu.Unlock()
		return false
	}
	if len(silent) == 0 && len(c.unrecovered) > 0 {
		silent = c.unrecovered[:1] // the others failed because this one did
	}
	for _, r := range silent {
		if c.ranks[r].incarnation == incarnations[r] && c.ranks[r].ready != nil {
			c.killWorker(r, "could not go on after the cell")
		}
		c.dirty, c.replaced = true, rankset.Union(c.replaced, replaced)
	}
	c.mu.Unlock()
	if len(silent) > 0 {
		return true
	}
	for _, r := range untold {
		fresh[causes[r]] = append(fresh[causes[r]], r)
	}
	for _, cause := range sortedKeys(fresh) {
		ranks := fresh[cause]
		out(session.Output{Ranks: ranks, Stream: session.Note, Text: fmt.Sprintf(
			"rank %s %s: a fresh worker took over%s%s\n", session.FormatRanks(ranks), cause, lostThere, hint)})
	}
	for _, l := range sortedKeys(lost) {
		out(session.Output{Ranks: lost[l], Stream: session.Note, Text: "lost: " + l + "\n"})
	}
	return false
}

func sortedKeys(m map[string][]int) []string { return slices.Sorted(maps.Keys(m)) }
