package run

import (
	"bytes"
	"fmt"
	"go/token"
	"os"
	"runtime"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/session"
)

// The stack of a goroutine that runs code of cells is one of functions of the interpreter. In its place cells get what the session knows: the statement that runs,
// those that panicked if it is in a deferred call, and the cell's own statement, each with the function that it is in.

// debugStack is debug.Stack.
func (rt *Runtime) debugStack() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "goroutine %d [running]:\n", goid.Get())
	rt.writeFrame(&b, rt.Position())
	for p := rt.panics.current(); p != nil && p.at > 0; p = p.Before {
		fmt.Fprintf(&b, "panic(%v)\n", p.Value)
		rt.writeFrame(&b, token.Pos(p.at))
	}
	if call := rt.CallPosition(); call != rt.Position() {
		rt.writeFrame(&b, call)
	}
	return b.Bytes()
}

// writeFrame writes the function that a statement is in, and its place, as Go does. There is no program counter to go with it.
func (rt *Runtime) writeFrame(b *bytes.Buffer, at token.Pos) {
	var e session.Error
	function := rt.host.Locate(&e, at)
	if !token.IsIdentifier(function) {
		function = "func" // a function literal, or the cell itself
	}
	file, line := rt.fileLine(at)
	fmt.Fprintf(b, "main.%s()\n\t%s:%d +0x0\n", function, file, line)
}

// printStack is debug.PrintStack.
func (rt *Runtime) printStack() { os.Stderr.Write(rt.debugStack()) }

// stackInto is runtime.Stack. All stacks are those of the interpreter.
func (rt *Runtime) stackInto(buf []byte, all bool) int {
	if all {
		return runtime.Stack(buf, true)
	}
	return copy(buf, rt.debugStack())
}
