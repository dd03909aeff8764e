// Package torchrun runs a program of Python whose processes are the ranks, as PyTorch's torchrun does,
// and explains what they do: which rank waits in which call, at which line, for whom.
//
// [Program.Run] starts the ranks with the variables of torchrun, folds their output, and ends them all
// when one fails. Each rank has a Unix socket, in the variable SYMMREPL_WATCH, which also names the version
// of this program: a package of another one refuses it. The module
// symmrepl.emulator.watch, which the ranks import, answers questions there, a line of JSON each:
//
//	{"watched": 1}
//	{"id": 7}
//	{"report": {"rank": 0, "findings": […], …}}
//	{"id": 7, "moves": 12, "stands": true, "calls": [{"op": "wait_signal", "at": "prog.py:14", …}], "main": {…}, "records": […], "puts": […]}
//
// The first line of a rank says that it answers. Reports are those of the sanitizer, which package
// finding collects. What a rank answers is turned into the status of a rank of a
// session (status.go), so package watchdog decides for a program as it does for a cell: when a table of
// the waits is shown, and when the waits cannot end. What a rank cannot say itself, because it sleeps,
// holds Python's lock, or has imported nothing yet, comes from /proc (thread.go).
//
// [Program.Watch] does the same for ranks that PyTorch's own torchrun has started, which connect to a socket.
// Their first line has their number, too: {"watched": 1, "rank": 0}.
//
//	program.go   the ranks from their start to their end
//	rank.go      one process
//	join.go      ranks that were started elsewhere
//	watch.go     questions, tables, the end of waits that cannot end
//	status.go    the answers
//	label.go     what is removed from the output
//	thread.go    /proc
package torchrun
