package console

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/session"
)

// sanitizing is whether cells are watched, and what was found. Console.mu guards it.
type sanitizing struct {
	on    bool
	said  bool  // what is not watched
	seed  int64 // of the order in which cells run now
	found session.Findings
}

// Sanitize has cells watched from now on, in the order of a seed, or no longer. It is an error where the devices cannot be.
func (c *Console) Sanitize(ctx context.Context, on bool, seed int64) error {
	c.mu.Lock()
	was := c.sanitizing.on
	c.mu.Unlock()
	if was || on {
		if errs := c.tellSanitizer(ctx, on, seed); len(errs) > 0 {
			return errs[0]
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sanitizing.on, c.sanitizing.seed = on, seed
	return nil
}

// NoteUnwatched prints, once, what the sanitizer does not watch here.
func (c *Console) NoteUnwatched(p Printer) {
	c.mu.Lock()
	said := c.sanitizing.said
	c.sanitizing.said = true
	c.mu.Unlock()
	if c.Unwatched != "" && !said {
		p.Note(nil, "%s", c.Unwatched)
	}
}

// tellSanitizer calls symm.Sanitize on all ranks.
func (c *Console) tellSanitizer(ctx context.Context, on bool, seed int64) []*session.Error {
	return c.Session.Eval(ctx, session.Cell{Name: "sanitize", Silent: true, Source: fmt.Sprintf("symm.Sanitize(%t, %d)", on, seed)}).Errors
}

// Sanitized reports whether cells are watched, and the seed of their order.
func (c *Console) Sanitized() (on bool, seed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sanitizing.on, c.sanitizing.seed
}

// Findings returns all that was found since the session began, each finding once.
func (c *Console) Findings() []session.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sanitizing.found.List()
}

// Wrong reports whether anything was found that no comment allows.
func (c *Console) Wrong() bool {
	for _, f := range c.Findings() {
		if f.Allowed == "" {
			return true
		}
	}
	return false
}

// watched evaluates a cell. While cells are watched, it tells all ranks so before, as some may have been replaced; of the findings only those that are new are left.
func (c *Console) watched(ctx context.Context, r Request, cell session.Cell) session.Reply {
	on, seed := c.Sanitized()
	if on && cell.Ranks == nil {
		if errs := c.tellSanitizer(ctx, true, seed); len(errs) > 0 {
			return session.Reply{Errors: errs}
		}
	}
	reply := c.eval(ctx, r, cell)
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh session.Findings
	for _, f := range reply.Findings {
		if c.sanitizing.found.Add(f) {
			fresh.Add(f)
		}
	}
	reply.Findings = fresh.List()
	return reply
}

// Schedules runs what run does under n orders, with the seed of now and those after it, each but the first with fresh workers where restart says so. Of all but the first
// it shows only findings that are new, and errors.
func (c *Console) Schedules(ctx context.Context, n int, r Request, restart bool, run func(Request) Outcome) Outcome {
	outcome := run(r)
	_, first := c.Sanitized()
	for k := 1; k < n && outcome != Quit && ctx.Err() == nil; k++ {
		seed := first + int64(k)
		if restart {
			if err := c.Session.Restart(ctx, nil, false, nil); err != nil {
				r.Printer.Fail("%v", err)
				return Failed
			}
		}
		if err := c.Sanitize(ctx, true, seed); err != nil {
			r.Printer.Fail("%v", err)
			return Failed
		}
		quiet := r
		quiet.Printer, quiet.Silent = &quietPrinter{Printer: r.Printer, seed: seed}, true
		if run(quiet) == Failed {
			outcome = Failed
		}
	}
	if n > 1 {
		c.mu.Lock()
		c.sanitizing.seed = first
		c.mu.Unlock()
	}
	return outcome
}

// quietPrinter shows of cells only what they do wrong.
type quietPrinter struct {
	Printer
	seed int64
	said bool
}

func (p *quietPrinter) Output(session.Output)      {}
func (p *quietPrinter) Print(string)               {}
func (p *quietPrinter) Note([]int, string, ...any) {}
func (p *quietPrinter) Reply(r session.Reply) {
	r.Values = nil
	if len(r.Errors) > 0 && !p.said {
		p.said = true
		p.Printer.Note(nil, "in the order of seed %d:", p.seed)
	}
	p.Printer.Reply(r)
}
