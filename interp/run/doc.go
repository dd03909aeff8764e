// Package run runs the code of cells. It holds what lowered code calls while it runs, and what starts, watches and stops it.
//
// # Helpers
//
// Lowered code calls the functions of one table, helpers.go, which also names them for package lower: the two meet nowhere else. Most exist because yaegi does the
// same otherwise than Go: type assertions, comparisons of interfaces, deferred calls and panics, select. Others make calls that block, such as Lock and Wait, end
// when a cell is stopped.
//
// # Native values
//
// Yaegi's values do not know the names and methods of their types. A value that becomes an interface of compiled code gets a type made at run time that has the name,
// the fields and the methods which Go would give it (natives.go). Interfaces of cells that have methods are structs of yaegi's, called boxes; boxes.go prints, encodes
// and compares them as what they hold.
//
// # Executions
//
// Execute runs a cell's code, one cell at a time, beside the goroutines that earlier cells have started. Interpreted code is stopped by changing the number by which
// yaegi tells live frames from abandoned ones, and by ending the waits that it is in (stop.go); its deferred calls are made afterwards (latedefers.go). A cell that
// a compiled call keeps from leaving is abandoned (abandon.go): its goroutine ends when the call returns, or calls a function of a cell, which guards in the compiled
// trees see to (guard.go). Only a call that holds the device keeps other cells from beginning until it has returned. While code runs, each limit is looked at every
// few milliseconds (limits.go): endless recursion would end the process, and a machine without memory would end whatever it likes.
//
// Positions are stored, numbers compared, computed and assigned, elements found, and functions called by steps that are not yaegi's. What they do not know they leave
// to yaegi's. The walk of a compiled tree says which nodes get one (guard.go, steps.go); the steps that touch memory are in package yaegi.
//
// The steps of a declared function are made when it is called first (bodies.go): yaegi has compiled it by then, so a cell that it refuses is refused as a whole.
//
// # What it knows of yaegi
//
// That code is a tree of nodes, which have steps; that a step is given a frame; that values of interfaces are boxes and wrappers; and the names of its functions in
// stacks. All else, and everything about memory, is known by interp/internal/yaegi alone.
//
// # Files
//
// In the order to read them in.
//
//	runtime.go           a session's Runtime; what others hold of it
//	names.go             names that lowered code and the runtime share
//	helpers.go           the table of what lowered code calls
//
// Trees and steps:
//
//	bodies.go            compiling and executing programs; bodies whose steps are made at their first call
//	guard.go             the walk: calls and functions look whether their execution was abandoned
//	steps.go             which nodes have steps of ours
//	elements.go          panics of x[i] and x[i:j]
//	nilreceivers.go      panics of calls of methods of nil
//	functioncode.go      the functions that function values are of
//
// Executions:
//
//	execution.go         a cell's code from its beginning to its end; its goroutines
//	stop.go              taking turns, interrupting, waiting for what leaves
//	abandon.go           compiled calls that do not return
//	latedefers.go        deferred calls of what was stopped
//	deadline.go          how long code of cells is waited for
//	waits.go, select.go, stdin.go, stdout.go, callbacks.go   what blocks, or is called from elsewhere
//	limits.go, stacklimit.go, memorylimit.go, machinememory.go   what code may take
//	doing.go, others.go  what goroutines do, by their stacks
//
// Panics and stacks:
//
//	faults.go, checks.go faults worded as Go's
//	panics.go, defers.go panics, and deferred calls under them
//	callstack.go, tracepoint.go, stack.go   what package runtime tells of functions of cells
//	logger.go            loggers, which tell where they were called
//
// Types and values:
//
//	natives.go           native types of a session, and the methods that they have
//	nativetypes.go, typenames.go   from a type of cells to a native one
//	nativevalues.go, boxes.go      from a value to another
//	assertions.go, reflection.go   assertions, ==, package reflect
//	oldtypes.go          types that no cell can name any more
//	recursion.go, recursivetypes.go   types that contain themselves
//	builtins.go, unsafe.go, overrides.go, show.go   the other helpers
package run
