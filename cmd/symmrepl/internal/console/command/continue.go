package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func continueOn() console.Command {
	return console.Command{
		Name: "continue", Group: cells, Where: console.TheSession, WhileStopped: true, YieldsToAll: true,
		Help: `let ranks that stand at a breakpoint go on up to the next breakpoint`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return resume(ctx, c, session.Continue)
		},
	}
}
