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
// Positions are stored (steps.go), numbers compared, computed and assigned (quick.go), elements found (index.go), and functions called (calls.go, literals.go) by
// steps that are not yaegi's. What they do not know they leave to yaegi's.
//
// The steps of a declared function are made when it is called first (bodies.go): yaegi has compiled it by then, so a cell that it refuses is refused as a whole.
//
// What yaegi has no exported way to is reached in two places, yaegi.go and guard.go.
package run
