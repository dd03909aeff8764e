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
// In the order to read them in: from what knows least of the others. But runtime.go names all that a Runtime
// holds, and its methods may use all of it.
//
//	names.go             names that lowered code and the runtime share
//	deadline.go          how long code of cells is waited for
//	faults.go, checks.go faults worded as Go's
//	tracepoint.go        program counters of functions of cells
//	machinememory.go     what memory the machine has
//	runtime.go           a session's Runtime; what others hold of it
//
// Types and values:
//
//	natives.go           native types of a session, and the methods that they have
//	typenames.go, nativetypes.go, boxes.go, oldtypes.go   from a type of cells to a native one
//	nativevalues.go, assertions.go, reflection.go   from a value to another; assertions, ==, package reflect
//	recursion.go, recursivetypes.go   types that contain themselves
//
// What runs in it:
//
//	limits.go, stacklimit.go, memorylimit.go   what code may take
//	logger.go            loggers, which tell where they were called
//	panics.go            panics, under which deferred calls run
//	callstack.go, stack.go   what package runtime tells of functions of cells
//	latedefers.go, defers.go deferred calls, under panics and after a stop
//	execution.go         a cell's code from its beginning to its end; its goroutines
//	others.go, doing.go  what goroutines do, by their stacks
//	abandon.go           compiled calls that do not return
//	stop.go              taking turns, interrupting, waiting for what leaves
//	stdin.go, stdout.go, waits.go, select.go, callbacks.go   what blocks, or is called from elsewhere
//
// Trees and steps:
//
//	entries.go           calls of helpers with which functions begin
//	functioncode.go      the functions that function values are of
//	nilreceivers.go      panics of calls of methods of nil
//	elements.go          panics of x[i] and x[i:j]
//	steps.go             which nodes have steps of ours
//	guard.go             the walk: calls and functions look whether their execution was abandoned
//	bodies.go            compiling and executing programs; bodies whose steps are made at their first call
//
// What lowered code calls:
//
//	builtins.go, unsafe.go, show.go, overrides.go
//	helpers.go           the table
package run
