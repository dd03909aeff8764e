package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

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
		if !c.recover(out) {
			return nil
		}
		if attempt == recoverAttempts {
			return errors.New("the ranks could not be brought together again; restart them")
		}
	}
}

// recover runs Fabric.Recover on all ranks. If that fails, the rank to blame is replaced, and it has to run again.
func (c *controller) recover(out func(Output)) (again bool) {
	c.mu.Lock()
	replaced := c.replaced
	c.dirty, c.replaced, c.unrecovered = false, nil, nil
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
	answers := c.ask(context.Background(), alive, recoverTimeout+recoverReport, func(id uint64) command {
		return command{Recover: &recovery{id, replaced}}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := map[string][]int{}
	var silent []int
	for _, r := range alive {
		if a := answers[r]; a == nil {
			silent = append(silent, r)
		} else {
			for _, l := range a.Recovered.Lost {
				lost[l] = append(lost[l], r)
			}
		}
	}
	if len(silent) > 0 || len(c.unrecovered) > 0 {
		if len(silent) == 0 {
			silent = c.unrecovered[:1] // the others failed because it did
		}
		for _, r := range silent {
			if c.ranks[r].ready != nil {
				c.killLocked(r, "could not go on after the cell")
			}
		}
		c.dirty, c.replaced = true, union(c.replaced, replaced)
		return true
	}
	fresh := map[string][]int{}
	for _, r := range replaced {
		if c.ranks[r].failed == nil {
			fresh[causes[r]] = append(fresh[causes[r]], r)
		}
	}
	for _, cause := range sortedKeys(fresh) {
		ranks := fresh[cause]
		out(Output{Ranks: ranks, Stream: Note, Text: fmt.Sprintf(
			"rank %s %s: a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)\n", FormatRanks(ranks), cause)})
	}
	for _, l := range sortedKeys(lost) {
		out(Output{Ranks: lost[l], Stream: Note, Text: l + "\n"})
	}
	return false
}

func sortedKeys(m map[string][]int) []string { return slices.Sorted(maps.Keys(m)) }
