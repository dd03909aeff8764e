package run

import (
	"go/token"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
)

// The stack of a goroutine that runs code of cells shows functions of the interpreter. Once a cell
// uses the functions of package runtime that report stacks, the functions of that cell and of later
// cells begin with a call of Enter, and their calls record, for each goroutine, which functions of
// cells it is in. Other code pays nothing.

// tracedFunction is a function of a cell that begins with Enter.
type tracedFunction struct {
	name string // as package runtime writes it: main.(*T).M.func1
	top  bool   // it consists of the statements of a cell
}

// callFrame is a call of a function that has not returned.
type callFrame struct {
	function *tracedFunction
	at       int // the position of the call that it makes, or where it panicked
	// the statement of the call and the function's variables, if the function has points: see
	// stops.go
	point *pointStep
	frame *yaegi.Frame
}

// callStack is the stack of calls of a goroutine, outermost first.
type callStack struct {
	frames []callFrame
	main   bool // the goroutine runs the statements of a cell
}

// callStacks has the stacks of all goroutines that are in traced functions.
type callStacks struct {
	by     sync.Map // *callStack by goroutine number
	points tracePoints
}

// current returns the stack of the calling goroutine, nil if it has none.
func (s *callStacks) current() *callStack {
	if g, ok := s.by.Load(goid.Get()); ok {
		return g.(*callStack)
	}
	return nil
}

// push enters a function. If the statements of a cell call main or an init function, that function
// replaces them on the stack, because in a program package runtime calls it.
func (g *callStack) push(f *tracedFunction) {
	if len(g.frames) == 1 && g.frames[0].function.top && (f.name == mainFunction || strings.HasPrefix(f.name, initFunction)) {
		g.frames[0] = callFrame{function: f}
		return
	}
	g.frames = append(g.frames, callFrame{function: f})
}

// Names of functions that package runtime calls.
const (
	mainFunction = "main.main"
	initFunction = "main.init."
)

// scope describes the code around a node: the function that it belongs to, if that is traced.
type scope struct {
	traced bool // calls record the stack
	// the function whose calls have positions; nil in functions that only lowered code has
	function *tracedFunction
	outer    *scope
	point    *pointStep // of the statement that was walked last; nil if the function has no points
}

// enter returns the scope of a function that is declared in s.
func (s *scope) enter() *scope { return &scope{traced: s.traced, outer: s} }

// entering is the step of Enter(name, end, top), the first call of a function. Lowered code that
// splits a function calls Enter("", end, false) in the parts.
func (rt *Runtime) entering(s *scope, name string, top bool) func(next yaegi.Step) yaegi.Step {
	s.traced = true
	if name == "" {
		s.function = s.outer.function
		return doingNothing
	}
	f := &tracedFunction{name, top}
	s.function = f
	return func(next yaegi.Step) yaegi.Step {
		return func(*yaegi.Frame) yaegi.Step {
			if g := rt.callers.current(); g != nil {
				g.push(f)
			}
			return next
		}
	}
}

// leaving is the step of Leave(position).
func (rt *Runtime) leaving(position int) func(next yaegi.Step) yaegi.Step {
	return func(next yaegi.Step) yaegi.Step {
		return func(*yaegi.Frame) yaegi.Step {
			if g := rt.callers.current(); g != nil && len(g.frames) > 0 {
				g.frames[len(g.frames)-1].at = position
			}
			return next
		}
	}
}

// calling returns a step that records a call at a position and then runs yaegi's step call. point
// is the point of the call's statement, if it has one.
func (rt *Runtime) calling(s *scope, position int, point *pointStep, call yaegi.Step) yaegi.Step {
	return func(frame *yaegi.Frame) yaegi.Step {
		g := rt.callers.current()
		if g == nil {
			return rt.callingFirst(callFrame{s.function, position, point, frame}, call)
		}
		height := len(g.frames)
		if height > 0 && s.function != nil {
			top := &g.frames[height-1]
			top.at, top.point, top.frame = position, point, frame
		}
		next := call(frame)
		g.frames = g.frames[:height]
		return next
	}
}

// callingFirst makes the first call of a goroutine that is in no traced function except from's,
// which may be nil.
func (rt *Runtime) callingFirst(from callFrame, call yaegi.Step) yaegi.Step {
	g, id := &callStack{}, goid.Get()
	if f := from.function; f != nil {
		g.frames, g.main = []callFrame{from}, f.top
	}
	rt.callers.by.Store(id, g)
	defer rt.callers.by.Delete(id)
	return call(from.frame)
}

// stackOfDefers is the stack as the deferred calls of a function call see it.
type stackOfDefers struct {
	*callStack
	height int
}

// deferring returns the stackOfDefers of the calling goroutine and of the innermost function that
// it is in.
func (s *callStacks) deferring() stackOfDefers {
	g := s.current()
	if g == nil {
		return stackOfDefers{}
	}
	return stackOfDefers{g, len(g.frames)}
}

// panicked returns the stack of a panic that began at position at and was recovered, and cuts the
// stack back to the function with the deferred calls.
func (s stackOfDefers) panicked(value any, at int) []callFrame {
	if s.callStack == nil || s.height == 0 {
		return nil
	}
	frames := slices.Clone(s.frames)
	frames[len(frames)-1].at = at
	for _, name := range panicking(value) {
		frames = append(frames, callFrame{function: &tracedFunction{name: "runtime." + name}})
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
func (rt *Runtime) stack() []tracePoint {
	s := &rt.callers
	list := []tracePoint{s.points.ofRuntime("runtime.Callers")}
	g := s.current()
	if g == nil {
		g = &callStack{}
	}
	for _, f := range slices.Backward(g.frames) {
		if strings.HasPrefix(f.function.name, "runtime.") {
			list = append(list, s.points.ofRuntime(f.function.name))
			continue
		}
		file, line := rt.fileLine(token.Pos(f.at))
		list = append(list, tracePoint{f.function.name, file, line})
	}
	if g.main {
		list = append(list, s.points.ofRuntime("runtime.main"))
	}
	return append(list, s.points.ofRuntime("runtime.goexit"))
}

// runtimeCallers is runtime.Callers.
func (rt *Runtime) runtimeCallers(skip int, pcs []uintptr) int {
	list := rt.stack()
	list = list[min(max(skip, 0), len(list)):]
	n := min(len(list), len(pcs))
	for i, p := range list[:n] {
		pcs[i] = rt.callers.points.counter(p)
	}
	return n
}

// runtimeCaller is runtime.Caller.
func (rt *Runtime) runtimeCaller(skip int) (pc uintptr, file string, line int, ok bool) {
	list := rt.stack()
	if skip < -1 || skip+1 >= len(list) {
		return 0, "", 0, false
	}
	p := list[skip+1]
	return rt.callers.points.counter(p), p.file, p.line, true
}

// runtimeFrames is runtime.CallersFrames.
func (rt *Runtime) runtimeFrames(pcs []uintptr) *runtime.Frames {
	var list []runtime.Frame
	for _, pc := range pcs {
		if p, f := rt.callers.points.at(pc); f != nil {
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

// doingNothing is the step of a call that only gives information to the walk of the tree.
func doingNothing(next yaegi.Step) yaegi.Step { return func(*yaegi.Frame) yaegi.Step { return next } }
