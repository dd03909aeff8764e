// Package executions starts, watches and stops the code of cells.
//
// Execute runs a cell's code, one cell at a time, beside the goroutines that earlier cells have
// started. To stop interpreted code, it changes the number by which yaegi distinguishes live frames
// from abandoned ones, and ends the code's waits (stop.go); its deferred calls are made afterwards
// (latedefers.go). A cell that cannot end because a compiled call does not return is abandoned
// (abandon.go): guards in the compiled trees end its goroutine when the call returns or calls a
// function of a cell (package trees). Only a call that holds the device keeps other cells from
// starting until it returns. While code runs, package limits checks how much memory it takes.
//
// In reading order: a file depends mostly on those before it. The exception is state.go, which
// declares all fields of Executions.
//
//	state.go             Executions, with the other rooms of a runtime
//	latedefers.go        deferred calls after a stop
//	executions.go        running a cell's code; its goroutines
//	others.go, doing.go  finding out from stacks what goroutines do
//	abandon.go           compiled calls that do not return
//	stop.go              taking turns, interrupting, waiting for code to end
//	stdin.go, waits.go, select.go, callbacks.go   blocking calls, and calls from compiled code
package executions
