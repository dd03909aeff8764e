package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func step() console.Command {
	return console.Command{
		Name: "step", Args: "[in|out]", Group: cells, Where: console.TheSession, WhileStopped: true, YieldsToAll: true,
		Help: `let ranks that stand at a breakpoint go on up to the next statement
They pass over calls; "in" stops in functions that are called, "out" after the return of the function.`,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			how, ok := map[string]session.Resume{"": session.StepOver, "in": session.StepIn, "out": session.StepOut}[c.Arg]
			if !ok {
				return c.Fail(fmt.Errorf("%q is neither in nor out", c.Arg))
			}
			return resume(ctx, c, how)
		},
	}
}

// resume lets the ranks that stand go on.
func resume(ctx context.Context, c *console.Call, how session.Resume) console.Outcome {
	d := c.Console.OpenDebugger()
	if d == nil {
		return c.Fail(errors.New("no rank stands at a breakpoint; `:break LINE` sets one"))
	}
	if err := d.Resume(ctx, how); err != nil {
		return c.Fail(err)
	}
	return console.Done
}
