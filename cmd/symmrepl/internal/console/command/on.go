package command

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func on() console.Command {
	return console.Command{
		Name: "on", Args: "[RANKS [CODE]]", Group: cells, Where: console.TargetRanks,
		Help: `choose the ranks that cells run on
":on 0,2 CODE" runs one cell on ranks 0 and 2. ":on 0,2" or ":on 0-2" does so for every cell that follows, and for the
commands that look at ranks; ":on all" goes back to all ranks, ":on" shows the choice. A cell that begins with the line
"%%rank [0,2]" runs on those ranks too. A collective operation needs all ranks of its group: on fewer it fails at once.`,
		TakesCode: true, CodeAfter: 1,
		Complete: func(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
			return c.CompleteRanks(arg, "all")
		},
		Run: runOn,
	}
}

func runOn(ctx context.Context, c *console.Call) console.Outcome {
	words := strings.Fields(c.Arg)
	if len(words) == 0 {
		if ranks := c.Console.Target(); ranks == nil {
			c.Print("cells run on all ranks")
		} else {
			c.Print("cells run on ranks " + session.FormatRanks(ranks))
		}
		return console.Done
	}
	ranks, err := c.Console.Ranks(words[0])
	if err != nil {
		return c.Fail(err)
	}
	if source, ok := c.Code(); ok {
		return console.OutcomeOf(c.Cell(ctx, session.Cell{Source: source, Ranks: ranks}))
	}
	if len(ranks) == c.Console.Size {
		ranks = nil
	}
	c.Console.SetTarget(ranks)
	return console.Done
}
