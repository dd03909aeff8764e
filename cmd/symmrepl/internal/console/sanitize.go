package console

import (
	"context"

	"github.com/symmrepl/symmrepl/session"
)

// sanitizing holds the sanitizer's findings in the cells of a console.
type sanitizing struct {
	said  bool             // NoteUnwatched has printed its note
	found session.Findings // findings that were shown
	run   *watchedRun      // nil outside of a run; it belongs to the current request
}

// watchedRun is a unit in which each finding is shown once: a cell, the cells of a file, or all
// orders in which such cells run.
type watchedRun struct {
	found session.Findings
	cells []int // the numbers of the cells of the first order
	later bool  // the cells run again, in another order
	next  int   // then the index in cells of the next one
}

// beginRun begins a run, which may be part of another, and returns the function that ends it.
func (c *Console) beginRun() (end func()) {
	outer := c.sanitizing.run
	c.sanitizing.run = &watchedRun{}
	return func() { c.sanitizing.run = outer }
}

// Sanitize switches watching the kernels of all ranks on or off. It fails if the devices cannot
// watch.
func (c *Console) Sanitize(ctx context.Context, p Printer, s session.Sanitizing) error {
	if errs := c.Session.Eval(ctx, session.Cell{Name: "sanitize", Silent: true, Sanitize: &s, Borrows: c.Borrows, Output: p.Output}).Errors; len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// NoteUnwatched prints, once, the note about accesses that the sanitizer does not watch on these
// devices.
func (c *Console) NoteUnwatched(p Printer) {
	c.mu.Lock()
	said := c.sanitizing.said
	c.sanitizing.said = true
	c.mu.Unlock()
	if c.Unwatched != "" && !said {
		p.Note(nil, "%s", c.Unwatched)
	}
}

// Findings returns all findings in cells of this console, each once.
func (c *Console) Findings() []session.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sanitizing.found.List()
}

// Wrong reports whether there is a finding that no comment allows.
func (c *Console) Wrong() bool {
	for _, f := range c.Findings() {
		if f.Allowed == "" {
			return true
		}
	}
	return false
}

// watched evaluates a cell. It keeps the findings that are new in their run, and marks the findings
// that an earlier run has shown.
func (c *Console) watched(ctx context.Context, r Request, cell session.Cell) session.Reply {
	if c.sanitizing.run == nil {
		defer c.beginRun()()
	}
	run := c.sanitizing.run
	if run.later && run.next < len(run.cells) {
		cell.ID = run.cells[run.next]
		run.next++
	}
	reply := c.eval(ctx, r, cell)
	if !run.later {
		run.cells = append(run.cells, reply.Cell)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []session.Finding
	for _, f := range reply.Findings {
		if !run.found.Add(f) {
			continue
		}
		if shown, again := c.sanitizing.found.Get(f); again {
			f.Again = shown.Name
		}
		c.sanitizing.found.Add(f)
		fresh = append(fresh, f)
	}
	reply.Findings = fresh
	return reply
}

// Schedules calls run n times, each time with another order of threads, blocks and ranks: first
// with the current seed, then with the following seeds. If restart is set, each call but the first
// has fresh workers. After the first call it shows only new findings and errors. It also returns
// the number of findings.
func (c *Console) Schedules(ctx context.Context, n int, seed int64, r Request, restart bool,
	run func(Request) Outcome) (outcome Outcome, found int) {
	defer c.beginRun()()
	orders := c.sanitizing.run
	outcome = run(r)
	for k := 1; k < n && outcome != Quit && ctx.Err() == nil; k++ {
		seed++
		if err := c.nextOrder(ctx, r.Printer, seed, restart); err != nil {
			r.Printer.Fail("%v", err)
			outcome = Failed
			break
		}
		orders.later, orders.next = true, 0
		quiet := r
		quiet.Printer, quiet.Silent = &quietPrinter{Printer: r.Printer, seed: seed}, true
		if run(quiet) == Failed {
			outcome = Failed
		}
	}
	return outcome, len(orders.found.List())
}

// nextOrder makes the next cells run in the order of a seed.
func (c *Console) nextOrder(ctx context.Context, p Printer, seed int64, restart bool) error {
	if restart {
		if err := c.Session.Restart(ctx, nil, false, nil); err != nil {
			return err
		}
	}
	return c.Sanitize(ctx, p, session.Sanitizing{On: true, Seed: seed})
}

// quietPrinter shows only findings and errors of cells.
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
