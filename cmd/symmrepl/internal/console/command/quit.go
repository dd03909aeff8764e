package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func quit() console.Command {
	return console.Command{
		Name: "quit", Insists: true, Group: program, Where: console.Here, WhileStopped: true,
		Help: `leave
At an empty prompt, Ctrl-D leaves, too.
If symmetric tensors would be lost with the session, the prompt says so first, and leaves when it is told again. ":quit!"
leaves at once.`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			if c.Arg == "" && c.Request.Leave != nil && !c.Request.Leave(ctx) {
				return console.Done
			}
			return console.Quit
		},
	}
}
