package console

import (
	"context"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// replaceWithin bounds how long it takes to replace workers.
const replaceWithin = 10 * time.Second

// Insistence is for the user who interrupts an entry again, because ranks have not stopped. It ends with the
// entry: what is meant for one entry is not done to the next, which has new workers on the same ranks.
type Insistence struct {
	mu     sync.Mutex
	begun  bool // something is being done
	over   bool // the entry has ended
	doings sync.WaitGroup
}

// Insist begins to do something, such as ReplaceBusy, and does not wait. It does nothing if the last call's
// is still being done, or if the entry has ended.
func (i *Insistence) Insist(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.begun || i.over {
		return
	}
	i.begun = true
	i.doings.Go(func() {
		do()
		i.mu.Lock()
		defer i.mu.Unlock()
		i.begun = false
	})
}

// End is called when the entry has ended. It returns when nothing is being done.
func (i *Insistence) End() {
	i.mu.Lock()
	i.over = true
	i.mu.Unlock()
	i.doings.Wait()
}

// ReplaceBusy replaces the workers that an interrupt has not stopped, when the user insists.
func (c *Console) ReplaceBusy(p Printer) {
	ctx, cancel := context.WithTimeout(context.Background(), replaceWithin)
	defer cancel()
	infos, err := c.Session.Ranks(ctx)
	if err != nil {
		p.Fail("the busy ranks cannot be found: %v", err)
		return
	}
	busy := busy(infos)
	if len(busy) == 0 {
		return
	}
	who := "rank " + session.FormatRanks(busy) + ", which is"
	if len(busy) > 1 {
		who = "ranks " + session.FormatRanks(busy) + ", which are"
	}
	p.Note(nil, "replacing %s still busy", who)
	if err := c.Session.Restart(ctx, busy, false, p.Output); err != nil {
		p.Fail("%v", err)
	}
}

// busy lists the ranks whose workers cannot take a cell because they run, wait or are stopped. A
// worker that only does not answer may be waiting for a processor.
func busy(infos []session.RankInfo) []int {
	var ranks []int
	for _, r := range infos {
		switch r.State {
		case "running", "waiting", "stopped":
			ranks = append(ranks, r.Rank)
		}
	}
	return ranks
}
