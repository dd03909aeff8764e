// Package run runs the code of cells. It has the functions that lowered code calls while it runs,
// and starts, watches and stops that code.
//
// # Helpers
//
// Lowered code calls the functions of one table, helpers.go; package contract names them for
// package lower, which uses nothing else of a runtime. Most helpers exist because yaegi deviates
// from Go: in type assertions, comparisons of interfaces, deferred calls, panics and select. Others
// end blocking calls, such as Lock and Wait, when a cell is stopped.
//
// # Executions
//
// Execute runs a cell's code, one cell at a time, beside the goroutines that earlier cells have
// started. To stop interpreted code, the runtime changes the number by which yaegi distinguishes
// live frames from abandoned ones, and ends the code's waits (stop.go); its deferred calls are made
// afterwards (latedefers.go). A cell that cannot end because a compiled call does not return is
// abandoned (abandon.go): guards in the compiled trees end its goroutine when the call returns or
// calls a function of a cell (package trees). Only a call that holds the device keeps other cells
// from starting until it returns. While code runs, package limits checks how much memory it takes.
//
// # Rooms
//
// The parts of a Runtime are packages below this one. Each imports only those after it:
//
//	trees      compiles and executes programs, and changes the trees that yaegi compiles
//	standing   the debugger's stops: the goroutine that stands before a statement
//	stacks     panics, deferred calls and call stacks of goroutines
//	native     the Go types that stand for types of cells in compiled code, and their values
//	limits     memory, stacks and time that code may take
//	faults     faults worded as Go's
//	contract   all that package lower and the runtime share
//
// # What it knows of yaegi
//
// Code is a tree of nodes, which have steps; a step gets a frame; values of interfaces are boxes
// and wrappers; yaegi's functions have certain names in stacks. Only interp/internal/yaegi depends
// on anything else, and on the layout of yaegi's memory.
//
// # Files
//
// In reading order: a file depends mostly on those before it. The exception is runtime.go, which
// declares all fields of Runtime.
//
//	runtime.go           a session's Runtime, and the interfaces of its users
//
// What runs in it:
//
//	logger.go            loggers that know where they were called
//	latedefers.go        deferred calls after a stop
//	execution.go         running a cell's code; its goroutines
//	others.go, doing.go  finding out from stacks what goroutines do
//	abandon.go           compiled calls that do not return
//	stop.go              taking turns, interrupting, waiting for code to end
//	stdin.go, stdout.go, waits.go, select.go, callbacks.go   blocking calls, and calls from compiled code
//
// What lowered code calls:
//
//	builtins.go, unsafe.go, show.go, overrides.go
//	helpers.go           the table
package run
