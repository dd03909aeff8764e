package command

import (
	"context"
	"fmt"
	"go/parser"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

func sanitize() console.Command {
	return console.Command{
		Name: "sanitize", Args: "[on|off|list|[N] CODE]", Yields: true, Group: cells, Where: console.AllRanks,
		Help: `find accesses out of bounds, races and orders that are too weak
"on" watches the kernels of all later cells, "off" ends that. With code, the command runs the code as one watched cell;
":sanitize 20 code" runs it 20 times, each time with another order of threads, blocks and ranks. A finding that was reported
before is repeated in one line; "list" shows the whole reports of all findings in the session, and "list --json" shows them as
JSON. Without an argument the command shows whether kernels are watched, and the number of findings. docs/checker.md explains the reports.`,
		TakesCode: true, CodeIn: sanitizedCode,
		Run: runSanitize,
	}
}

const listJSON = "list --json"

// sanitizedCode returns the code in the command's argument, unless the argument is a word of the
// command.
func sanitizedCode(arg string) (code string, ok bool) {
	switch strings.TrimSpace(arg) {
	case "on", "off", "list", listJSON:
		return "", false
	}
	_, code = repeated(arg)
	return code, true
}

func runSanitize(ctx context.Context, c *console.Call) console.Outcome {
	before, err := c.Console.Session.Sanitizer(ctx)
	if err != nil {
		return c.Fail(err)
	}
	watch := session.Sanitizing{On: true, Seed: before.Seed}
	switch strings.TrimSpace(c.Arg) {
	case "":
		c.Print(sanitizerState(before))
		return console.Done
	case "list":
		if len(before.Findings) == 0 {
			c.Note("nothing was found")
		}
		return c.Reply(session.Reply{Findings: before.Findings})
	case listJSON:
		c.Print(render.FindingsJSON(before.Findings))
		return console.Done
	case "on":
		return switchSanitizer(ctx, c, watch)
	case "off":
		return switchSanitizer(ctx, c, session.Sanitizing{})
	}
	times, code := repeated(c.Arg)
	if outcome := switchSanitizer(ctx, c, watch); outcome != console.Done {
		return outcome
	}
	outcome, found := c.Console.Schedules(ctx, times, watch.Seed, c.Request, false, func(r console.Request) console.Outcome {
		call := *c
		call.Request = r
		return console.OutcomeOf(call.Cell(ctx, session.Cell{Source: code}))
	})
	if found == 0 && outcome == console.Done {
		c.Note("nothing was found")
	}
	if ended := switchSanitizer(context.WithoutCancel(ctx), c, before.Sanitizing); ended != console.Done {
		return ended
	}
	return outcome
}

// switchSanitizer switches watching kernels on or off.
func switchSanitizer(ctx context.Context, c *console.Call, s session.Sanitizing) console.Outcome {
	if err := c.Console.Sanitize(ctx, c.Request.Printer, s); err != nil {
		return c.Fail(err)
	}
	if s.On {
		c.Console.NoteUnwatched(c.Request.Printer)
	}
	return console.Done
}

// repeated cuts a number of repetitions off the beginning of code. A number that begins an
// expression, as in 40 + rank, is none.
func repeated(arg string) (times int, code string) {
	trimmed := strings.TrimSpace(arg)
	end := strings.IndexAny(trimmed, " \t\r\n")
	if end < 0 {
		return 1, arg
	}
	n, err := strconv.Atoi(trimmed[:end])
	line, _, _ := strings.Cut(trimmed, "\n")
	if _, whole := parser.ParseExpr(line); err != nil || n < 1 || whole == nil && len(line) > end {
		return 1, arg
	}
	return n, console.Following(trimmed[end:])
}

func sanitizerState(s session.Sanitizer) string {
	state := "off"
	if s.On {
		state = "on"
	}
	switch len(s.Findings) {
	case 0:
		return fmt.Sprintf("the sanitizer is %s; nothing was found\n", state)
	}
	return fmt.Sprintf("the sanitizer is %s; %s\n", state, count.Of(len(s.Findings), "finding"))
}
