package command

import (
	"context"
	"errors"

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
			if c.Console.Stop() != nil {
				return resume(ctx, c, session.Continue)
			}
			answers, err := c.Console.Session.Inspect(ctx, []int{0}, session.Query{Topic: session.TopicGoOn})
			switch {
			case err != nil:
				return c.Fail(err)
			case len(answers) == 1 && answers[0].Err != nil:
				return c.Fail(errors.New(answers[0].Err.Msg))
			case len(answers) == 1 && answers[0].Text != "":
				c.Print(answers[0].Text)
				return console.Done
			}
			return resume(ctx, c, session.Continue)
		},
	}
}
