package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// runCells evaluates the cells of a request.
type runCells func(*console.Console, context.Context, console.Request) console.Outcome

// program runs the cells of a script or of -e by calling run, and returns the exit status. With
// --sanitize the cells are watched, in as many orders as --schedules says, each with fresh workers,
// so that every order begins with the same state.
func (s *opened) program(ctx context.Context, o options, r console.Request, run runCells) (int, error) {
	ctx, stop := o.limited(ctx)
	defer stop()
	c := s.console()
	if !o.sanitize {
		return programStatus(c, run(c, ctx, r)), nil
	}
	if o.json { // only findings go to standard output
		r.Printer = render.New(os.Stderr, os.Stderr, s.size, false)
	}
	if err := s.sanitize(ctx, o, c, r.Printer); err != nil {
		return statusOK, err
	}
	outcome, _ := c.Schedules(ctx, o.schedules, o.seed, r, true, func(r console.Request) console.Outcome { return run(c, ctx, r) })
	found := c.Findings()
	if o.json {
		fmt.Fprint(stdout, render.FindingsJSON(found))
	}
	r.Printer.Note(nil, "%s", summary(len(found), o.schedules))
	return programStatus(c, outcome), nil
}

// newProgram returns the settings of a session whose cells are a program.
func newProgram() *session.Program {
	return &session.Program{Stdin: os.Stdin, Unattended: !render.IsTerminal(os.Stderr)}
}

// programStatus returns the exit status of a program: its own, if it ended itself, else the status
// of the outcome. A finding of the sanitizer turns success into failure.
func programStatus(c *console.Console, outcome console.Outcome) int {
	own, exited := c.Exited()
	if !exited && outcome == console.Failed || own == statusOK && c.Wrong() {
		return statusFailed
	}
	return own
}

// limited returns a context for cells that ends after the time of --timeout.
func (o options) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, o.timeout, session.Limit(o.timeout))
}
