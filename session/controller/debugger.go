package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/wire"
)

// debugging is the controller's state of debugging. controller.mu guards it.
type debugging struct {
	open   []*debugger
	used   bool // a debugger has been open
	breaks []*breaks
	stops  int // how many stops there were
	// the cells that began while the session was debugged, by number: their text, name and line
	cells map[int]session.Cell
	sent  map[int][]int // the lines that the workers have as breakpoints, by cell
}

// breaks are the breakpoints in one source.
type breaks struct {
	source session.BreakpointSource
	lines  []int
	owner  *debugger
	since  int // number of cells when they were set
}

// applies reports whether the breakpoints are in a cell.
func (b *breaks) applies(cell session.Cell) bool {
	switch s := b.source; {
	case s.Cell != 0:
		return s.Cell == cell.ID
	case s.Text != "":
		return s.Text == cell.Text()
	case s.File != "":
		return s.File == cell.Name
	}
	return cell.ID > b.since
}

// isIn reports whether a line of the file that a cell is part of is in the cell.
func isIn(cell session.Cell, line int) bool {
	first := max(cell.Line, 1)
	return line >= first && line <= first+strings.Count(strings.TrimRight(cell.Text(), "\n"), "\n")
}

// linesIn returns the lines with breakpoints in a cell, ascending.
func (d *debugging) linesIn(cell session.Cell) (lines []int) {
	for _, b := range d.breaks {
		if !b.applies(cell) {
			continue
		}
		for _, line := range b.lines {
			if b.source.File == "" || isIn(cell, line) {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// begin notes a cell that begins while the session is debugged, and returns the lines with
// breakpoints by cell: in this one, and in those before that have some, whose functions it may call.
func (d *debugging) begin(cell session.Cell) map[int][]int {
	if d.cells == nil {
		d.cells, d.sent = map[int]session.Cell{}, map[int][]int{}
	}
	d.cells[cell.ID] = session.Cell{ID: cell.ID, Source: cell.Source, Typed: cell.Typed, Name: cell.Name, Line: cell.Line}
	d.sent[cell.ID] = d.linesIn(cell)
	all := maps.Clone(d.sent)
	maps.DeleteFunc(all, func(id int, lines []int) bool { return id != cell.ID && len(lines) == 0 })
	return all
}

// changed returns the cells in which the breakpoints have changed since they were sent, with their
// lines.
func (d *debugging) changed() map[int][]int {
	changed := map[int][]int{}
	for id, cell := range d.cells {
		if lines := d.linesIn(cell); !slices.Equal(lines, d.sent[id]) {
			changed[id], d.sent[id] = lines, lines
		}
	}
	return changed
}

// debugger is a Debugger of the controller.
type debugger struct {
	c     *controller
	tell  func(session.DebugEvent)
	guest *borrowed // of the attached front end that debugs; nil for others

	mu      sync.Mutex
	pending []session.DebugEvent
	busy    bool // a goroutine passes events on
	closed  bool
}

// post passes an event on, after those before it.
func (d *debugger) post(e session.DebugEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.pending = append(d.pending, e)
	if !d.busy {
		d.busy = true
		go d.pass()
	}
}

// pass passes the pending events on.
func (d *debugger) pass() {
	for {
		d.mu.Lock()
		if len(d.pending) == 0 || d.closed {
			d.busy = false
			d.mu.Unlock()
			return
		}
		e := d.pending[0]
		d.pending = d.pending[1:]
		d.mu.Unlock()
		d.tell(e)
	}
}

// Debug implements Session.
func (c *controller) Debug(_ context.Context, event func(session.DebugEvent)) (session.Debugger, error) {
	return c.debugFor(nil, event)
}

// debugFor opens a debugger; guest is the guest of an attached front end, nil for other front ends.
func (c *controller) debugFor(guest *borrowed, event func(session.DebugEvent)) (session.Debugger, error) {
	if c.isOver() {
		return nil, ErrClosed
	}
	d := &debugger{c: c, tell: event, guest: guest}
	c.mu.Lock()
	c.debug.open, c.debug.used = append(c.debug.open, d), true
	run := c.run
	c.mu.Unlock()
	if run != nil {
		run.do(func() {
			if run.halt != nil {
				d.post(session.DebugEvent{Stopped: run.halt})
			}
		})
	}
	return d, nil
}

// publish tells all debuggers.
func (c *controller) publish(e session.DebugEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.debug.open {
		d.post(e)
	}
}

// beginDebugged notes whether the session is debugged when the cell begins, or was before, and returns
// the lines with breakpoints, as debugging.begin does.
func (r *run) beginDebugged() (lines map[int][]int) {
	c := r.c
	c.mu.Lock()
	r.followsDebugger = c.debug.used && !r.cell.Silent
	if r.debugged = len(c.debug.open) > 0 && !r.cell.Silent; r.debugged {
		lines = c.debug.begin(r.cell)
	}
	breaks := len(c.debug.breaks) > 0
	c.mu.Unlock()
	if r.debugged {
		c.publish(session.DebugEvent{Begun: r.cell.ID})
	}
	if r.debugged && breaks {
		go c.publishBreaks(context.Background())
	}
	return lines
}

// sendBreaks sends the breakpoints that have changed to all ranks, and tells the debuggers.
func (c *controller) sendBreaks(ctx context.Context) {
	c.mu.Lock()
	changed := c.debug.changed()
	c.mu.Unlock()
	if len(changed) > 0 {
		c.tell(c.reachable(), wire.Command{Debug: &wire.Debug{Breaks: changed}}, nil)
	}
	c.publishBreaks(ctx)
}

// publishBreaks sends the present state of all breakpoints to the debuggers.
func (c *controller) publishBreaks(ctx context.Context) {
	c.mu.Lock()
	list := slices.Clone(c.debug.breaks)
	c.mu.Unlock()
	all := c.verified(ctx, list)
	c.publish(session.DebugEvent{Changed: &all})
}

// verified describes breakpoints.
func (c *controller) verified(ctx context.Context, list []*breaks) []session.Breakpoint {
	all := []session.Breakpoint{}
	for _, b := range list {
		texts, reason := c.textsOf(b)
		var lines []int
		for _, text := range texts {
			lines = append(lines, c.statementLines(ctx, text)...)
		}
		slices.Sort(lines)
		for _, asked := range b.lines {
			p := session.Breakpoint{Source: b.source, Asked: asked, Line: asked, Reason: reason}
			if at, _ := slices.BinarySearch(lines, asked); at < len(lines) {
				p.Line, p.Verified, p.Reason = lines[at], true, ""
			} else if reason == "" {
				p.Reason = fmt.Sprintf("no statement begins on line %d or after it", asked)
			}
			all = append(all, p)
		}
	}
	return all
}

// textsOf returns the cells that breakpoints are in, or why there are none.
func (c *controller) textsOf(b *breaks) (cells []session.Cell, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.debug.cells)) {
		if cell := c.debug.cells[id]; b.applies(cell) {
			cells = append(cells, cell)
		}
	}
	switch s := b.source; {
	case len(cells) > 0:
	case s.Text != "":
		return []session.Cell{{Source: s.Text, Line: 1}}, ""
	case s.Cell > c.cells:
		return nil, fmt.Sprintf("there is no cell %d yet", s.Cell)
	case s.Cell != 0:
		return nil, fmt.Sprintf("cell %d ran before the session was debugged: run it again", s.Cell)
	case s.File != "":
		return nil, "no cell of the file has run since the session is debugged"
	default:
		return nil, "no cell has been entered since"
	}
	return cells, ""
}

// statementLines returns the lines of a cell on which statements begin.
func (c *controller) statementLines(ctx context.Context, cell session.Cell) (lines []int) {
	c.mu.Lock()
	alive := rankset.Filter(rankset.All(c.size), func(rank int) bool { return c.ranks[rank].ready != nil })
	c.mu.Unlock()
	if len(alive) == 0 {
		return nil
	}
	answers, err := c.Inspect(ctx, alive[:1], session.Query{Topic: session.TopicLines, Arg: cell.Source})
	if err != nil || len(answers) == 0 {
		return nil
	}
	for _, line := range answers[0].Lines {
		lines = append(lines, line+max(cell.Line, 1)-1)
	}
	return lines
}

// SetBreakpoints implements Debugger.
func (d *debugger) SetBreakpoints(ctx context.Context, source session.BreakpointSource, lines []int) ([]session.Breakpoint, error) {
	set := 0
	for _, is := range []bool{source.Cell != 0, source.Text != "", source.File != ""} {
		if is {
			set++
		}
	}
	if set > 1 || source.Cell < 0 || slices.ContainsFunc(lines, func(line int) bool { return line < 1 }) {
		return nil, errors.New("breakpoints are in a cell, a text or a file, on lines from 1 on")
	}
	c := d.c
	c.mu.Lock()
	c.debug.breaks = slices.DeleteFunc(c.debug.breaks, func(b *breaks) bool { return b.source == source })
	b := &breaks{source, slices.Clone(lines), d, c.cells}
	if len(lines) > 0 {
		c.debug.breaks = append(c.debug.breaks, b)
	}
	c.mu.Unlock()
	c.sendBreaks(ctx)
	return c.verified(ctx, []*breaks{b}), nil
}

// Breakpoints implements Debugger.
func (d *debugger) Breakpoints(ctx context.Context) ([]session.Breakpoint, error) {
	d.c.mu.Lock()
	list := slices.Clone(d.c.debug.breaks)
	d.c.mu.Unlock()
	return d.c.verified(ctx, list), nil
}

// errNotStopped is the error of calls that need a rank that stands.
var errNotStopped = errors.New("no rank stands at a statement")

// running calls f with the running cell, on the goroutine that runs it. It returns otherwise if no
// cell runs.
func (d *debugger) running(otherwise error, f func(r *run) error) error {
	d.c.mu.Lock()
	r := d.c.run
	d.c.mu.Unlock()
	if r != nil {
		r.do(func() { otherwise = f(r) })
	}
	return otherwise
}

// Resume implements Debugger.
func (d *debugger) Resume(_ context.Context, how session.Resume) error {
	switch how {
	case session.Continue, session.StepOver, session.StepIn, session.StepOut:
	default:
		return fmt.Errorf("there is no way %q to go on", how)
	}
	return d.running(errNotStopped, func(r *run) error {
		if r.halt == nil {
			return errNotStopped
		}
		r.resume(wire.Debug{Resume: how})
		return nil
	})
}

// Pause implements Debugger.
func (d *debugger) Pause(context.Context) error {
	return d.running(errors.New("no cell runs"), func(r *run) error {
		if !r.debugged {
			return fmt.Errorf("%s began before the session was debugged: it cannot be stopped", r.cell.Title())
		}
		moving := rankset.Filter(r.running(), func(rank int) bool { return r.on[rank].Stands == nil })
		r.c.tell(moving, wire.Command{Debug: &wire.Debug{Pause: true}}, nil)
		return nil
	})
}

// Stopped implements Debugger.
func (d *debugger) Stopped(context.Context) (stop *session.Stop, err error) {
	d.running(nil, func(r *run) error {
		stop = r.halt
		return nil
	})
	return stop, nil
}

// ask puts a query to one rank.
func (d *debugger) ask(ctx context.Context, rank int, q session.Query) (session.Answer, error) {
	answers, err := d.c.Inspect(ctx, []int{rank}, q)
	switch {
	case err != nil:
		return session.Answer{}, err
	case answers[0].Err != nil:
		return session.Answer{}, answers[0].Err
	}
	return answers[0], nil
}

// Frames implements Debugger.
func (d *debugger) Frames(ctx context.Context, rank int) ([]session.Frame, error) {
	a, err := d.ask(ctx, rank, session.Query{Topic: session.TopicFrames})
	return a.Frames, err
}

// Variables implements Debugger.
func (d *debugger) Variables(ctx context.Context, rank, frame int) (locals, globals []session.Variable, err error) {
	a, err := d.ask(ctx, rank, session.Query{Topic: session.TopicLocals, Frame: frame})
	return a.Locals, a.Variables, err
}

// evaluateTimeout bounds an evaluation.
const evaluateTimeout = time.Hour

// Evaluate implements Debugger.
func (d *debugger) Evaluate(ctx context.Context, ranks []int, frame int, expression string) (session.Reply, error) {
	began := time.Now()
	stop, _ := d.Stopped(ctx)
	if stop == nil {
		return session.Reply{}, errNotStopped
	}
	if ranks == nil {
		for _, r := range stop.Ranks {
			if r.State == session.Stands {
				ranks = append(ranks, r.Rank)
			}
		}
	}
	answers, err := d.c.inspectWithin(ctx, evaluateTimeout, ranks, session.Query{Topic: session.TopicEvaluate, Arg: expression, Frame: frame})
	if err != nil {
		return session.Reply{}, err
	}
	reply := session.Reply{Cell: stop.Cell, Elapsed: time.Since(began).Seconds()}
	var values foldedValues
	var errs foldedErrors
	for _, a := range answers {
		switch {
		case a.Err != nil:
			errs.add(a.Rank, a.Err)
		case a.Result != nil && a.Result.HasValue:
			values.add(a.Rank, a.Result)
		}
	}
	reply.Values, reply.Errors = values.list, errs.list
	return reply, nil
}

// Close implements Debugger.
func (d *debugger) Close() error {
	c := d.c
	c.mu.Lock()
	c.debug.open = slices.DeleteFunc(c.debug.open, func(o *debugger) bool { return o == d })
	c.debug.breaks = slices.DeleteFunc(c.debug.breaks, func(b *breaks) bool { return b.owner == d })
	last := len(c.debug.open) == 0
	c.mu.Unlock()
	d.mu.Lock()
	again := d.closed
	d.closed = true
	d.mu.Unlock()
	if again || c.isOver() {
		return nil
	}
	c.sendBreaks(context.Background())
	if last {
		leave := wire.Debug{Leave: true}
		if d.running(errNotStopped, func(r *run) error { r.resume(leave); return nil }) != nil {
			c.tell(c.reachable(), wire.Command{Debug: &leave}, nil)
		}
	}
	return nil
}
