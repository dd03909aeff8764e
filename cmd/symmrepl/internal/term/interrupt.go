package term

import (
	"context"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// interrupter turns Ctrl-C into an interrupt of the entry that runs, and another one into the replacement of the
// ranks that are still busy.
type interrupter struct {
	session session.Session
	printer console.Printer
	cancel  context.CancelFunc

	mu      sync.Mutex
	pressed bool
}

// press is Ctrl-C. It does not wait.
func (i *interrupter) press() {
	i.mu.Lock()
	again := i.pressed
	i.pressed = true
	i.mu.Unlock()
	if again {
		go i.replaceBusy()
		return
	}
	i.printer.CloseLine()
	i.printer.Note(nil, "^C interrupting; Ctrl-C again replaces the ranks that stay busy")
	i.cancel()
}

func (i *interrupter) replaceBusy() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	infos, err := i.session.Ranks(ctx)
	if err != nil {
		i.printer.Fail("the busy ranks cannot be found: %v", err)
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
	i.printer.Note(nil, "replacing %s still busy", who)
	if err := i.session.Restart(ctx, busy, false, i.printer.Output); err != nil {
		i.printer.Fail("%v", err)
	}
}

// busy lists the ranks whose worker is not ready for a cell: it runs, waits or is stopped. A worker that merely does not answer
// may be waiting for a processor.
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
