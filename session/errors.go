package session

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/errkind"
)

// Kind classifies an error so that front ends and tests need not read its words.
type Kind = errkind.Kind

const (
	KindSyntax      = errkind.Syntax      // the cell does not parse
	KindType        = errkind.Type        // the cell does not type-check
	KindUnsupported = errkind.Unsupported // valid Go that cannot be interpreted; the message says a way round
	KindPanic       = errkind.Panic       // the cell panicked
	KindMisuse      = errkind.Misuse      // an operation was refused before anything was launched
	KindMismatch    = errkind.Mismatch    // the ranks disagree about a collective call
	KindCompile     = errkind.Compile     // a kernel does not compile
	KindFault       = errkind.Fault       // a kernel faulted
	KindTimeout     = errkind.Timeout     // a wait reached its deadline
	KindDeadlock    = errkind.Deadlock    // a wait cannot end: all who could end it are done, or wait too
	KindInterrupted = errkind.Interrupted // the user interrupted the cell
	KindPeer        = errkind.Peer        // another rank failed or died while this one waited for it
	KindDied        = errkind.Died        // this rank's worker died
	KindSystem      = errkind.System      // anything else: the machine, the driver, the network
)

// Error is what went wrong on one or more ranks. It crosses the wire whole.
type Error struct {
	Kind   Kind
	Ranks  []int  // where it happened; filled by the controller
	Cell   int    // filled by the controller
	Op     string // the operation, when it was one: "wait_signal"
	Peer   int    // the rank it concerns, or -1
	File   string // position in the user's text, when known
	Line   int
	Column int
	Msg    string // one sentence, no position
	Source string // the line of the user's text, for the caret
	Hint   string // what to do next
	Detail string // anything longer: a compiler's log, a stack
	Fatal  bool   // the worker cannot go on, as when its GPU context is lost: it is replaced
	Exited bool   // a program has ended itself with this status, as by os.Exit; see Program
	Status int
}

// Error formats position, message and hint, without ranks: front ends prefix those.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d", e.File, e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}
