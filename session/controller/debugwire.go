package controller

import (
	"cmp"
	"context"
	"errors"

	"github.com/symmrepl/symmrepl/session"
)

// debugRequest is a call of a method of a Debugger by an attached front end. Exactly one field is
// set.
type debugRequest struct {
	Set       *setBreakpoints `json:",omitempty"`
	List      bool            `json:",omitempty"`
	Resume    session.Resume  `json:",omitempty"`
	Pause     bool            `json:",omitempty"`
	Stopped   bool            `json:",omitempty"`
	Frames    *int            `json:",omitempty"` // the rank
	Variables *[2]int         `json:",omitempty"` // the rank and the frame
	Evaluate  *evaluateIn     `json:",omitempty"`
}

type setBreakpoints struct {
	Source session.BreakpointSource
	Lines  []int
}

type evaluateIn struct {
	Ranks      []int
	Frame      int
	Expression string
}

// debugResult is the result of a debugRequest.
type debugResult struct {
	Breakpoints []session.Breakpoint `json:",omitempty"`
	Stop        *session.Stop        `json:",omitempty"`
	Frames      []session.Frame      `json:",omitempty"`
	Locals      []session.Variable   `json:",omitempty"`
	Globals     []session.Variable   `json:",omitempty"`
	Reply       *session.Reply       `json:",omitempty"`
}

// do makes the call; d is nil if the front end has no such debugger.
func (q *debugRequest) do(ctx context.Context, d session.Debugger) (r *debugResult, err error) {
	if d == nil {
		return nil, errors.New("the debugger is closed")
	}
	r = &debugResult{}
	switch {
	case q.Set != nil:
		r.Breakpoints, err = d.SetBreakpoints(ctx, q.Set.Source, q.Set.Lines)
	case q.List:
		r.Breakpoints, err = d.Breakpoints(ctx)
	case q.Resume != "":
		err = d.Resume(ctx, q.Resume)
	case q.Pause:
		err = d.Pause(ctx)
	case q.Stopped:
		r.Stop, err = d.Stopped(ctx)
	case q.Frames != nil:
		r.Frames, err = d.Frames(ctx, *q.Frames)
	case q.Variables != nil:
		r.Locals, r.Globals, err = d.Variables(ctx, q.Variables[0], q.Variables[1])
	case q.Evaluate != nil:
		var reply session.Reply
		reply, err = d.Evaluate(ctx, q.Evaluate.Ranks, q.Evaluate.Frame, q.Evaluate.Expression)
		r.Reply = &reply
	}
	return r, err
}

// serveDebugger holds a debugger for an attached front end until ctx ends.
func (f *frontServer) serveDebugger(ctx context.Context, id uint64) error {
	d, err := f.c.debugFor(&f.borrowed, func(e session.DebugEvent) { f.send(frontReply{ID: id, Debug: &e}) })
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.debuggers[id] = d
	f.mu.Unlock()
	f.send(frontReply{ID: id, Debugging: true})
	<-ctx.Done()
	f.mu.Lock()
	delete(f.debuggers, id)
	f.mu.Unlock()
	return d.Close()
}

// attachedDebugger is a Debugger of an attached front end.
type attachedDebugger struct {
	a     *attached
	id    uint64
	close context.CancelFunc
	ended chan struct{} // closed when the debugger is closed
}

// Debug implements Session.
func (a *attached) Debug(_ context.Context, event func(session.DebugEvent)) (session.Debugger, error) {
	ctx, stop := context.WithCancel(context.Background())
	d := &attachedDebugger{a: a, close: stop, ended: make(chan struct{})}
	opened := make(chan struct{}, 1)
	events := &debugger{tell: event}
	call := &frontCall{done: make(chan frontReply, 1), debug: func(isOpen bool, e *session.DebugEvent) {
		if isOpen {
			opened <- struct{}{}
			return
		}
		events.post(*e)
	}}
	var last frontReply
	go func() {
		defer close(d.ended)
		defer stop()
		last = a.request(ctx, frontRequest{Debug: true}, call, nil)
		if ctx.Err() == nil {
			events.post(session.DebugEvent{Over: true})
		}
	}()
	select {
	case <-opened:
	case <-d.ended:
		return nil, cmp.Or(last.err(), errors.New("the session is of another version of symmrepl, which cannot be debugged"))
	}
	d.id = call.id
	return d, nil
}

func (d *attachedDebugger) do(ctx context.Context, q debugRequest) (debugResult, error) {
	r := d.a.call(ctx, frontRequest{Debugs: d.id, Request: &q}, nil, nil)
	if r.Debugged == nil {
		return debugResult{}, cmp.Or(r.err(), errors.New("the debugger is closed"))
	}
	return *r.Debugged, r.err()
}

// SetBreakpoints implements Debugger.
func (d *attachedDebugger) SetBreakpoints(ctx context.Context, source session.BreakpointSource, lines []int) ([]session.Breakpoint, error) {
	r, err := d.do(ctx, debugRequest{Set: &setBreakpoints{source, lines}})
	return r.Breakpoints, err
}

// Breakpoints implements Debugger.
func (d *attachedDebugger) Breakpoints(ctx context.Context) ([]session.Breakpoint, error) {
	r, err := d.do(ctx, debugRequest{List: true})
	return r.Breakpoints, err
}

// Resume implements Debugger.
func (d *attachedDebugger) Resume(ctx context.Context, how session.Resume) error {
	_, err := d.do(ctx, debugRequest{Resume: cmp.Or(how, "nothing")})
	return err
}

// Pause implements Debugger.
func (d *attachedDebugger) Pause(ctx context.Context) error {
	_, err := d.do(ctx, debugRequest{Pause: true})
	return err
}

// Stopped implements Debugger.
func (d *attachedDebugger) Stopped(ctx context.Context) (*session.Stop, error) {
	r, err := d.do(ctx, debugRequest{Stopped: true})
	return r.Stop, err
}

// Frames implements Debugger.
func (d *attachedDebugger) Frames(ctx context.Context, rank int) ([]session.Frame, error) {
	r, err := d.do(ctx, debugRequest{Frames: &rank})
	return r.Frames, err
}

// Variables implements Debugger.
func (d *attachedDebugger) Variables(ctx context.Context, rank, frame int) (locals, globals []session.Variable, err error) {
	r, err := d.do(ctx, debugRequest{Variables: &[2]int{rank, frame}})
	return r.Locals, r.Globals, err
}

// Evaluate implements Debugger.
func (d *attachedDebugger) Evaluate(ctx context.Context, ranks []int, frame int, expression string) (session.Reply, error) {
	r, err := d.do(ctx, debugRequest{Evaluate: &evaluateIn{ranks, frame, expression}})
	if r.Reply == nil {
		return session.Reply{}, err
	}
	return *r.Reply, err
}

// Close implements Debugger.
func (d *attachedDebugger) Close() error {
	d.close()
	<-d.ended
	return nil
}
