package controller

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Eval implements Session.
func (c *controller) Eval(ctx context.Context, cell session.Cell) session.Reply {
	return c.evalFor(ctx, cell, nil)
}

// evalFor is Eval for a guest, which is a front end that has attached; nil for other front ends.
func (c *controller) evalFor(ctx context.Context, cell session.Cell, guest *borrowed) session.Reply {
	if err := c.tooLong(cell); err != nil {
		return session.Reply{Errors: []*session.Error{err}}
	}
	waits := c.announceWait(cell)
	err := c.acquire(ctx)
	waits()
	if err != nil {
		return session.Reply{Errors: []*session.Error{notRun(ctx, err)}}
	}
	defer c.release()
	c.mu.Lock()
	if !cell.Silent || cell.ID == 0 {
		cell.ID = c.cells + 1
	}
	if !cell.Silent {
		c.cells++
		c.history.add(cell)
	}
	ctx, c.stop = context.WithCancel(ctx)
	c.mu.Unlock()
	c.announce(cell)
	reply := c.evaluate(ctx, cell, guest)
	c.mu.Lock()
	c.stop()
	c.stop = nil
	c.mu.Unlock()
	c.announceEnd(cell, reply)
	if !cell.Silent && cell.By == "" {
		c.setLate(cell.Late)
	}
	if !cell.Silent && len(reply.Errors) > 0 {
		c.noteFailure(cell.ID, reply.Errors[0])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(reply.Errors) == 0 {
		c.given.gives(cell, c.cells)
	}
	for _, f := range reply.Findings {
		c.found.Add(f)
	}
	return reply
}

// tooLong returns the error of a cell whose text is longer than MaxSource, nil for others.
func (c *controller) tooLong(cell session.Cell) *session.Error {
	if len(cell.Source) <= session.MaxSource {
		return nil
	}
	return &session.Error{Kind: session.KindMisuse, Ranks: rankset.All(c.size), Peer: -1,
		Msg:  fmt.Sprintf("the cell has %d bytes of text, and may have %d", len(cell.Source), session.MaxSource),
		Hint: "read data from a file"}
}

// noteFailure notes in the history that a cell has failed.
func (c *controller) noteFailure(cell int, err *session.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history[cell-1].failed = wire.FirstLine(err.Error())
}

// announceWait shows the name of the cell for which this one waits if this one does not get its
// turn soon. The caller calls done when the wait is over; after that announceWait shows nothing.
func (c *controller) announceWait(cell session.Cell) (done func()) {
	if cell.Output == nil {
		return func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(watchdog.HangAfter, func() {
		defer close(said)
		if other := c.runningCell(); other != "" {
			text := fmt.Sprintf("this cell waits for %s, which another front end has entered (%s gives up, then `:stop` interrupts that one)\n",
				other, cmp.Or(cell.Stop, "Ctrl-C"))
			cell.Output(session.Output{Stream: session.Note, Text: text})
		}
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

// runningCell returns the title of the cell that runs, "" if none does.
func (c *controller) runningCell() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		return ""
	}
	return c.run.cell.Title()
}

// notRun returns the error of a cell that did not run, because a wait before it ended with err.
func notRun(ctx context.Context, err error) *session.Error {
	e := session.AsError(err)
	if ctx.Err() != nil {
		e.Kind = session.KindInterrupted
	}
	return e
}

// evaluate runs a cell that has been numbered. The caller holds the turn. guest is as in evalFor.
func (c *controller) evaluate(ctx context.Context, cell session.Cell, guest *borrowed) session.Reply {
	out, notes := cell.Output, cell.Output // notes shows which ranks were replaced
	if out == nil {
		out, notes = func(session.Output) {}, c.keepPrinted
	}
	start := time.Now()
	fail := func(errs ...*session.Error) session.Reply {
		for _, e := range errs {
			e.Cell = cell.ID
		}
		return session.Reply{Cell: cell.ID, Errors: errs, Elapsed: time.Since(start).Seconds()}
	}
	ranks, err := c.meant(cell.Ranks, cell.Source)
	if err != nil {
		return fail(&session.Error{Kind: session.KindMisuse, Peer: -1, Msg: err.Error()})
	}
	if cell.Sanitize != nil && len(ranks) < c.size {
		return fail(&session.Error{Kind: session.KindMisuse, Peer: -1,
			Msg: "the sanitizer is for all ranks: it cannot be switched on or off by a cell for some"})
	}
	if cell.Name == "" {
		cell.Name = cell.OwnName()
	}
	cell.Line = max(cell.Line, 1)
	if guest != nil {
		c.untell()
	}
	if err := c.repair(ctx, notes); err != nil {
		return fail(notRun(ctx, err))
	}
	over, end := context.WithCancel(ctx)
	defer end()
	r, errs := c.newRun(over, cell, guest, ranks, out)
	if len(errs) > 0 {
		return fail(errs...)
	}
	c.mu.Lock()
	left := c.remaining()
	c.mu.Unlock()
	var only session.RankList
	if len(rankset.Difference(left, r.ranks)) > 0 { // the error of a call that needs a lost rank says more
		only = r.ranks
	}
	breaks := r.beginDebugged()
	sent := cell
	sent.Source, sent.Ranks, sent.Sanitize, sent.Debugged = "", nil, r.sanitize, r.debugged
	sent.Stop, sent.Again, sent.InPlace = "", "", false // for this process
	for incarnation, ranks := range r.byIncarnation() {
		if r.followsDebugger {
			c.tell(ranks, wire.Command{Debug: &wire.Debug{Begin: r.number}}, nil)
		}
		c.tell(ranks, wire.Command{Eval: &wire.Eval{
			Incarnation: incarnation, Run: r.number, Cell: sent, Only: only, Breaks: breaks, Follows: r.followsDebugger,
		}}, []byte(cell.Source))
	}
	r.loop(ctx)
	reply := r.end()
	if r.debugged {
		c.publish(session.DebugEvent{Ended: cell.ID})
	}
	notes, told := r.announceDeaths(notes)
	err = c.repair(context.WithoutCancel(ctx), notes)
	told()
	c.correctHints(reply.Errors)
	if err != nil {
		e := session.AsError(err)
		e.Cell = cell.ID
		reply.Errors = append(reply.Errors, e)
	}
	return reply
}

// correctHints corrects errors that announced a fresh worker, for ranks on which none could start.
func (c *controller) correctHints(errs []*session.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range errs {
		for _, rank := range e.Ranks {
			if failed := c.ranks[rank].failed; e.Hint == replacedHint && failed != nil {
				e.Hint = fmt.Sprintf("no other could take its place: %s; `:restart` tries again", wire.FirstLine(failed.Msg))
			}
		}
	}
}

// newRun makes cell the current run of the ranks. It first shows their output since the last cell.
// It fails if one of ranks has no worker.
func (c *controller) newRun(ctx context.Context, cell session.Cell, guest *borrowed, ranks []int, out func(session.Output)) (*run, []*session.Error) {
	r := &run{
		c: c, cell: cell, guest: guest, ranks: ranks, on: make([]rankRun, c.size), left: len(ranks), orders: make(chan func()),
		events: newRunEvents(len(ranks)), over: make(chan struct{}),
	}
	asked := &typedLines{ctx: ctx, ask: cell.Input, give: r.give, wanted: map[int]int{}}
	r.fold = fold.New(ranks, fold.MostFor(len(ranks)), func(o session.Output) {
		if o.Display != nil && o.Display.Input {
			go asked.want(o.Ranks)
			return
		}
		if o.Stream != session.Note {
			r.shown.Store(time.Now().UnixNano())
		}
		out(o)
	})
	r.fold.Unfinished = c.config.Program != nil && len(ranks) == 1
	c.mu.Lock()
	if errs := c.unavailable(ranks); len(errs) > 0 {
		c.mu.Unlock()
		return nil, errs
	}
	for _, rank := range ranks {
		r.on[rank].TakesPart = true
		r.on[rank].incarnation = c.ranks[rank].incarnation
		c.ranks[rank].busy = true
	}
	c.runs++
	r.number = c.runs
	c.run = r // from now on r gets events
	if len(ranks) == c.size {
		r.sanitize = c.sanitizeBefore(cell)
	}
	r.before, c.idle = c.idle, c.newIdle()
	c.mu.Unlock()
	c.hub.Enter(rankset.All(c.size))
	for _, rank := range r.others() {
		c.hub.Leave(rank, "is not running this cell")
	}
	r.started = time.Now()
	r.showPrinted()
	return r, nil
}

// showPrinted shows the output from before the cell, including the part that is still to arrive. A
// cell without Output leaves it to the next one.
func (r *run) showPrinted() {
	if r.cell.Output == nil {
		r.before.Redirect(r.c.keepPrinted)
		r.before.EndRanks(r.others(), r.started)
		return
	}
	kept := sync.OnceFunc(func() {
		r.c.mu.Lock()
		printed := r.c.takePrinted()
		r.c.mu.Unlock()
		for _, o := range printed {
			r.fold.Show(o)
		}
	})
	r.before.Redirect(func(o session.Output) {
		kept()
		if o.Display == nil || !o.Display.Input { // the cell that asked for input is over
			r.fold.Show(o)
		}
	})
	kept()
	r.before.EndRanks(r.others(), r.started)
}

// keepPrinted passes on output from between cells, or keeps it up to a bound.
func (c *controller) keepPrinted(o session.Output) {
	if o.Display != nil && o.Display.Input {
		return // the cell that asked for input is over
	}
	c.mu.Lock()
	if late := c.late; late != nil {
		c.mu.Unlock()
		late(o)
		return
	}
	defer c.mu.Unlock()
	n := size(o)
	if c.notKept > 0 || c.kept+n > idleKeep {
		c.notKept += n
		return
	}
	c.kept += n
	c.printed = append(c.printed, o)
}

// setLate sets the function that takes the output of ranks while no cell runs, beginning with the
// output that is kept. If take is nil, the output is kept. When setLate returns, the previous
// function is not called any more.
func (c *controller) setLate(take func(session.Output)) {
	var mu sync.Mutex // two folds may emit at the same time: the last cell's and idle
	over := false
	mu.Lock()
	c.mu.Lock()
	before := c.endLate
	c.late, c.endLate = nil, nil
	var kept []session.Output
	if take != nil {
		kept = c.takePrinted()
		c.late = func(o session.Output) {
			mu.Lock()
			defer mu.Unlock()
			if !over {
				take(o)
			}
		}
		c.endLate = func() {
			mu.Lock()
			defer mu.Unlock()
			over = true
		}
	}
	c.mu.Unlock()
	if before != nil {
		before()
	}
	for _, o := range kept {
		take(o)
	}
	mu.Unlock()
}

// takePrinted returns the output that was kept and forgets it. c.mu is held.
func (c *controller) takePrinted() []session.Output {
	printed := c.printed
	if c.notKept > 0 {
		text := fmt.Sprintf("%.1f MiB that were printed while no cell ran are left out here, after the first %.1f MiB\n",
			mib(c.notKept), mib(c.kept))
		printed = append(printed, session.Output{Stream: session.Note, Text: text})
	}
	c.printed, c.kept, c.notKept = nil, 0, 0
	return printed
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

// size returns the approximate size of an output in bytes.
func size(o session.Output) int {
	n := len(o.Text)
	if o.Display != nil {
		for _, form := range o.Display.Data {
			if s, ok := form.(string); ok {
				n += len(s)
			}
		}
	}
	return n
}
