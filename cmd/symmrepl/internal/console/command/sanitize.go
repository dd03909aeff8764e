package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func sanitize() console.Command {
	return console.Command{
		Name: "sanitize", Args: "[on|off|[N] CODE]", Yields: true, Group: cells, Where: console.AllRanks,
		Help: `find accesses out of bounds, races and orders that are too weak
With "on" kernels of all cells that follow are watched, with "off" no longer; code is one cell that is watched. Before it may stand a number: the cell is then run
so many times, each time in another order of threads, blocks and ranks. Without anything the command says what was found so far. docs/checker.md explains the reports.`,
		TakesCode: true,
		Run:       runSanitize,
	}
}

func runSanitize(ctx context.Context, c *console.Call) console.Outcome {
	on, seed := c.Console.Sanitized()
	switch arg := strings.TrimSpace(c.Arg); arg {
	case "":
		c.Print(sanitizerState(on, len(c.Console.Findings())))
		return console.Done
	case "on", "off":
		if err := c.Console.Sanitize(ctx, arg == "on", seed); err != nil {
			return c.Fail(err)
		}
		if arg == "on" {
			c.Console.NoteUnwatched(c.Request.Printer)
		}
		return console.Done
	}
	times, code := repeated(c.Arg)
	if err := c.Console.Sanitize(ctx, true, seed); err != nil {
		return c.Fail(err)
	}
	c.Console.NoteUnwatched(c.Request.Printer)
	before := len(c.Console.Findings())
	outcome := c.Console.Schedules(ctx, times, c.Request, false, func(r console.Request) console.Outcome {
		call := *c
		call.Request = r
		return console.OutcomeOf(call.Cell(ctx, session.Cell{Source: code}))
	})
	if len(c.Console.Findings()) == before && outcome == console.Done {
		c.Note("nothing was found")
	}
	if !on {
		if err := c.Console.Sanitize(ctx, false, seed); err != nil {
			return c.Fail(err)
		}
	}
	return outcome
}

// repeated cuts a number of times off the beginning of code.
func repeated(arg string) (times int, code string) {
	number, code, ok := strings.Cut(strings.TrimSpace(arg), " ")
	if n, err := strconv.Atoi(number); ok && err == nil && n > 0 {
		return n, code
	}
	return 1, arg
}

func sanitizerState(on bool, found int) string {
	state := "off"
	if on {
		state = "on"
	}
	switch found {
	case 0:
		return fmt.Sprintf("the sanitizer is %s; nothing was found\n", state)
	case 1:
		return fmt.Sprintf("the sanitizer is %s; 1 finding\n", state)
	}
	return fmt.Sprintf("the sanitizer is %s; %d findings\n", state, found)
}
