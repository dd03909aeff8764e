// Package session is the contract of a session: one prompt that drives N ranks in lockstep.
//
// Front ends hold a [Session] and know nothing below it; an interpreter is an [Evaluator] and a library of
// communication a [Communicator], and neither knows the other. What they pass to each other is declared
// here: cells, output, replies, errors, queries and their answers, the debugger, the activity of ranks.
//
// A folder below this one says which process runs its files:
//
//	controller  the processes: its doc.go says which of them runs a file
//	watchdog    in the controller: what to do about ranks that wait
//	fold        in the controller: the lines that ranks print, equal ones once
//	wire        messages between the processes
//
// and these run in any: rankset, for lists of ranks, and inband, for displays in the output of a rank.
package session
