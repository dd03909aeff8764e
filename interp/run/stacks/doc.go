// Package stacks has the stacks of goroutines that run code of cells: panics and deferred calls, and
// what packages runtime and debug report about functions of cells. Go's own stacks show the functions
// of the interpreter.
//
// Lowered code calls some of its functions; the walk of a compiled tree puts its steps into the tree
// (Entering, Leaving, Calling). A function whose deferred calls cannot be made yet, because code of
// cells is being stopped, is given to the runtime.
//
// In reading order: a file depends mostly on those before it.
//
//	tracepoint.go        program counters of functions of cells
//	panics.go            panics, under which deferred calls run
//	callstack.go         the calls that a goroutine is in
//	stacks.go            Stacks, which has all of these, and positions
//	stack.go, functioncode.go   stacks as text; the functions behind function values
//	defers.go            deferred calls
package stacks
