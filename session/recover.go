package session

import (
	"context"
	"errors"
	"fmt"
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

func sortedKeys(m map[string][]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
