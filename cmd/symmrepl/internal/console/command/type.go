package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func typeOf() console.Command {
	return console.Command{
		Name: "type", Args: "EXPRESSION", Group: looking, Where: console.TargetRanks, WhileStopped: true,
		Help: `show the type of an expression, without evaluating it
A type is shown with its methods, a package with its import path.`,
		Complete: completeGo,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return showText(ctx, c, session.Query{Topic: session.TopicType, Arg: c.Arg})
		},
	}
}
