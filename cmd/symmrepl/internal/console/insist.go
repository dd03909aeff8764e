package console

import (
	"context"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// replaceWithin bounds how long it takes to replace workers.
const replaceWithin = 10 * time.Second

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
