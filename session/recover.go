package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// settle gives every rank a worker and brings their symmetric memory back in order after an abort or a death.
// It is cheap when nothing has happened. While a rank is without a worker for good, the others go on as they
// are. The turn is held.
func (c *controller) settle(ctx context.Context, out func(Output)) error {
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
		if err := c.await(ctx); err != nil {
			return err
		}
		c.mu.Lock()
		missing := slices.ContainsFunc(c.ranks, func(s *rankState) bool { return s.failed != nil })
		c.mu.Unlock()
		if missing || !c.recover(out) {
			return nil
		}
	}
	return errors.New("the ranks could not be brought together again; restart them")
}

// recover runs Communicator.Recover on all ranks. If that fails, the rank to blame is replaced, and it has to run
// again.
func (c *controller) recover(out func(Output)) (again bool) {
	all := allRanks(c.size)
	causes, incarnations, alone := make([]string, c.size), make([]int, c.size), make([]chan struct{}, c.size)
	c.mu.Lock()
	replaced := c.replaced
	c.dirty, c.replaced, c.unrecovered = false, nil, nil
	for r, s := range c.ranks {
		causes[r], incarnations[r], alone[r] = s.cause, s.incarnation, s.alone
	}
	c.mu.Unlock()
	for _, only := range alone {
		<-only // or the end of a connection before it would be taken for that of the worker
	}
	c.hub.Enter(all)
	answers := c.ask(context.Background(), all, recoverTimeout+recoverReport, func(id uint64) command {
		return command{Recover: &recovery{id, replaced}}
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
			if !slices.Contains(lost[l], r) { // two tensors of one shape read alike
				lost[l] = append(lost[l], r)
			}
		}
	}
	c.mu.Lock()
	if len(silent) == 0 && len(c.unrecovered) > 0 {
		silent = c.unrecovered[:1] // the others failed because it did
	}
	for _, r := range silent {
		if c.ranks[r].incarnation == incarnations[r] && c.ranks[r].ready != nil {
			c.killLocked(r, "could not go on after the cell")
		}
		c.dirty, c.replaced = true, union(c.replaced, replaced)
	}
	c.mu.Unlock()
	if len(silent) > 0 {
		return true
	}
	for _, r := range replaced {
		fresh[causes[r]] = append(fresh[causes[r]], r)
	}
	for _, cause := range sortedKeys(fresh) {
		ranks := fresh[cause]
		out(Output{Ranks: ranks, Stream: Note, Text: fmt.Sprintf(
			"rank %s %s: a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)\n", FormatRanks(ranks), cause)})
	}
	for _, l := range sortedKeys(lost) {
		out(Output{Ranks: lost[l], Stream: Note, Text: "lost: " + l + "\n"})
	}
	return false
}

func sortedKeys(m map[string][]int) []string { return slices.Sorted(maps.Keys(m)) }
