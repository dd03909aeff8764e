package stacks

import (
	"go/token"
	"runtime"
	"slices"
	"strings"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// The stack of a goroutine that runs code of cells shows functions of the interpreter. Once a cell
// uses the functions of package runtime that report stacks, the functions of that cell and of later
// cells begin with a call of Enter, and their calls record, for each goroutine, which functions of
// cells it is in. Other code pays nothing.

// Function is a function of a cell that begins with Enter.
type Function struct {
	Name string // as package runtime writes it: main.(*T).M.func1
	top  bool   // it consists of the statements of a cell
}

// Call is a call of a function that has not returned.
type Call struct {
	Function *Function
	At       int // the position of the call that it makes, or where it panicked
	// the statement of the call and the function's variables, if the function has points
	Point *Point
	Frame *yaegi.Frame
}

// Point is a statement before which a goroutine can stand, in the code that runs.
type Point struct {
	*contract.Point
	Visible []Variable // there
}

// Variable is a local variable in the frame of its function.
type Variable struct {
	contract.PointVariable
	yaegi.Place
}

// callStack is the stack of calls of a goroutine, outermost first.
type callStack struct {
	frames []Call
	main   bool // the goroutine runs the statements of a cell
}

// current returns the stack of the calling goroutine, nil if it has none.
func (s *Stacks) current() *callStack {
	if g, ok := s.by.Load(goid.Get()); ok {
		return g.(*callStack)
	}
	return nil
}

// push enters a function. If the statements of a cell call main or an init function, that function
// replaces them on the stack, because in a program package runtime calls it.
func (g *callStack) push(f *Function) {
	if len(g.frames) == 1 && g.frames[0].Function.top && (f.Name == mainFunction || strings.HasPrefix(f.Name, initFunction)) {
		g.frames[0] = Call{Function: f}
		return
	}
	g.frames = append(g.frames, Call{Function: f})
}

// Names of functions that package runtime calls.
const (
	mainFunction = "main.main"
	initFunction = "main.init."
)

// Scope describes the code around a node: the function that it belongs to, if that is traced.
type Scope struct {
	Traced bool // calls record the stack
	// the function whose calls have positions; nil in functions that only lowered code has
	Function *Function
	outer    *Scope
	Point    *Point // of the statement that was walked last; nil if the function has no points
}

// Enter returns the scope of a function that is declared in s.
func (s *Scope) Enter() *Scope { return &Scope{Traced: s.Traced, outer: s} }

// Entering returns the step of Enter(name, end, top), the first call of a function whose scope is in.
// Lowered code that splits a function calls Enter("", end, false) in the parts.
func (s *Stacks) Entering(in *Scope, name string, top bool) func(next yaegi.Step) yaegi.Step {
	in.Traced = true
	if name == "" {
		in.Function = in.outer.Function
		return DoingNothing
	}
	f := &Function{name, top}
	in.Function = f
	return func(next yaegi.Step) yaegi.Step {
		return func(*yaegi.Frame) yaegi.Step {
			if g := s.current(); g != nil {
				g.push(f)
			}
			return next
		}
	}
}

// Leaving returns the step of Leave(position).
func (s *Stacks) Leaving(position int) func(next yaegi.Step) yaegi.Step {
	return func(next yaegi.Step) yaegi.Step {
		return func(*yaegi.Frame) yaegi.Step {
			if g := s.current(); g != nil && len(g.frames) > 0 {
				g.frames[len(g.frames)-1].At = position
			}
			return next
		}
	}
}

// DoingNothing is the step of a call that only gives information to the walk of the tree.
func DoingNothing(next yaegi.Step) yaegi.Step { return func(*yaegi.Frame) yaegi.Step { return next } }

// Calling returns a step that records a call at a position and then runs yaegi's step call. Point
// is the point of the call's statement, if it has one.
func (s *Stacks) Calling(in *Scope, position int, point *Point, call yaegi.Step) yaegi.Step {
	return func(frame *yaegi.Frame) yaegi.Step {
		g := s.current()
		if g == nil {
			return s.callingFirst(Call{in.Function, position, point, frame}, call)
		}
		height := len(g.frames)
		if height > 0 && in.Function != nil {
			top := &g.frames[height-1]
			top.At, top.Point, top.Frame = position, point, frame
		}
		next := call(frame)
		g.frames = g.frames[:height]
		return next
	}
}

// callingFirst makes the first call of a goroutine that is in no traced function except from's,
// which may be nil.
func (s *Stacks) callingFirst(from Call, call yaegi.Step) yaegi.Step {
	g, id := &callStack{}, goid.Get()
	if f := from.Function; f != nil {
		g.frames, g.main = []Call{from}, f.top
	}
	s.by.Store(id, g)
	defer s.by.Delete(id)
	return call(from.Frame)
}

// Depth returns the number of traced functions that the calling goroutine is in.
func (s *Stacks) Depth() int {
	if g := s.current(); g != nil {
		return len(g.frames)
	}
	return 0
}

// Calls returns the calls of the calling goroutine, outermost first. The innermost one is at.
func (s *Stacks) Calls(at Call) []Call {
	if g := s.current(); g != nil && len(g.frames) > 0 {
		calls := slices.Clone(g.frames)
		calls[len(calls)-1] = at
		return calls
	}
	return []Call{at}
}

// stackOfDefers is the stack as the deferred calls of a function call see it.
type stackOfDefers struct {
	*callStack
	height int
}

// deferring returns the stackOfDefers of the calling goroutine and of the innermost function that
// it is in.
func (s *Stacks) deferring() stackOfDefers {
	g := s.current()
	if g == nil {
		return stackOfDefers{}
	}
	return stackOfDefers{g, len(g.frames)}
}

// panicked returns the stack of a panic that began at position at and was recovered, and cuts the
// stack back to the function with the deferred calls.
func (s stackOfDefers) panicked(value any, at int) []Call {
	if s.callStack == nil || s.height == 0 {
		return nil
	}
	frames := slices.Clone(s.frames)
	frames[len(frames)-1].At = at
	for _, name := range panicking(value) {
		frames = append(frames, Call{Function: &Function{Name: "runtime." + name}})
	}
	s.frames = s.frames[:s.height]
	return frames
}

// enter makes the stack describe a deferred call that runs because of the panic p, until leave is
// called.
func (s stackOfDefers) enter(p *Panic) (leave func()) {
	if s.callStack == nil || s.height == 0 {
		return func() {}
	}
	under := slices.Clone(s.frames[:s.height])
	if !p.Recovered && p.frames != nil {
		under = slices.Clone(p.frames)
	}
	was := s.frames[:s.height]
	s.frames = under
	return func() { s.frames = was }
}

// panicking returns the functions of package runtime through which a panic with the value goes,
// outermost first.
func panicking(value any) []string {
	text := ""
	if e, ok := value.(runtime.Error); ok {
		text = e.Error()
	}
	for _, p := range []struct {
		text      string
		functions []string
	}{
		{"nil pointer dereference", []string{"sigpanic", "panicmem"}},
		{"out of range [", []string{"panicBounds", "panicBounds64"}},
		{"cannot convert slice", []string{"panicBounds", "panicBounds64"}},
		{"divide by zero", []string{"panicdivide"}},
		{"negative shift amount", []string{"panicshift"}},
		{"missing method", []string{"typeAssert", "getitab"}},
		{"interface conversion", []string{"panicdottypeE"}},
	} {
		if strings.Contains(text, p.text) {
			return append(p.functions, "gopanic")
		}
	}
	return []string{"gopanic"}
}

// stack returns the points of the calling goroutine's stack, innermost first: the call of
// runtime.Callers and the calls that functions of cells make. It does not know calls inside
// compiled functions between them.
func (s *Stacks) stack() []tracePoint {
	list := []tracePoint{s.points.ofRuntime("runtime.Callers")}
	g := s.current()
	if g == nil {
		g = &callStack{}
	}
	for _, f := range slices.Backward(g.frames) {
		if strings.HasPrefix(f.Function.Name, "runtime.") {
			list = append(list, s.points.ofRuntime(f.Function.Name))
			continue
		}
		file, line := s.FileLine(token.Pos(f.At))
		list = append(list, tracePoint{f.Function.Name, file, line})
	}
	if g.main {
		list = append(list, s.points.ofRuntime("runtime.main"))
	}
	return append(list, s.points.ofRuntime("runtime.goexit"))
}

// Callers is runtime.Callers.
func (s *Stacks) Callers(skip int, pcs []uintptr) int {
	list := s.stack()
	list = list[min(max(skip, 0), len(list)):]
	n := min(len(list), len(pcs))
	for i, p := range list[:n] {
		pcs[i] = s.points.counter(p)
	}
	return n
}

// Caller is runtime.Caller.
func (s *Stacks) Caller(skip int) (pc uintptr, file string, line int, ok bool) {
	list := s.stack()
	if skip < -1 || skip+1 >= len(list) {
		return 0, "", 0, false
	}
	p := list[skip+1]
	return s.points.counter(p), p.file, p.line, true
}

// Frames is runtime.CallersFrames.
func (s *Stacks) Frames(pcs []uintptr) *runtime.Frames {
	var list []runtime.Frame
	for _, pc := range pcs {
		if p, f := s.points.at(pc); f != nil {
			list = append(list, runtime.Frame{PC: pc - 1, Func: f, Function: p.name, File: p.file, Line: p.line, Entry: pc - 1})
			continue
		}
		compiled := runtime.CallersFrames([]uintptr{pc})
		for more := true; more; {
			var f runtime.Frame
			if f, more = compiled.Next(); f.PC != 0 {
				list = append(list, f)
			}
		}
	}
	frames, _ := unexported.Frames(list)
	return frames
}
