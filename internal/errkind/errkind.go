// Package errkind classifies errors. A rank's symmetric memory and the session that reports its
// errors share the kinds, so that an error keeps its kind on its way.
package errkind

// Kind classifies an error so that programs, front ends and tests need not parse its message.
type Kind string

// Kinds of errors of symmetric memory.
const (
	Misuse      Kind = "misuse"      // an operation was refused before it changed anything
	Mismatch    Kind = "mismatch"    // the ranks disagree about a collective call
	Compile     Kind = "compile"     // a kernel does not compile
	Fault       Kind = "fault"       // a kernel faulted
	Timeout     Kind = "timeout"     // a wait reached its deadline
	Deadlock    Kind = "deadlock"    // a wait cannot end: all ranks that could end it are done, or wait too
	Interrupted Kind = "interrupted" // a wait was ended from outside, for example because the user interrupted a cell
	Peer        Kind = "peer"        // another rank failed or died while this one waited for it
	System      Kind = "system"      // the machine, the driver, the network
)

// Further kinds of errors of cells.
const (
	Syntax      Kind = "syntax"      // the cell does not parse
	Type        Kind = "type"        // the cell does not type-check
	Unsupported Kind = "unsupported" // valid Go that cannot be interpreted; the message says what to write instead
	Panic       Kind = "panic"       // the cell panicked
	Died        Kind = "died"        // this rank's worker died
)
