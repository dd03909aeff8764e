package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func caps() console.Command {
	return console.Command{
		Name: "caps", Group: devices, Where: console.TargetRanks, WhileStopped: true,
		Help: `show the features of the device and the back end`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return showText(ctx, c, session.Query{Topic: session.TopicCaps})
		},
	}
}
