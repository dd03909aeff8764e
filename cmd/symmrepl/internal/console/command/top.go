package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func top() console.Command {
	return console.Command{
		Name: "top", Group: devices, Where: console.TargetRanks, WhileStopped: true,
		Help: `show memory and utilisation of every rank's device`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return showText(ctx, c, session.Query{Topic: session.TopicTop})
		},
	}
}
