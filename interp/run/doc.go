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
// Package native converts values of cells for interfaces of compiled code, and back. Package stacks
// has the panics, the deferred calls and the call stacks of goroutines.
//
// # Executions
//
// Execute runs a cell's code, one cell at a time, beside the goroutines that earlier cells have
// started. To stop interpreted code, the runtime changes the number by which yaegi distinguishes
// live frames from abandoned ones, and ends the code's waits (stop.go); its deferred calls are made
// afterwards (latedefers.go). A cell that cannot end because a compiled call does not return is
// abandoned (abandon.go): guards in the compiled trees end its goroutine when the call returns or
// calls a function of a cell (guard.go). Only a call that holds the device keeps other cells from
// starting until it returns. While code runs, package limits checks how much memory it takes.
//
// The runtime replaces yaegi's steps that store positions, compare, compute and assign numbers,
// index elements, and call functions. A case that such a step does not support runs yaegi's step.
// The walk of a compiled tree decides which nodes get one (guard.go, steps.go); the steps that
// touch memory are in package yaegi.
//
// The steps of a declared function are made when the function is first called (bodies.go). Yaegi
// has compiled it by then, so yaegi still rejects an invalid cell as a whole.
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
// Trees and steps:
//
//	entries.go           calls of helpers with which functions begin
//	functioncode.go      the functions behind function values
//	nilreceivers.go      panics of calls of methods of nil
//	elements.go          panics of x[i] and x[i:j]
//	steps.go             which nodes have steps of ours
//	guard.go             the walk: calls and functions check whether their execution was abandoned
//	bodies.go            compiling and executing programs; bodies whose steps are made at their first call
//
// What lowered code calls:
//
//	builtins.go, unsafe.go, show.go, overrides.go
//	helpers.go           the table
package run
