package symmem

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/errkind"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// Kind classifies an Error so that programs need not read its words. Its values are those of
// errkind, which sessions share; it is a type of its own because cells show its name.
type Kind string

// The kinds of errors.
const (
	KindMisuse      Kind = Kind(errkind.Misuse)      // the call was refused before it changed anything
	KindMismatch    Kind = Kind(errkind.Mismatch)    // the ranks disagree about a collective call
	KindCompile     Kind = Kind(errkind.Compile)     // a kernel does not compile
	KindFault       Kind = Kind(errkind.Fault)       // a kernel faulted
	KindTimeout     Kind = Kind(errkind.Timeout)     // a wait reached its deadline
	KindDeadlock    Kind = Kind(errkind.Deadlock)    // a wait cannot end: all who could end it are done, or wait too
	KindInterrupted Kind = Kind(errkind.Interrupted) // a wait was ended from outside
	KindPeer        Kind = Kind(errkind.Peer)        // another rank failed or died while this one waited for it
	KindSystem      Kind = Kind(errkind.System)      // the machine, the driver, the network
)

// Error is what every function of this package panics with. [Maybe] turns it into an ordinary error.
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

	// Lost says that this process cannot use its device any more: only a new process can.
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

// Maybe calls f and returns the *Error it panicked with, or nil. Other panics pass through. A nil f is an *Error too.
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

// nilArgument refuses a receiver or argument that is nil, or was made by no function of this package. It is of no world.
func nilArgument(op, arg string) *Error {
	return &Error{Kind: KindMisuse, Op: op, Rank: -1, Peer: -1, Arg: arg, Hint: hintFor(arg), Msg: "the " + arg + " is nil"}
}

// isNil is nilArgument where the world is known.
func (rt *Runtime) isNil(op, arg string) *Error {
	return rt.misuse(op, arg, hintFor(arg), "the %s is nil", arg)
}

// hintFor says where an object of a sort comes from.
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
	case "kernel":
		return "make one by Compile"
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

// failure turns an error of the layers below into one in the user's words.
func (rt *Runtime) failure(op string, err error) *Error {
	e := &Error{Kind: KindSystem, Op: op, Rank: rt.rank, Peer: -1, Msg: err.Error(), Err: err}
	var (
		ours      *Error
		absent    *bootstrap.AbsentError
		mismatch  *bootstrap.MismatchError
		file      *bootstrap.FileError
		driver    *device.DriverError
		fault     *device.KernelFault
		library   *device.LibraryError
		compile   *device.CompileError
		available *device.UnavailableError
		ofFile    *tensorfile.Error
	)
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &absent):
		e.Kind, e.Peer = KindPeer, absent.Rank
		e.Msg = fmt.Sprintf("rank %d %s", absent.Rank, absent.Why)
		e.Hint = "every member of the group must make this call"
		if absent.Left > 1 {
			e.Hint = survivorsHint
		}
	case errors.As(err, &mismatch):
		e.Kind, e.Msg = KindMismatch, mismatch.Error()
		e.Hint = "nothing was done; make the same call on all of them"
	case errors.As(err, &file):
		e.Peer = file.Peer
	case errors.Is(err, context.Canceled) && rt.vain.Load():
		e.Kind, e.Msg = KindDeadlock, "waited in vain for the other ranks: "+rt.whyAborted()
		e.Hint = "every member of the group must make this call"
	case errors.Is(err, context.Canceled):
		e.Kind, e.Msg = KindInterrupted, "gave up waiting for the other ranks: "+rt.whyAborted()
	case errors.As(err, &driver):
		e.Msg, e.Hint = fmt.Sprintf("%s: %s (%d): %s", driver.Call, driver.Name, driver.Code, driver.Text), driver.Hint
		if others := SharingOf(rt).With(rt.rank); errors.Is(err, device.ErrOutOfMemory) && others != nil {
			e.Hint += fmt.Sprintf("; the ranks %s share the memory of a GPU", Joined(others))
		}
		if driver.Name == "EMFILE" && e.Hint == "" {
			e.Hint = fmt.Sprintf("rank %d has no file descriptor left: close files there, or raise `ulimit -n`", rt.rank)
		}
		if driver.Poisoned {
			e.Kind, e.Lost = KindFault, true
		}
	case errors.As(err, &fault):
		e.Kind = KindFault
		what, outside := rt.outside(fault)
		if outside {
			e.Hint = "does the kernel compare its index with the number of elements?"
		}
		e.Msg = fmt.Sprintf("kernel %s, block %v, thread %v: %s", fault.Kernel, fault.Block, fault.Thread, what)
		e.setPosition(fault.Where)
		e.Source = fault.Source
		e.Caller = rt.calls.launchOf(fault.Kernel)
		if !outside && rt.all != nil && rt.all.spans() {
			e.Hint = "a handle has no pointers to members on other hosts: symm::put and symm::get reach them"
		}
		if rt.abort.Load() != nil {
			e.Kind = KindInterrupted
		}
	case errors.As(err, &library):
		e.Msg = library.Error()
		if strings.Contains(library.Text, "invalid device function") || strings.Contains(library.Text, "no kernel image") {
			e.Hint = fmt.Sprintf("this build of %s has no kernel of the call for a GPU of %s: set SYMMREPL_NCCL to another one", library.Library, rt.info.Arch)
		}
	case errors.As(err, &compile):
		e.Kind = KindCompile
		e.setCompile(compile)
	case errors.As(err, &available):
		e.Msg, e.Hint = "device "+available.Kind+" is not available: "+available.Why, available.Hint
	case errors.As(err, &ofFile):
		rt.setFile(e, ofFile)
	case errors.Is(err, device.ErrCapturing):
		e.Kind, e.Hint = KindMisuse, "make this call before the capture"
	}
	return e
}

// setPosition reads "cell[3]:7".
func (e *Error) setPosition(where string) {
	i := strings.LastIndexByte(where, ':')
	if i < 0 {
		return
	}
	var line int
	if _, err := fmt.Sscanf(where[i+1:], "%d", &line); err == nil {
		e.File, e.Line = where[:i], line
	}
}

// setCompile takes the first diagnostic for the error itself and the rest, each once, for its detail.
func (e *Error) setCompile(c *device.CompileError) {
	e.Msg, e.Detail = "the kernel does not compile", c.Log
	if len(c.Diagnostics) == 0 {
		return
	}
	d := c.Diagnostics[0]
	e.Msg, e.File, e.Line, e.Column, e.Source = d.Text, d.File, d.Line, d.Column, d.Source
	e.Detail, e.Hint = "", hintNCCL(d.Text)
	said := map[device.Diagnostic]bool{d: true}
	var others []string
	for _, d := range c.Diagnostics[1:] {
		if !said[d] {
			said[d] = true
			others = append(others, d.String())
		}
	}
	e.Detail = strings.Join(others, "\n")
}
