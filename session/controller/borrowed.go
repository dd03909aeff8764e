package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// A front end that has attached is a guest: the ranks hold the variables of others. When the guest
// disconnects, only its own requests end.

// borrowed is the state of the session that a guest has changed for a time. The zero value is
// nothing.
type borrowed struct {
	mu        sync.Mutex
	sanitizer *session.Sanitizing // before the change; nil if there is none
	tracing   *frontInspect       // the request that ends the trace; nil if there is none
}

// sanitize notes the change of the sanitizer that a cell makes.
func (b *borrowed) sanitize(c *controller, cell session.Cell) {
	if cell.Sanitize == nil {
		return
	}
	c.mu.Lock()
	now := c.sanitizing
	c.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !cell.Borrows || b.sanitizer != nil && cell.Sanitize.On == b.sanitizer.On:
		b.sanitizer = nil
	case b.sanitizer == nil && cell.Sanitize.On != now.On:
		b.sanitizer = &now
	}
}

// trace notes that a request begins or ends a trace.
func (b *borrowed) trace(q frontInspect) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch q.Query.Topic {
	case session.TopicStartTrace:
		b.tracing = &frontInspect{q.Ranks, session.Query{Topic: session.TopicStopTrace}}
	case session.TopicStopTrace:
		b.tracing = nil
	}
}

// giveBack undoes the changes, once no request of the guest is served any more.
func (b *borrowed) giveBack(c *controller) {
	c.mu.Lock()
	b.restore(c)
	c.mu.Unlock()
	b.mu.Lock()
	tracing := b.tracing
	b.mu.Unlock()
	if tracing != nil {
		c.Inspect(context.Background(), tracing.Ranks, tracing.Query)
	}
}

// restore makes the next cell of all ranks run with the sanitizer as it was before. c.mu is held.
func (b *borrowed) restore(c *controller) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sanitizer != nil {
		c.sanitizing = *b.sanitizer
	}
}

// isGone reports whether the front end of the cell has disconnected.
func (r *run) isGone() bool {
	select {
	case <-r.cell.Gone:
		return true
	default:
		return false
	}
}

// tellUnstopped tells the session's users, once, that a guest's cell does not stop. The users decide
// whether to lose the variables of its ranks.
func (r *run) tellUnstopped() {
	if r.toldUnstopped {
		return
	}
	r.toldUnstopped = true
	ranks := session.FormatRanks(r.running())
	by := r.cell.By
	if by == "" {
		by = "another front end"
	}
	text := fmt.Sprintf("%s of %s was interrupted and has not stopped on ranks %s after %v; it may stop later. `:restart %s` replaces these ranks, and loses their variables\n",
		r.cell.Title(), by, ranks, r.c.config.KillAfter, ranks)
	r.note(text)
	r.c.tellUsers(text)
}

// tellStopped tells the front end of the cell, once, that the debugger of another one has stopped it, unless
// the front end has a debugger itself.
func (r *run) tellStopped(standing []int) {
	r.c.mu.Lock()
	own := slices.ContainsFunc(r.c.debug.open, func(d *debugger) bool { return d.guest == r.guest })
	r.c.mu.Unlock()
	if own || r.toldStopped {
		return
	}
	r.toldStopped = true
	at := r.on[standing[0]].Stands.Place
	r.note(fmt.Sprintf("the debugger of another front end has stopped this cell at %s:%d: the cell goes on when that debugger resumes it or leaves; %s interrupts it\n",
		at.Name, at.Line, r.stop()))
}
