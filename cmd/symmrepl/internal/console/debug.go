package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// debugging is the console's debugger, and the stop of the session.
type debugging struct {
	mu       sync.Mutex
	debugger session.Debugger // nil before it is opened
	stop     *session.Stop    // the latest; nil if no rank stands
	since    time.Time        // when the stop began
	changed  chan struct{}    // closed when stop changes
	quit     bool             // the user has entered :quit while a cell stood
}

// stopSettles is the time that ranks may take to come to the stop of others before the prompt shows
// the stop as it is.
const stopSettles = time.Second

// Debugger returns the console's debugger, which it opens first if there is none. Cells that are
// entered while it is open can stand at breakpoints.
func (c *Console) Debugger(ctx context.Context) (session.Debugger, error) {
	d := &c.debug
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.debugger != nil {
		return d.debugger, nil
	}
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	opened, err := c.Session.Debug(ctx, d.note)
	if err == nil {
		d.debugger = opened
	}
	return opened, err
}

// OpenDebugger returns the console's debugger, nil if it is not open.
func (c *Console) OpenDebugger() session.Debugger {
	c.debug.mu.Lock()
	defer c.debug.mu.Unlock()
	return c.debug.debugger
}

// CloseDebugger leaves the debugger, if it is open.
func (c *Console) CloseDebugger() error {
	d := &c.debug
	d.mu.Lock()
	open := d.debugger
	d.debugger = nil
	d.set(nil)
	d.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.Close()
}

// Stop returns the stop of the session, nil if no rank stands or the debugger is not open.
func (c *Console) Stop() *session.Stop {
	c.debug.mu.Lock()
	defer c.debug.mu.Unlock()
	return c.debug.stop
}

// note keeps an event of the debugger.
func (d *debugging) note(e session.DebugEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case e.Stopped != nil:
		d.set(e.Stopped)
	case e.Continued != 0, e.Ended != 0:
		d.set(nil)
	}
}

// set sets the stop. d.mu is held.
func (d *debugging) set(s *session.Stop) {
	if s == nil && d.stop == nil {
		return
	}
	if s != nil && (d.stop == nil || d.stop.ID != s.ID) {
		d.since = time.Now()
	}
	d.stop = s
	close(d.changed)
	d.changed = make(chan struct{})
}

// now returns the stop, the time at which it began, and a channel that is closed when the stop
// changes.
func (d *debugging) now() (*session.Stop, time.Time, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stop, d.since, d.changed
}

func (d *debugging) takeQuit() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	quit := d.quit
	d.quit = false
	return quit
}

// attend asks the user for commands whenever the cell that begins now stands, until done is called.
// The cell is run with the context that attend returns.
func (c *Console) attend(ctx context.Context, r Request) (cell context.Context, done func()) {
	if r.Ask == nil || c.OpenDebugger() == nil {
		return ctx, func() {}
	}
	cell, interrupt := context.WithCancel(ctx)
	over, end := context.WithCancel(cell)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c.awaitStop(over) {
			c.askAtStop(over, r, interrupt)
		}
	}()
	return cell, func() {
		end()
		<-ended
		interrupt()
	}
}

// awaitStop waits until ranks stand and no rank is about to, and returns false if ctx ends before.
func (c *Console) awaitStop(ctx context.Context) bool {
	for {
		stop, since, changed := c.debug.now()
		var settled <-chan time.Time
		if stop != nil {
			rest := stopSettles - time.Since(since)
			if stop.Complete || rest <= 0 {
				return ctx.Err() == nil
			}
			timer := time.NewTimer(rest)
			defer timer.Stop()
			settled = timer.C
		}
		select {
		case <-changed:
		case <-settled:
		case <-ctx.Done():
			return false
		}
	}
}

// askAtStop shows the places at which the ranks stand, and runs the user's entries until the ranks
// go on.
func (c *Console) askAtStop(ctx context.Context, r Request, interrupt context.CancelFunc) {
	stop, _, _ := c.debug.now()
	if stop == nil {
		return
	}
	over, end := context.WithCancel(ctx)
	defer end()
	go func() { // the ranks may go on because another front end says so
		for {
			now, _, changed := c.debug.now()
			if now == nil || now.ID != stop.ID {
				end()
				return
			}
			select {
			case <-changed:
			case <-over.Done():
				return
			}
		}
	}()
	r.Printer.Print(StopText(stop, c.Size))
	for over.Err() == nil {
		line, err := r.Ask(over, "stopped> ")
		if over.Err() != nil {
			return
		}
		switch {
		case errors.Is(err, io.EOF):
			line = ":continue"
		case err != nil:
			interrupt()
			return
		}
		if !c.runStopped(over, r, strings.TrimSpace(line), interrupt) {
			return
		}
	}
}

// runStopped runs an entry while ranks stand. It returns false if they do not stand any more.
func (c *Console) runStopped(ctx context.Context, r Request, entry string, interrupt context.CancelFunc) bool {
	switch {
	case entry == "":
	case isCommand(entry):
		name, _, _ := splitCommand(entry)
		cmd, err := c.Find(name)
		if err == nil && !cmd.WhileStopped {
			err = fmt.Errorf(":%s waits for the cell that stands: `:continue` lets it go on, Ctrl-C ends it", cmd.Name)
		}
		if err != nil {
			r.Printer.Fail("%v", err)
			return true
		}
		before := c.Stop()
		r.Leave = nil
		if c.command(ctx, r, entry) == Quit {
			c.debug.mu.Lock()
			c.debug.quit = true
			c.debug.mu.Unlock()
			interrupt()
			return false
		}
		if goesOn[cmd.Name] { // the event comes soon
			c.awaitOther(ctx, before)
			return false
		}
	default:
		d := c.OpenDebugger()
		if d == nil {
			return false
		}
		reply, err := d.Evaluate(ctx, nil, 0, entry)
		if err != nil {
			r.Printer.Fail("%v", err)
			return true
		}
		r.Printer.Reply(reply)
	}
	return true
}

// goesOn has the commands after which ranks that stood go on.
var goesOn = map[string]bool{"continue": true, "step": true}

// awaitOther waits until the stop is another one than before.
func (c *Console) awaitOther(ctx context.Context, before *session.Stop) {
	for before != nil {
		now, _, changed := c.debug.now()
		if now == nil || now.ID != before.ID {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// StopText describes the ranks while some of them stand, with one line for ranks that are alike.
func StopText(s *session.Stop, size int) string {
	var order []string
	ranks := map[string][]int{}
	for _, r := range s.Ranks {
		text := "  " + string(r.State)
		switch {
		case r.State == session.Stands:
			text = fmt.Sprintf("> %s:%d (%s)  %s", r.Place.Name, r.Place.Line, r.Reason, strings.TrimSpace(r.Place.Source))
		case r.Doing != "":
			text = "  " + r.Doing
		}
		if ranks[text] == nil {
			order = append(order, text)
		}
		ranks[text] = append(ranks[text], r.Rank)
	}
	for i, text := range order {
		order[i] = session.Prefix(ranks[text], size) + text
	}
	return strings.Join(order, "\n")
}
