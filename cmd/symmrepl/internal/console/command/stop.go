package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func stop() console.Command {
	return console.Command{
		Name: "stop", Yields: true, Group: cells, Where: console.TheSession, WhileStopped: true,
		Help: `interrupt the cell that runs, whichever prompt, notebook or program has entered it
Ctrl-C interrupts a prompt's own cell. A program that uses the session, as by symmrepl mcp, shows its cells at the
prompt that has started the session.`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			cell, err := c.Console.Session.Interrupt(ctx)
			switch {
			case err != nil:
				return c.Fail(err)
			case cell == "":
				c.Print("no cell runs")
			default:
				c.Print(cell + " is interrupted")
			}
			return console.Done
		},
	}
}
