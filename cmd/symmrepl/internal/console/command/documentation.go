package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func documentation() console.Command {
	return console.Command{
		Name: "doc", Args: "NAME", Group: looking, Where: console.TargetRanks,
		Help: `show the documentation of a package, of what it exports, or of what a cell defined
Names are such as symm, symm.Empty, strings.Builder.Len, math/rand/v2, x or x.Fill for a variable x, and :on for a command.
The packages need not be imported. What a cell defined is shown with the comment above it.`,
		Complete: completeGo,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			if console.IsCommand(c.Arg) {
				return describe(c, c.Arg)
			}
			return showText(ctx, c, session.Query{Topic: session.TopicDoc, Arg: c.Arg})
		},
	}
}
