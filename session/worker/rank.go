package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Rank runs the cells of a rank, and carries out the session's other commands for it. It needs no
// process of its own, so tests may have many of them in one process.
type Rank struct {
	Incarnation  int
	Evaluator    session.Evaluator
	Communicator session.Communicator
	Emit         func(wire.Event, []byte) // reports to the session; called from several goroutines
	Begin        func(run uint64)         // notes that a run begins in the output

	stdin  stdinReader     // of the cells
	harm   func() string   // unless nil: see worker.harm
	debugs chan wire.Debug // for the goroutine of debug
	begins chan uint64     // runs that may begin: see beginDebugged

	mu        sync.Mutex
	current   uint64       // the run in hand, 0 when idle
	latest    uint64       // the run that was in hand last
	early     wire.Command // the last Cancel of a run that was not in hand yet: see interrupt
	cancel    context.CancelFunc
	finishing bool // the cell's code has ended, its device work has not
}

// Handle carries out a command that is neither Quit nor a job. It runs no user code.
func (r *Rank) Handle(c wire.Command, payload []byte) {
	switch {
	case c.Cancel != 0:
		r.interrupt(c)
	case c.Abort != "":
		r.endWaits(c)
	case c.Status != 0:
		r.send(wire.Event{Status: r.status(c.Status, c.Look)}, nil)
	case c.Probe != 0:
		_, late := here.now()
		r.send(wire.Event{Probe: c.Probe, HeldUp: late}, nil)
	case c.Judge:
		here.look()
	case c.Input != nil:
		r.mu.Lock()
		if r.current == c.Input.Run {
			r.stdin.deliver(typedLine{string(payload), c.Input.End})
		}
		r.mu.Unlock()
	case c.Inspect != nil:
		go r.inspect(*c.Inspect)
	case c.Debug != nil:
		r.debugs <- *c.Debug
	}
}

// endWaits ends every wait of a run, unless the run has ended meanwhile. A rank that has moved since its wait
// was found to be in vain has no such wait: the end of another rank's wait may have released it.
func (r *Rank) endWaits(c wire.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != c.Run {
		return
	}
	ender, ends := r.Communicator.(session.WaitEnder)
	if !ends || !c.InVain {
		r.Communicator.Abort(c.Abort)
		return
	}
	if p, known := r.progress(); known && p.Moves != c.Moves {
		return
	}
	ender.EndWaits(c.Abort)
}

// interrupt interrupts a run. Cells arrive on a connection of their own, so the run may not be in
// hand yet; it is then interrupted when it begins.
func (r *Rank) interrupt(c wire.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.current == c.Cancel:
		r.cancel()
		r.Communicator.Abort(c.Abort)
	case c.Cancel > r.latest:
		r.early = c
	}
}

// Do carries out a job: it runs a cell, or a recovery. Jobs do not overlap.
func (r *Rank) Do(c wire.Command, payload []byte) {
	if c.Recover != nil {
		r.recover(c.Recover)
		return
	}
	r.run(r.enter(c.Eval.Run), c.Eval, string(payload))
}

// enter makes a run the one in hand, and returns its context.
func (r *Rank) enter(run uint64) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	r.current, r.latest, r.cancel = run, run, cancel
	here.begin(run)
	early := r.early
	r.mu.Unlock()
	if early.Cancel == run {
		r.interrupt(early)
	}
	return ctx
}

func (r *Rank) run(ctx context.Context, of *wire.Eval, source string) {
	r.stdin.reset(ctx)
	r.Begin(of.Run)
	if confined, ok := r.Communicator.(session.Confiner); ok {
		confined.Confine(of.Only)
	}
	if remembers, ok := r.Communicator.(session.CellCommunicator); ok {
		number := of.Cell.ID
		if of.Cell.Silent { // it has the number of the next cell
			number = 0
		}
		remembers.BeginCell(number)
	}
	result := session.Result{Err: r.sanitize(of.Cell.Sanitize)}
	r.Communicator.Begin(of.Run)
	if result.Err == nil {
		result.Err = changeFolder(of.Cell)
	}
	r.beginDebugged(ctx, of)
	if result.Err == nil {
		cell := of.Cell
		cell.Source = source
		result = r.Evaluator.Eval(ctx, cell)
	}
	if result.Err == nil && ctx.Err() != nil && r.stdin.wasCut() {
		result = session.Result{Err: &session.Error{Kind: session.KindInterrupted, Peer: -1, Msg: "interrupted"}}
	}
	r.mu.Lock()
	r.finishing = true
	r.mu.Unlock()
	if fault := r.Communicator.Finish(ctx); result.Err == nil {
		result.Err = fault
	}
	r.mu.Lock()
	r.current, r.finishing = 0, false
	r.cancel()
	r.mu.Unlock()
	if r.harm != nil {
		if why := r.harm(); why != "" {
			r.send(wire.Event{Died: &wire.Death{Cause: why}}, nil)
			return // the supervisor ends the process
		}
	}
	done := &wire.Done{
		Run: of.Run, HasValue: result.HasValue, Err: wire.ClipError(result.Err), Tallies: r.Communicator.Tallies(), Late: r.late(),
		Findings: r.Communicator.Findings(), Sanitizing: r.sanitizing(),
	}
	var payload []byte
	payload, done.Rich = wire.EncodeValue(result, wire.MaxRich)
	r.send(wire.Event{Done: done}, payload)
}

// beginDebugged gives the evaluator the breakpoints of a cell, and no others. What the debugger commanded
// before the cell may arrive after it, on the other connection; the cell waits for these commands, so that
// none of them lets it go on or makes it stand.
func (r *Rank) beginDebugged(ctx context.Context, of *wire.Eval) {
	if !of.Follows {
		return
	}
	for begun := uint64(0); begun != of.Run; {
		select {
		case begun = <-r.begins:
		case <-ctx.Done():
			return
		}
	}
	if stands, can := r.Evaluator.(session.DebuggedEvaluator); can {
		stands.LeaveDebugger()
		stands.Break(of.Breaks)
	}
}

func (r *Rank) recover(of *wire.Recovery) {
	ctx, cancel := context.WithTimeout(context.Background(), of.Timeout)
	defer cancel()
	lost, err := r.Communicator.Recover(ctx, of.Replaced)
	e := &wire.Recovered{ID: of.ID, Lost: lost}
	if err != nil {
		e.Err = err.Error()
	}
	r.send(wire.Event{Recovered: e}, nil)
}

func (r *Rank) inspect(q wire.Question) {
	a, err := r.Evaluator.Inspect(context.Background(), q.Query)
	a.Text = wire.Clip(a.Text, wire.MaxPayload/2)
	payload, unencodable := json.Marshal(a)
	if err = cmp.Or(err, unencodable); err == nil && len(payload) > wire.MaxPayload {
		err = fmt.Errorf("the answer is too long (%d bytes)", len(payload))
	}
	e := &wire.Answer{ID: q.ID}
	if err != nil {
		e.Err, payload = wire.ClipError(session.AsError(err)), nil
	}
	r.send(wire.Event{Answer: e}, payload)
}

// debug carries out commands for the evaluator in their order. It may wait while a cell is compiled,
// and the goroutine that reads commands must not.
func (r *Rank) debug() {
	stands, can := r.Evaluator.(session.DebuggedEvaluator)
	for c := range r.debugs {
		switch {
		case c.Begin != 0:
			r.begins <- c.Begin
		case !can:
		case c.Breaks != nil:
			stands.Break(c.Breaks)
		case c.Resume != "":
			stands.Resume(c.Resume)
		case c.Pause:
			stands.Pause()
		case c.Leave:
			stands.LeaveDebugger()
		}
	}
}

// stopped reports that code of the cell stands.
func (r *Rank) stopped(reason session.StopReason, at session.Place) {
	r.mu.Lock()
	run := r.current
	r.mu.Unlock()
	r.send(wire.Event{Stopped: &wire.Stopped{Run: run, Reason: reason, Place: at}}, nil)
}

func (r *Rank) send(e wire.Event, payload []byte) {
	e.Incarnation = r.Incarnation
	r.Emit(e, payload)
}

// sanitize makes the change of the sanitizer before a cell.
func (r *Rank) sanitize(s *session.Sanitizing) *session.Error {
	if s == nil {
		return nil
	}
	if able, ok := r.Communicator.(session.SanitizingCommunicator); ok {
		return able.Sanitize(*s)
	}
	return &session.Error{Kind: session.KindSystem, Peer: -1, Msg: "these ranks have no sanitizer"}
}

// sanitizing returns the sanitizer's state.
func (r *Rank) sanitizing() (s session.Sanitizing) {
	if able, ok := r.Communicator.(session.SanitizingCommunicator); ok {
		s = able.Sanitizing()
	}
	return s
}
