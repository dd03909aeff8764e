package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/script"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/session"
)

var _ console.InPlacePrinter = (*render.Printer)(nil)

// interactive runs symmrepl without a subcommand: one cell, a prompt, or entries from a pipe.
func interactive(ctx context.Context, o options) (int, error) {
	if o.hasCode {
		o.program = newProgram()
	}
	o.prompt = !o.hasCode && term.Interactive()
	return withSession(ctx, o, func(s *opened) (int, error) {
		if o.hasCode {
			return s.program(ctx, o, s.request(o.code), (*console.Console).Notebook)
		}
		return front(ctx, o, s)
	})
}

// front runs the entries of first, and then the user's entries from a prompt or a pipe.
func front(ctx context.Context, o options, s *opened, first ...string) (int, error) {
	c, r := s.console(), s.request("")
	if o.sanitize {
		if err := s.sanitize(ctx, o, c, r.Printer); err != nil {
			return statusOK, err
		}
	}
	switch {
	case term.Interactive():
		if err := s.greet(ctx, r.Printer); err != nil {
			return statusOK, err
		}
		for _, entry := range first {
			r.Source, r.Columns = entry, term.Columns()
			c.Run(ctx, r)
		}
		return statusOK, term.Run(ctx, c, r, term.Options{Colour: colour(), Ends: !s.attached})
	case s.launched:
		return s.headless(ctx)
	}
	for _, entry := range first {
		r.Source = entry
		if outcome := c.Run(ctx, r); outcome != console.Done {
			return programStatus(c, outcome), nil
		}
	}
	outcome, err := script.Pipe(ctx, c, r, os.Stdin)
	return programStatus(c, outcome), err
}

// greet prints the size and the devices of the session.
func (s *opened) greet(ctx context.Context, p console.Printer) error {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	hosts := map[string]bool{}
	for _, r := range infos {
		hosts[r.Host] = true
	}
	where := ""
	if len(hosts) > 1 {
		where = fmt.Sprintf(" on %d hosts", len(hosts))
	}
	hello := fmt.Sprintf("%s%s, %s. :help lists the commands, Ctrl-D leaves.", session.FormatSize(s.size), where, infos[0].Device)
	p.Print(render.Fit(hello, term.Columns()))
	return nil
}

// headless keeps a session without a terminal alive for attached front ends, until ctx is done, or
// the launcher is gone without having ended its processes, as after it was killed.
func (s *opened) headless(ctx context.Context) (int, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	if s.tended {
		defer leaveWithParent(leave)()
	}
	fmt.Fprintln(os.Stderr, "symmrepl: there is no terminal here; `symmrepl attach` on this host gives a prompt")
	<-ctx.Done()
	return statusOK, nil
}
