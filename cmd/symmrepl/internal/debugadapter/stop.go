package debugadapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/session"
)

// announced is the stop that the client knows of.
type announced struct {
	id       int // session.Stop.ID; 0: none
	complete bool
	late     *time.Timer // announces a stop that is not complete; nil: none
}

// patience is the time that ranks have to come to a stop too, before a client is told that one has.
const patience = 500 * time.Millisecond

// event takes an event of the session's debugger.
func (a *Adapter) event(e session.DebugEvent) {
	switch {
	case e.Stopped != nil:
		a.stopped(e.Stopped)
	case e.Continued != 0:
		a.mu.Lock()
		a.forget()
		a.mu.Unlock()
		a.send(&dap.ContinuedEvent{Event: event("continued"),
			Body: dap.ContinuedEventBody{ThreadId: threadOf(0), AllThreadsContinued: true}})
	case e.Changed != nil:
		a.changed(*e.Changed)
	case e.Over && a.lab == nil:
		a.send(&dap.TerminatedEvent{Event: event("terminated")})
	}
}

// forget forgets the stop. a.mu is held.
func (a *Adapter) forget() {
	a.stop, a.frames = nil, nil
	a.announced.id, a.announced.complete = 0, false
	if a.announced.late != nil {
		a.announced.late.Stop()
		a.announced.late = nil
	}
	a.handles.renew()
}

// stopOnEntry lets the ranks stop before the first statement that they reach.
func (a *Adapter) stopOnEntry(ctx context.Context) error {
	d, err := a.open()
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.entry = true
	a.mu.Unlock()
	_, err = d.SetBreakpoints(ctx, session.BreakpointSource{}, []int{1})
	return err
}

// entered removes the breakpoint of stopOnEntry after the first stop.
func (a *Adapter) entered(d session.Debugger) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	d.SetBreakpoints(ctx, session.BreakpointSource{}, nil) // fails only if the session has ended
}

// stopped takes a new state of a stop. It tells the client at once if the stop is complete, and
// otherwise when ranks run on for a while.
func (a *Adapter) stopped(stop *session.Stop) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil && a.stop.ID != stop.ID {
		a.forget()
	}
	a.stop = stop
	switch {
	case stop.Complete:
		a.announce()
	case a.announced.id != stop.ID && a.announced.late == nil:
		a.announced.late = time.AfterFunc(patience, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.stop != nil && a.stop.ID == stop.ID {
				a.announce()
			}
		})
	}
}

// announce tells the client of the stop, unless it knows. a.mu is held.
func (a *Adapter) announce() {
	stop := a.stop
	if a.announced.id == stop.ID && (a.announced.complete || !stop.Complete) {
		return
	}
	again := a.announced.id == stop.ID
	a.announced.id, a.announced.complete = stop.ID, stop.Complete
	body := dap.StoppedEventBody{Reason: string(stop.Reason), AllThreadsStopped: stop.Complete, PreserveFocusHint: again}
	var others []string
	for _, r := range stop.Ranks {
		switch {
		case r.State != session.Stands:
			others = append(others, fmt.Sprintf("rank %d: %s", r.Rank, cmp.Or(r.Doing, string(r.State))))
		case body.ThreadId == 0:
			body.ThreadId = threadOf(r.Rank)
		}
	}
	body.Text = strings.Join(others, "\n")
	if a.entry {
		a.entry = false
		body.Reason = "entry"
		go a.entered(a.debugger)
	}
	a.send(&dap.StoppedEvent{Event: event("stopped"), Body: body})
}

// standing returns the ranks that stand.
func (a *Adapter) standing() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	ranks := []int{}
	if a.stop != nil {
		for _, r := range a.stop.Ranks {
			if r.State == session.Stands {
				ranks = append(ranks, r.Rank)
			}
		}
	}
	return ranks
}

// frame is a frame that a client knows: an index in the rank's frames, or -1 if the rank does not
// stand.
type frame struct {
	rank, index int
	function    string
}

// stackTrace returns the calls that a rank is in. A rank that does not stand has one frame, which
// names the rank's activity.
func (a *Adapter) stackTrace(ctx context.Context, asked dap.StackTraceArguments) (dap.StackTraceResponseBody, error) {
	rank := asked.ThreadId - 1
	if rank < 0 || rank >= a.console.Size {
		return dap.StackTraceResponseBody{}, fmt.Errorf("threadId %d: threads are 1 to %d", asked.ThreadId, a.console.Size)
	}
	d, err := a.open()
	if err != nil {
		return dap.StackTraceResponseBody{}, err
	}
	a.mu.Lock()
	stop := a.stop
	a.mu.Unlock()
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}}
	if stop == nil {
		return body, errors.New("no rank is stopped")
	}
	if r := rankStop(stop, rank); r == nil || r.State != session.Stands {
		doing := "takes no part in the cell"
		if r != nil {
			doing = cmp.Or(r.Doing, string(r.State))
		}
		body.StackFrames = append(body.StackFrames,
			dap.StackFrame{Id: a.number(frame{rank, -1, ""}), Name: doing, PresentationHint: "label"})
		body.TotalFrames = 1
		return body, nil
	}
	frames, err := d.Frames(ctx, rank)
	if err != nil {
		return body, err
	}
	body.TotalFrames = len(frames)
	from := min(max(asked.StartFrame, 0), len(frames))
	to := len(frames)
	if asked.Levels > 0 {
		to = min(from+asked.Levels, to)
	}
	for i := from; i < to; i++ {
		f := frames[i]
		body.StackFrames = append(body.StackFrames, dap.StackFrame{
			Id: a.number(frame{rank, i, f.Function}), Name: functionName(f), Source: a.sourceOf(f.Place), Line: f.Line,
			Column: max(f.Column, 1),
		})
	}
	return body, nil
}

// functionName names the function of a frame for users.
func functionName(f session.Frame) string {
	if f.Function == "main.main" && f.Name != "" {
		return f.Name
	}
	return strings.TrimPrefix(f.Function, "main.")
}

// number gives a frame a number.
func (a *Adapter) number(f frame) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frames == nil {
		a.frames = map[int]frame{}
	}
	a.lastFrame++
	a.frames[a.lastFrame] = f
	return a.lastFrame
}

// findFrame returns the frame with a number.
func (a *Adapter) findFrame(number int) (frame, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, ok := a.frames[number]
	if !ok {
		return frame{}, fmt.Errorf("frameId %d is not valid any more: the ranks have gone on since", number)
	}
	return f, nil
}

// scopes returns the scopes of a frame: for JupyterLab the ranks, for editors the variables of the
// frame's rank by kind.
func (a *Adapter) scopes(ctx context.Context, number int) ([]dap.Scope, error) {
	f, err := a.findFrame(number)
	if err != nil {
		return nil, err
	}
	if a.lab != nil {
		return a.rankScopes(ctx, f)
	}
	scope := func(name, hint string, chosen func(locals, globals []row) []row) dap.Scope {
		return dap.Scope{Name: name, PresentationHint: hint,
			VariablesReference: a.handles.add(func(ctx context.Context) ([]dap.Variable, error) {
				locals, globals, err := a.frameRows(ctx, f)
				return a.toDAP(chosen(locals, globals)), err
			})}
	}
	var scopes []dap.Scope
	if f.index >= 0 {
		scopes = append(scopes, scope("Locals", "locals", func(locals, _ []row) []row { return locals }))
	}
	return append(scopes,
		scope("Session", "", func(_, globals []row) []row { return globals }),
		scope("Tensors", "", func(locals, globals []row) []row {
			return slices.DeleteFunc(slices.Concat(locals, globals), func(r row) bool { return r.open == nil })
		}),
	), nil
}

// rankScopes returns a scope for each rank: the locals of its frame that corresponds to f, and below
// them the session's variables.
func (a *Adapter) rankScopes(ctx context.Context, f frame) ([]dap.Scope, error) {
	d, err := a.open()
	if err != nil {
		return nil, err
	}
	standing := a.standing()
	var scopes []dap.Scope
	for rank := range a.console.Size {
		other := frame{rank, -1, ""}
		if slices.Contains(standing, rank) {
			other = frame{rank, 0, ""}
			if frames, err := d.Frames(ctx, rank); err == nil && f.index >= 0 && f.index < len(frames) &&
				frames[f.index].Function == f.function {
				other = frame{rank, f.index, f.function}
			}
		}
		scopes = append(scopes, dap.Scope{Name: fmt.Sprintf("rank %d", rank),
			VariablesReference: a.handles.add(func(ctx context.Context) ([]dap.Variable, error) {
				locals, globals, err := a.frameRows(ctx, other)
				return a.toDAP(slices.Concat(locals, globals)), err
			})})
	}
	return scopes, nil
}

// frameRows returns the variables of a frame, and the session's variables that these do not hide.
func (a *Adapter) frameRows(ctx context.Context, f frame) (locals, globals []row, err error) {
	if f.index < 0 {
		globals, err = a.rankRows(ctx, f.rank)
		return nil, globals, err
	}
	d, err := a.open()
	if err != nil {
		return nil, nil, err
	}
	inner, outer, err := d.Variables(ctx, f.rank, f.index)
	if err != nil {
		return nil, nil, err
	}
	hidden := map[string]bool{}
	for _, v := range inner {
		hidden[v.Name] = true
		locals = append(locals, a.variable(v.Name, []int{f.rank}, f.index, v))
	}
	for _, v := range outer {
		if !hidden[v.Name] {
			globals = append(globals, a.variable(v.Name, []int{f.rank}, f.index, v))
		}
	}
	return locals, globals, nil
}
