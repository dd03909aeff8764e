package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func quit() console.Command {
	return console.Command{
		Name: "quit", Group: program, Where: console.Here,
		Help: `leave; so does Ctrl-D at an empty prompt`,
		Run:  func(context.Context, *console.Call) console.Outcome { return console.Quit },
	}
}
