package executions

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
)

// Doing is the activity of the cell's own goroutine.
type Doing struct {
	What    string // "waits in time.Sleep", "is in sort.Ints"; "" in interpreted code
	Blocked bool   // it waits for something, and takes no processor time
	Input   bool   // it waits for standard input
	Sleeps  bool   // it waits until a time
	Beside  bool   // another goroutine of cells computes, sleeps, or is in a system call
}

// dumpSize is the maximum size, in bytes, of the dump of all goroutines.
const dumpSize = 4 << 20

// Doing finds the activity of the cell in the goroutine's stack. Every other goroutine stops while
// all stacks are written. Doing may be called at any time.
func (es *Executions) Doing() Doing {
	x := es.current()
	if x == nil {
		return Doing{}
	}
	id := x.goroutine.Load()
	select {
	case <-x.left:
		return Doing{}
	default:
	}
	dump := allStacks()
	stack, found := stackOf(dump, id)
	switch {
	case !found:
		return Doing{}
	case strings.Contains(stack, fmt.Sprintf("\nos.(*File).Read(%p", os.Stdin)):
		return Doing{What: "waits for standard input", Blocked: true, Input: true}
	}
	d := describeStack(stack)
	d.Beside = d.Blocked && es.Running() > 1 && activeBeside(string(dump), id)
	return d
}

// allStacks returns the stacks of all goroutines, or of as many as dumpSize permits.
func allStacks() []byte {
	for size := 64 << 10; ; size *= 4 {
		dump := make([]byte, size)
		if n := runtime.Stack(dump, true); n < size || size >= dumpSize {
			return dump[:n]
		}
	}
}

// compiledCall returns the compiled function that a goroutine has called from interpreted code. It
// returns "" if the goroutine is in interpreted code, or in a wait that ends when the cell is
// stopped.
func compiledCall(stack string) string {
	called := ""
	for _, m := range frameLine.FindAllStringSubmatch(stack, -1) {
		switch name := m[1]; {
		case ofInterpreter(name):
			return called
		case strings.HasPrefix(name, "reflect."), strings.HasPrefix(name, "runtime."):
		default:
			called = plainFunction(name)
		}
	}
	return ""
}

// stackOf cuts the stack of one goroutine out of a dump.
func stackOf(dump []byte, id int64) (stack string, found bool) {
	head := []byte("goroutine " + strconv.FormatInt(id, 10) + " [")
	i := bytes.Index(dump, append([]byte("\n\n"), head...))
	switch {
	case bytes.HasPrefix(dump, head):
		i = 0
	case i < 0:
		return "", false
	default:
		i += 2
	}
	rest := dump[i:]
	n := bytes.Index(rest, []byte("\n\n"))
	if n < 0 {
		return string(rest), len(dump) < cap(dump) // or its end is cut off
	}
	return string(rest[:n]), true
}

// Prefixes of the names of functions: of package run, of its rooms, and of this one.
const (
	runFolder  = "github.com/symmrepl/symmrepl/interp/run"
	runPrefix  = runFolder + "."
	roomPrefix = runFolder + "/"
	ownPrefix  = roomPrefix + "executions."
)

// ofInterpreter reports whether a function belongs to the interpreter rather than to a package that
// cells call.
func ofInterpreter(name string) bool {
	for _, prefix := range interpreterPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var interpreterPrefixes = []string{runPrefix, roomPrefix, yaegi.StepPrefix, yaegi.FunctionPrefix}

const sleepFrame = ownPrefix + "(*Executions).Sleep"

// waitsOf lists the functions that interpreted code waits in: the frame on the stack, and the name
// to show for it.
var waitsOf = []struct{ frame, says string }{
	{sleepFrame, "time.Sleep"},
	{ownPrefix + "(*Executions).Lock", "Lock of a mutex"},
	{ownPrefix + "(*Executions).RLock", "RLock of a mutex"},
	{ownPrefix + "(*Executions).Wait", "Wait of a sync.WaitGroup"},
	{ownPrefix + "(*Executions).CondWait", "Wait of a sync.Cond"},
	{ownPrefix + "(*Executions).Cmd", "a command of os/exec"},
	{ownPrefix + "(*Selection).Do", "select"},
	{yaegi.FunctionPrefix + "recv", "a channel receive"},
	{yaegi.FunctionPrefix + "rangeChan", "a range over a channel"},
	{yaegi.FunctionPrefix + "send", "a channel send"},
	{yaegi.FunctionPrefix + "_select", "select"},
}

// frameLine matches the line of a stack that names a function, without the arguments.
var frameLine = regexp.MustCompile(`(?m)^([^\t\n].*)\([^()\n]*\)$`)

// describeStack describes the activity of a goroutine that runs a cell. The interpreter's topmost
// frame shows the activity: it is one of the waits above, or a call of compiled code, whose frames
// are above that frame.
func describeStack(stack string) Doing {
	first, _, _ := strings.Cut(stack, "\n")
	_, state, _ := strings.Cut(first, "[")
	state, _, _ = strings.Cut(state, "]")
	state, _, _ = strings.Cut(state, ",") // without how long it has been in that state
	blocked := state != "running" && state != "runnable" && state != "syscall"
	called := ""
	for _, m := range frameLine.FindAllStringSubmatch(stack, -1) {
		name := m[1]
		for _, w := range waitsOf {
			if rest, ok := strings.CutPrefix(name, w.frame); ok && (rest == "" || rest[0] == '.' || strings.HasSuffix(w.frame, "Cmd")) {
				if !blocked { // the wait has just begun or ended
					return Doing{}
				}
				return Doing{What: "waits in " + w.says, Blocked: true, Sleeps: w.frame == sleepFrame}
			}
		}
		switch {
		// the next frame shows the kind of wait
		case strings.HasPrefix(name, ownPrefix+"(*Executions).await"):
		case ofInterpreter(name):
			if called == "" {
				return Doing{Blocked: blocked}
			}
			if blocked || state == "syscall" {
				return Doing{What: "waits in " + called + " (" + state + ")", Blocked: true}
			}
			return Doing{What: "is in " + called}
		case strings.HasPrefix(name, "reflect."), strings.HasPrefix(name, "runtime."):
		default:
			called = plainFunction(name)
		}
	}
	return Doing{}
}

// plainFunction turns a function's name in a stack into the name that cells use, without the path
// of its package: "http.Get", "(*Tensor).Fill".
func plainFunction(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimPrefix(name, "core.")
	return strings.Replace(name, "symmem.", "symm.", 1)
}
