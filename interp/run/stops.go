package run

import (
	"context"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// A goroutine of a debugged cell stands before a statement: the step of StopAt, which precedes the
// statement, does not return until the debugger lets the goroutine go on or the cell is stopped.
// One goroutine stands at a time; another one that reaches a breakpoint meanwhile waits for its
// turn. As long as there are no breakpoints and nothing is stepped or paused, the step only reads a
// flag.

// Way is a way in which a goroutine that stands goes on.
type Way int

const (
	GoOn     Way = iota // up to the next breakpoint
	StepOver            // up to the next statement of the function or of its callers
	StepIn              // up to the next statement
	StepOut             // up to the next statement of a caller
)

// Reason is the reason why a goroutine stands.
type Reason int

const (
	none Reason = iota
	AtBreakpoint
	AfterStep
	Paused
)

// stops is the debugger's state.
type stops struct {
	armed  atomic.Bool // a point may have a breakpoint, or a goroutine is stepped or to be paused
	points sync.Map    // *Point by ID

	mu       sync.Mutex
	breaks   bool // a point has a breakpoint
	pausing  bool
	stepped  int64          // the goroutine that is stepped, 0 if none is
	deepest  int            // how many calls it may be in when it stands again
	passing  map[int64]bool // goroutines that never stand
	standing *Standing
	told     func(*Standing) // see OnStop
	left     chan struct{}   // closed when standing ends; nil if no goroutine stands
	halted   bool            // an execution was stopped: nothing stands until the next one begins
}

// Standing is a goroutine that stands.
type Standing struct {
	Reason Reason
	Frames []StandingFrame // its calls, the innermost first; only of functions that have points

	goroutine int64
	depth     int      // how many calls of traced functions the goroutine is in
	resume    chan Way // holds one
}

// StandingFrame is a call that a goroutine that stands is in.
type StandingFrame struct {
	Function  string // as package runtime names it
	Pos       token.Pos
	Variables []FrameVariable // visible there, the innermost first
}

// FrameVariable is a local variable of a call.
type FrameVariable struct {
	contract.PointVariable
	Value reflect.Value // the variable itself, in yaegi's memory
}

// AddPoints makes the points of a cell known. It is called before the cell is compiled.
func (rt *Runtime) AddPoints(list []*contract.Point) {
	for _, p := range list {
		rt.stops.points.Store(p.ID, p)
	}
}

// DropPoints forgets points whose code is gone or was never compiled.
func (rt *Runtime) DropPoints(list []*contract.Point) {
	for _, p := range list {
		rt.stops.points.Delete(p.ID)
	}
}

// OnStop sets the function that a goroutine calls when it begins to stand. The function must return
// soon; it may call Standing and Resume.
func (rt *Runtime) OnStop(told func(*Standing)) {
	rt.stops.mu.Lock()
	defer rt.stops.mu.Unlock()
	rt.stops.told = told
}

// Arm sets whether any point has a breakpoint.
func (rt *Runtime) Arm(breaks bool) {
	s := &rt.stops
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = breaks
	s.arm()
}

// Pause makes the first goroutine that reaches a point stand.
func (rt *Runtime) Pause() {
	s := &rt.stops
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pausing = true
	s.arm()
}

// Standing returns the goroutine that stands, nil if none does. What it refers to may be used until
// Resume is called.
func (rt *Runtime) Standing() *Standing {
	rt.stops.mu.Lock()
	defer rt.stops.mu.Unlock()
	return rt.stops.standing
}

// Resume makes the goroutine that stands go on. It returns false if none stands.
func (rt *Runtime) Resume(way Way) bool {
	s := &rt.stops
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standing == nil {
		return false
	}
	select {
	case s.standing.resume <- way:
	default: // it goes on already
	}
	return true
}

// ResumeFreely makes the goroutine that stands go on, and ends steps and pauses.
func (rt *Runtime) ResumeFreely() {
	rt.stops.forget()
	rt.Resume(GoOn)
}

// Evaluating runs f on a new goroutine, as code of the running cell that never stands, and returns
// when f has ended. Positions and values that f shows do not replace the cell's.
func (rt *Runtime) Evaluating(f func()) {
	x := rt.current()
	x.alive.Add(1)
	rt.started()
	mark, call := *rt.Stacks.Mark, *rt.Stacks.CallMark
	defer rt.setAside()()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer rt.goroutineEnded(x)
		defer rt.enter(x)()
		defer rt.stops.pass()()
		f()
	}()
	<-done
	*rt.Stacks.Mark, *rt.Stacks.CallMark = mark, call
}

// forget ends steps and pauses.
func (s *stops) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pausing, s.stepped = false, 0
	s.arm()
}

// halt sets whether an execution was stopped, so that the deferred calls that remain do not stand.
func (s *stops) halt(halted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halted = halted
	if halted {
		s.pausing, s.stepped = false, 0
	}
	s.arm()
}

// arm updates armed. s.mu is held.
func (s *stops) arm() { s.armed.Store(!s.halted && (s.breaks || s.pausing || s.stepped != 0)) }

// pass makes the calling goroutine pass all points until end is called.
func (s *stops) pass() (end func()) {
	id := goid.Get()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passing == nil {
		s.passing = map[int64]bool{}
	}
	s.passing[id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.passing, id)
	}
}

// stoppingAt gives a call of StopAt its step.
func (rt *Runtime) stoppingAt(node *yaegi.Node, in *stacks.Scope) {
	list := node.Children()
	id, _ := strconv.Atoi(list[1].Name())
	known, ok := rt.stops.points.Load(id)
	if !ok {
		node.Generate(stacks.DoingNothing)
		return
	}
	p := &stacks.Point{Point: known.(*contract.Point)}
	in.Point = p
	variables := list[2:]
	node.Generate(func(next yaegi.Step) yaegi.Step {
		p.Visible = nil
		for i, v := range variables {
			if place, ok := v.Result(); ok {
				p.Visible = append(p.Visible, stacks.Variable{PointVariable: p.Variables[i], Place: place})
			}
		}
		f := in.Function
		return func(frame *yaegi.Frame) yaegi.Step {
			if rt.stops.armed.Load() {
				rt.reach(stacks.Call{Function: f, At: int(p.Pos), Point: p, Frame: frame})
				if rt.abandoned.Load() > 0 { // it may have stood until the execution was stopped
					rt.leaveAbandoned()
				}
			}
			return next
		}
	})
}

// reach makes the calling goroutine stand at the point of at, if it has to.
func (rt *Runtime) reach(at stacks.Call) {
	s, id, depth := &rt.stops, goid.Get(), max(rt.Stacks.Depth(), 1)
	ctx := rt.context()
	for {
		s.mu.Lock()
		reason := s.reason(at.Point.Point, id, depth)
		if reason == none || s.standing == nil {
			if reason == none {
				s.mu.Unlock()
				return
			}
			standing := &Standing{Reason: reason, goroutine: id, depth: depth, Frames: framesOf(rt.Stacks.Calls(at)), resume: make(chan Way, 1)}
			s.standing, s.left, s.pausing, s.stepped = standing, make(chan struct{}), false, 0
			s.arm()
			told := s.told
			s.mu.Unlock()
			rt.stand(ctx, standing, told, at.Point.Pos)
			return
		}
		left := s.left
		s.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			return
		}
	}
}

// reason returns the reason why a goroutine with a number of calls stands at a point. s.mu is held.
func (s *stops) reason(p *contract.Point, goroutine int64, depth int) Reason {
	switch {
	case s.halted || s.passing[goroutine]:
		return none
	case p.Breaks():
		return AtBreakpoint
	case s.stepped != 0 && goroutine == s.stepped && depth <= s.deepest:
		return AfterStep
	case s.pausing:
		return Paused
	}
	return none
}

// stand returns when the goroutine goes on. Meanwhile its position is the point's.
func (rt *Runtime) stand(ctx context.Context, standing *Standing, told func(*Standing), at token.Pos) {
	s, mark := &rt.stops, *rt.Stacks.Mark
	*rt.Stacks.Mark = int(at)
	if told != nil {
		told(standing)
	} else {
		standing.resume <- GoOn
	}
	way := GoOn
	select {
	case way = <-standing.resume:
		*rt.Stacks.Mark = mark
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const anyDepth = 1 << 30
	deepest, steps := map[Way]int{StepIn: anyDepth, StepOver: standing.depth, StepOut: standing.depth - 1}[way]
	if steps && ctx.Err() == nil {
		s.stepped, s.deepest = standing.goroutine, deepest
	}
	s.standing = nil
	close(s.left)
	s.arm()
}

// framesOf returns the calls of a goroutine, given outermost first, of functions that have points.
func framesOf(calls []stacks.Call) (list []StandingFrame) {
	for _, c := range slices.Backward(calls) {
		if c.Point == nil {
			continue
		}
		f := StandingFrame{Function: "main", Pos: c.Point.Pos}
		if c.Function != nil {
			f.Function = c.Function.Name
		}
		for _, v := range c.Point.Visible {
			f.Variables = append(f.Variables, FrameVariable{v.PointVariable, v.In(c.Frame).Reflect()})
		}
		list = append(list, f)
	}
	return list
}
