package stacks

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/petermattis/goid"
)

// A stack as text shows the functions of cells that callstack.go records. It is formatted as Go's,
// but without arguments and code offsets, which functions of cells do not have.

// A stack with more frames than both together is abbreviated to so many innermost and outermost
// frames.
const (
	innerFrames = 50
	outerFrames = 50
)

// stackText returns the stack of the calling goroutine as text; called are the compiled functions
// that were called to get it, innermost first.
func (s *Stacks) stackText(called ...tracePoint) []byte {
	var frames []string
	for _, p := range called {
		frames = append(frames, p.frame("()"))
	}
	panicked := s.panics.current()
	for _, p := range s.stack()[1:] { // without runtime.Callers
		switch {
		case p.name == "runtime.gopanic" && panicked != nil:
			p.name = "panic"
			frames = append(frames, p.frame(fmt.Sprintf("(%v)", panicked.Value)))
			panicked = panicked.Before
		case !strings.HasPrefix(p.name, "runtime."): // Go does not show those functions
			args := "(...)"
			if p.name == "main.main" || strings.HasPrefix(p.name, "main.init.") {
				args = "()" // these functions have no parameters
			}
			frames = append(frames, p.frame(args))
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "goroutine %d [running]:\n", goid.Get())
	for i, f := range frames {
		switch elided := len(frames) - innerFrames - outerFrames; {
		case elided > 0 && i == innerFrames:
			fmt.Fprintf(&b, "...%d frames elided...\n", elided)
		case elided > 0 && innerFrames < i && i < innerFrames+elided:
		default:
			b.WriteString(f)
		}
	}
	return b.Bytes()
}

// frame returns the text of a point in a stack.
func (p tracePoint) frame(args string) string {
	return fmt.Sprintf("%s%s\n\t%s:%d +0x0\n", p.name, args, p.file, p.line)
}

// compiledPoint returns the point at which a compiled function begins.
func compiledPoint(function any) tracePoint {
	f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	file, line := f.FileLine(f.Entry())
	return tracePoint{f.Name(), file, line}
}

// DebugStack is debug.Stack.
func (s *Stacks) DebugStack() []byte { return s.stackText(compiledPoint(debug.Stack)) }

// PrintStack is debug.PrintStack.
func (s *Stacks) PrintStack() {
	os.Stderr.Write(s.stackText(compiledPoint(debug.Stack), compiledPoint(debug.PrintStack)))
}

// Stack is runtime.Stack. With all set, the stacks show the interpreter's functions.
func (s *Stacks) Stack(buf []byte, all bool) int {
	if all {
		return runtime.Stack(buf, true)
	}
	return copy(buf, s.stackText())
}
