// Package run runs the code of cells. It has the functions that lowered code calls while it runs;
// its rooms start, watch and stop that code.
//
// # Helpers
//
// Lowered code calls the functions of one table, helpers.go; package contract names them for
// package lower, which uses nothing else of a runtime. Most helpers exist because yaegi deviates
// from Go: in type assertions, comparisons of interfaces, deferred calls, panics and select. Others
// end blocking calls, such as Lock and Wait, when a cell is stopped.
//
// # Rooms
//
// The parts of a Runtime are packages below this one. Each imports only those after it:
//
//	executions starts, watches and stops code: execution, stop, abandonment, waits
//	shown      what a cell shows: values, texts, forms for displays
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
//	runtime.go           a session's Runtime, and the interface of its user
//	logger.go            loggers that know where they were called
//	builtins.go, unsafe.go, stdout.go, overrides.go   what lowered code calls and no room has
//	helpers.go           the table
package run
