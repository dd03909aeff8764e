package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/errkind"
)

// Kind classifies an error so that front ends and tests need not parse its message.
type Kind = errkind.Kind

const (
	KindSyntax      = errkind.Syntax      // the cell does not parse
	KindType        = errkind.Type        // the cell does not type-check
	KindUnsupported = errkind.Unsupported // valid Go that cannot be interpreted; the message says what to write instead
	KindPanic       = errkind.Panic       // the cell panicked
	KindMisuse      = errkind.Misuse      // an operation was refused before any launch
	KindMismatch    = errkind.Mismatch    // the ranks disagree about a collective call
	KindCompile     = errkind.Compile     // a kernel does not compile
	KindFault       = errkind.Fault       // a kernel faulted
	KindTimeout     = errkind.Timeout     // a wait reached its deadline
	KindDeadlock    = errkind.Deadlock    // a wait cannot end: all ranks that could end it are done, or wait too
	KindInterrupted = errkind.Interrupted // the user interrupted the cell
	KindPeer        = errkind.Peer        // another rank failed or died while this one waited for it
	KindDied        = errkind.Died        // this rank's worker died
	KindSystem      = errkind.System      // other causes: the machine, the driver, the network
)

// Error describes a failure on one or more ranks. It crosses the wire whole.
type Error struct {
	Kind   Kind
	Ranks  []int  // the ranks with this error; filled by the controller
	Cell   int    // filled by the controller
	Op     string // the operation that failed, if it was one: "wait_signal"
	Peer   int    // the rank it concerns, or -1
	File   string // position in the user's text, when known
	Line   int
	Column int
	Msg    string    // one sentence, no position
	Source string    // the line of the user's text, for the caret
	Hint   string    // what to do next
	Detail string    // longer text: a compiler's log, a stack
	Hang   []HangRow `json:",omitempty"` // of KindDeadlock: what the ranks did when their waits were ended
	Cycle  []int     `json:",omitempty"` // of KindDeadlock: ranks that waited in a cycle, as in Output.Cycle
	Fatal  bool      // the worker cannot go on and is replaced, for example because its GPU context is lost
	Exited bool      // a program has ended itself with status Status, for example by os.Exit; see Program
	Status int
}

// Error formats position, message and hint, without ranks: front ends put these in front.
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

// AsError converts any error to an *Error.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindSystem, Peer: -1, Msg: err.Error()}
}
