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

// The stack of a goroutine that runs code of cells is one of functions of the interpreter. Once a cell asks for what package runtime tells of it, the functions of
// that cell and of later ones begin with Enter, and their calls keep, for each goroutine, the functions of cells that it is in. Other code pays nothing.

// tracedFunction is a function of a cell that begins with Enter.
type tracedFunction struct {
	name string // as package runtime has it: main.(*T).M.func1
	top  bool   // it is the statements of a cell
}

// callFrame is a call of a function that has not returned.
type callFrame struct {
	function *tracedFunction
	at       int // the position of what it calls, or where it panicked
}

// callStack is the calls of a goroutine, outermost first.
type callStack struct {
	frames []callFrame
	main   bool // the goroutine runs the statements of a cell
}

// callStacks are those of all goroutines that are in traced functions.
type callStacks struct {
	by     sync.Map // *callStack by the number of the goroutine
	points tracePoints
}

// current returns the stack of the calling goroutine, nil if it has none.
func (s *callStacks) current() *callStack {
	if g, ok := s.by.Load(goid.Get()); ok {
		return g.(*callStack)
	}
	return nil
}

// push enters a function. The function main, or init, that the statements of a cell call is called by package runtime, as in a program.
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

// scope is where in a tree code is: the function it belongs to, if that is traced.
type scope struct {
	traced   bool            // calls keep the stack
	function *tracedFunction // whose calls have positions; nil in functions that only lowered code has
	outer    *scope
}

// enter returns the scope of a function in s.
func (s *scope) enter() *scope { return &scope{traced: s.traced, outer: s} }

// entering is the step of Enter(name, end, top), the first of a function's, or of Enter("", end, false) in a part of the function around it.
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

// calling is the step of a call at a position, which yaegi's step makes.
func (rt *Runtime) calling(s *scope, position int, call yaegi.Step) yaegi.Step {
	return func(frame *yaegi.Frame) yaegi.Step {
		g := rt.callers.current()
		if g == nil {
			return rt.callingFirst(s.function, position, call, frame)
		}
		height := len(g.frames)
		if height > 0 && s.function != nil {
			g.frames[height-1].at = position
		}
		next := call(frame)
		g.frames = g.frames[:height]
		return next
	}
}

// callingFirst makes the first call of a goroutine that is in no traced function but f, which may be nil.
func (rt *Runtime) callingFirst(f *tracedFunction, position int, call yaegi.Step, frame *yaegi.Frame) yaegi.Step {
	g, id := &callStack{}, goid.Get()
	if f != nil {
		g.frames, g.main = []callFrame{{f, position}}, f.top
	}
	rt.callers.by.Store(id, g)
	defer rt.callers.by.Delete(id)
	return call(frame)
}

// stackOfDefers is what the deferred calls of one call of a function have to know of the stack.
type stackOfDefers struct {
	*callStack
	height int
}

// deferring returns it for the calling goroutine and the innermost function that it is in.
func (s *callStacks) deferring() stackOfDefers {
	g := s.current()
	if g == nil {
		return stackOfDefers{}
	}
	return stackOfDefers{g, len(g.frames)}
}

// panicked returns the stack of a panic that was recovered from, which began at a position, and goes back to the function with the deferred calls.
func (s stackOfDefers) panicked(value any, at int) []callFrame {
	if s.callStack == nil || s.height == 0 {
		return nil
	}
	frames := slices.Clone(s.frames)
	frames[len(frames)-1].at = at
	for _, name := range panicking(value) {
		frames = append(frames, callFrame{&tracedFunction{name: "runtime." + name}, 0})
	}
	s.frames = s.frames[:s.height]
	return frames
}

// enter makes the stack that of a deferred call under a panic, until leave.
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

// panicking names the functions of package runtime through which a panic with a value goes, outermost first.
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

// stack returns the points of the calling goroutine's stack, innermost first: the call of runtime.Callers and those of functions of cells. What compiled functions
// between them do is not known.
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

// doingNothing is the step of what only the tree tells.
func doingNothing(next yaegi.Step) yaegi.Step { return func(*yaegi.Frame) yaegi.Step { return next } }
