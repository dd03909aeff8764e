package command

import (
	"context"
	"errors"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/command/tour"
	"github.com/symmrepl/symmrepl/session"
)

func restart(t *tour.Tour) console.Command {
	return console.Command{
		Name: "restart", Args: "[RANKS] [replay]", Group: devices, Where: console.AllRanks,
		Help: `replace worker processes by fresh ones
":restart" replaces all workers, ":restart 2" only rank 2. Their variables are lost, and their symmetric tensors are lost
for all ranks. With "replay" the cells then run again on the fresh workers, in order, except cells that failed or were
interrupted, and cells before an earlier ":restart" of all ranks. In a notebook, ":restart -n 8"
starts a new session with 8 ranks; it also takes --hosts, --net, --device and --backend, as the command line does, and is a
cell of its own.`,
		Complete: func(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
			return c.CompleteRanks(arg, "all", "replay")
		},
		Run: func(ctx context.Context, c *console.Call) console.Outcome { return runRestart(ctx, c, t) },
	}
}

func runRestart(ctx context.Context, c *console.Call, t *tour.Tour) console.Outcome {
	list, replay := strings.CutSuffix(c.Arg, "replay")
	var ranks []int
	if list = strings.TrimSpace(list); list != "" {
		var err error
		if strings.HasPrefix(list, "-") {
			return c.Fail(errors.New(anotherSession(c.Request.Notebook)))
		}
		if ranks, err = c.Console.Ranks(list); err != nil {
			return c.Fail(err)
		}
	}
	err := c.Console.Session.Restart(ctx, ranks, replay, c.Request.Printer.Output)
	c.Request.Printer.CloseLine()
	if err != nil {
		return c.Fail(err)
	}
	if !replay && (ranks == nil || len(ranks) == c.Console.Size) {
		c.Console.SetFolder("")
	}
	if !replay {
		t.Restarted(c)
	}
	return console.Done
}

// anotherSession returns the hint for a session with other flags.
func anotherSession(notebook bool) string {
	if notebook {
		return "with flags it starts another session, and is a cell of its own: move the lines below it to the next cell"
	}
	return "the number of ranks of a session is chosen when it starts, by symmrepl -n; a notebook starts another session"
}
