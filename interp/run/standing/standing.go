package standing

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

// Stops are the points of a session and the goroutine that stands.
type Stops struct {
	stacks  *stacks.Stacks
	context func() context.Context
	leave   func()

	armed  atomic.Bool // a point may have a breakpoint, or a goroutine is stepped or to be paused
	points sync.Map    // *Point by ID

	mu       sync.Mutex
	breaks   bool // a point has a breakpoint
	pausing  bool
	stepped  int64          // the goroutine that is stepped, 0 if none is
	deepest  int            // how many calls it may be in when it stands again
	passing  map[int64]bool // goroutines that never stand
	standing *Goroutine
	told     func(*Goroutine) // see OnStop
	left     chan struct{}    // closed when standing ends; nil if no goroutine stands
	halted   bool             // an execution was stopped: nothing stands until the next one begins
}

// Goroutine is a goroutine that stands.
type Goroutine struct {
	Reason Reason
	Frames []Frame // its calls, the innermost first; only of functions that have points

	goroutine int64
	depth     int      // how many calls of traced functions the goroutine is in
	resume    chan Way // holds one
}

// Frame is a call that a goroutine that stands is in.
type Frame struct {
	Function  string // as package standingtime names it
	Pos       token.Pos
	Variables []Variable // visible there, the innermost first
}

// Variable is a local variable of a call.
type Variable struct {
	contract.PointVariable
	Value reflect.Value // the variable itself, in yaegi's memory
}

// New returns stops without points. Context returns the context that ends when code of cells has to
// stop. Leave is called after a goroutine has stood; it ends the goroutine if its execution is over.
func New(stacks *stacks.Stacks, context func() context.Context, leave func()) *Stops {
	return &Stops{stacks: stacks, context: context, leave: leave}
}

// AddPoints makes the points of a cell known. It is called before the cell is compiled.
func (s *Stops) AddPoints(list []*contract.Point) {
	for _, p := range list {
		s.points.Store(p.ID, p)
	}
}

// DropPoints forgets points whose code is gone or was never compiled.
func (s *Stops) DropPoints(list []*contract.Point) {
	for _, p := range list {
		s.points.Delete(p.ID)
	}
}

// OnStop sets the function that a goroutine calls when it begins to stand. The function must return
// soon; it may call Standing and Resume.
func (s *Stops) OnStop(told func(*Goroutine)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = told
}

// Arm sets whether any point has a breakpoint.
func (s *Stops) Arm(breaks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breaks = breaks
	s.update()
}

// Pause makes the first goroutine that reaches a point stand.
func (s *Stops) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pausing = true
	s.update()
}

// Standing returns the goroutine that stands, nil if none does. What it refers to may be used until
// Resume is called.
func (s *Stops) Standing() *Goroutine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing
}

// Resume makes the goroutine that stands go on. It returns false if none stands.
func (s *Stops) Resume(way Way) bool {
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
func (s *Stops) ResumeFreely() {
	s.Forget()
	s.Resume(GoOn)
}

// Forget ends steps and pauses.
func (s *Stops) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pausing, s.stepped = false, 0
	s.update()
}

// Halt sets whether an execution was stopped, so that the deferred calls that remain do not stand.
func (s *Stops) Halt(halted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halted = halted
	if halted {
		s.pausing, s.stepped = false, 0
	}
	s.update()
}

// update updates armed. s.mu is held.
func (s *Stops) update() { s.armed.Store(!s.halted && (s.breaks || s.pausing || s.stepped != 0)) }

// Pass makes the calling goroutine pass all points until end is called.
func (s *Stops) Pass() (end func()) {
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

// Stopping gives a call of StopAt its step.
func (s *Stops) Stopping(node *yaegi.Node, in *stacks.Scope) {
	list := node.Children()
	id, _ := strconv.Atoi(list[1].Name())
	known, ok := s.points.Load(id)
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
			if s.armed.Load() {
				s.reach(stacks.Call{Function: f, At: int(p.Pos), Point: p, Frame: frame})
				s.leave() // it may have stood until the execution was stopped
			}
			return next
		}
	})
}

// reach makes the calling goroutine stand at the point of at, if it has to.
func (s *Stops) reach(at stacks.Call) {
	id, depth := goid.Get(), max(s.stacks.Depth(), 1)
	ctx := s.context()
	for {
		s.mu.Lock()
		reason := s.reason(at.Point.Point, id, depth)
		if reason == none || s.standing == nil {
			if reason == none {
				s.mu.Unlock()
				return
			}
			standing := &Goroutine{Reason: reason, goroutine: id, depth: depth, Frames: framesOf(s.stacks.Calls(at)), resume: make(chan Way, 1)}
			s.standing, s.left, s.pausing, s.stepped = standing, make(chan struct{}), false, 0
			s.update()
			told := s.told
			s.mu.Unlock()
			s.stand(ctx, standing, told, at.Point.Pos)
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
func (s *Stops) reason(p *contract.Point, goroutine int64, depth int) Reason {
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
func (s *Stops) stand(ctx context.Context, standing *Goroutine, told func(*Goroutine), at token.Pos) {
	mark := *s.stacks.Mark
	*s.stacks.Mark = int(at)
	if told != nil {
		told(standing)
	} else {
		standing.resume <- GoOn
	}
	way := GoOn
	select {
	case way = <-standing.resume:
		*s.stacks.Mark = mark
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
	s.update()
}

// framesOf returns the calls of a goroutine, given outermost first, of functions that have points.
func framesOf(calls []stacks.Call) (list []Frame) {
	for _, c := range slices.Backward(calls) {
		if c.Point == nil {
			continue
		}
		f := Frame{Function: "main", Pos: c.Point.Pos}
		if c.Function != nil {
			f.Function = c.Function.Name
		}
		for _, v := range c.Point.Visible {
			f.Variables = append(f.Variables, Variable{v.PointVariable, v.In(c.Frame).Reflect()})
		}
		list = append(list, f)
	}
	return list
}
