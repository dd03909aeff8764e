package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func continueOn() console.Command {
	return console.Command{
		Name: "continue", Group: cells, Where: console.TheSession, WhileStopped: true, YieldsToAll: true,
		Help: `let ranks that stand at a breakpoint go on up to the next breakpoint
In a session that is attached to a program of symmrepl torchrun, and in which no rank stands, the ranks of the program go
on that stand in symmrepl.torch.breakpoint(). The prompt says when they stand again.`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			if c.Console.Lender == nil || c.Console.Stop() != nil {
				return resume(ctx, c, session.Continue)
			}
			if err := c.Console.Lender.Continue(ctx); err != nil {
				return c.Fail(err)
			}
			return console.Done
		},
	}
}
