package symmem

import (
	"context"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/errkind"
)

// Kind classifies an Error so that programs need not read its text. Its values are the values of
// errkind, which sessions share; it is a type of its own because cells show its name.
type Kind string

// The kinds of errors.
const (
	KindMisuse      Kind = Kind(errkind.Misuse)      // the call was refused before it changed anything
	KindMismatch    Kind = Kind(errkind.Mismatch)    // the ranks disagree about a collective call
	KindCompile     Kind = Kind(errkind.Compile)     // a kernel does not compile
	KindFault       Kind = Kind(errkind.Fault)       // a kernel faulted
	KindTimeout     Kind = Kind(errkind.Timeout)     // a wait reached its deadline
	KindDeadlock    Kind = Kind(errkind.Deadlock)    // a wait cannot end: all ranks that could end it are done, or wait too
	KindInterrupted Kind = Kind(errkind.Interrupted) // a wait was ended from outside
	KindPeer        Kind = Kind(errkind.Peer)        // another rank failed or died while this one waited for it
	KindSystem      Kind = Kind(errkind.System)      // the machine, the driver, the network
)

// Error is the value with which functions of this package panic. [Maybe] turns it into an ordinary
// error.
type Error struct {
	Kind Kind
	Op   string // what was called: "wait_signal", "Empty"
	Rank int    // the world rank it happened on, or -1 if no world is concerned
	Peer int    // the world rank it concerns, or -1
	Arg  string // the argument that was refused, if it was one
	Msg  string // one sentence: what happened and, for a misuse, what was expected
	Hint string // what to do next

	// Position in the text of a kernel, when known.
	File         string
	Line, Column int
	Source       string // the line at that position
	Detail       string // anything longer, such as a compiler's log

	Caller   int // where the work was issued that failed only later, as Config.Caller said; 0 if it is the call itself that failed
	Replayed int // where the graph was replayed last that captured this work, likewise; 0 if none did

	// Lost reports whether this process has lost its device: only a new process can use the device
	// again.
	Lost bool

	Err error // the cause, or nil
}

// Error is "put_signal on rank 2: peer must be in [0, 4), not 7 (hint)".
func (e *Error) Error() string {
	if e == nil {
		return "nil error"
	}
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	b.WriteString(e.Op)
	if e.Rank >= 0 {
		fmt.Fprintf(&b, " on rank %d", e.Rank)
	}
	b.WriteString(": " + e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Maybe calls f and returns the *Error it panicked with, or nil. Other panics pass through. A nil f
// is an *Error too.
func Maybe(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	if f == nil {
		return nilArgument("Maybe", "function")
	}
	f()
	return nil
}

// misuse refuses a call. arg names the argument, "" for none.
func (rt *Runtime) misuse(op, arg, hint, format string, args ...any) *Error {
	return &Error{Kind: KindMisuse, Op: op, Rank: rt.rank, Peer: -1, Arg: arg, Hint: hint, Msg: fmt.Sprintf(format, args...)}
}

// nilArgument refuses a receiver or argument that is nil, or was made by no function of this
// package. It is of no world.
func nilArgument(op, arg string) *Error {
	return &Error{Kind: KindMisuse, Op: op, Rank: -1, Peer: -1, Arg: arg, Hint: hintFor(arg), Msg: "the " + arg + " is nil"}
}

// isNil is nilArgument for a call on a world.
func (rt *Runtime) isNil(op, arg string) *Error {
	return rt.misuse(op, arg, hintFor(arg), "the %s is nil", arg)
}

// hintFor returns a hint that names the function that makes an object of a sort.
func hintFor(sort string) string {
	switch sort {
	case "tensor":
		return "make one by Empty or Local"
	case "handle":
		return "Rendezvous returns one"
	case "group":
		return "make one by NewGroup"
	case "stream":
		return "make one by NewStream"
	case "event":
		return "make one by NewEvent"
	case "graph":
		return "make one by Capture"
	case "timeline":
		return "Trace returns one"
	case "kernel":
		return "make one by Compile"
	case "pool":
		return "GetMemPool returns one"
	case "tile":
		return "make one by Tensor.Tile"
	}
	return "give one"
}

// needFunction refuses a nil function.
func (rt *Runtime) needFunction(op string, f func()) {
	if f == nil {
		panic(rt.misuse(op, "f", "give one", "the function is nil"))
	}
}

// needContext refuses a nil context.
func (rt *Runtime) needContext(op string, ctx context.Context) {
	if ctx == nil {
		panic(rt.misuse(op, "ctx", "give context.Background()", "the context is nil"))
	}
}
