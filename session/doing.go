package session

import (
	"fmt"
	"strings"
)

// Activity describes what a rank's cell does while it waits in no operation of the Communicator:
// see ActivityReporter.
type Activity struct {
	What    string // "waits in time.Sleep", "is in sort.Ints"; "" for the code of the cell itself
	At      string // position in the user's text: of the statement that runs or, if What is "", that ran last
	Blocked bool   // the rank waits, and uses no processor time
	Input   bool   `json:",omitempty"` // it waits for a line that the user types
	Sleeps  bool   `json:",omitempty"` // it waits for a time
	Beside  bool   `json:",omitempty"` // meanwhile other code of cells on this rank computes, sleeps, or is in a system call

	// Compiles is set if the rank waits for a compiler; For is the duration of the wait in seconds.
	Compiles bool    `json:",omitempty"`
	For      float64 `json:",omitempty"`
}

// Busy is a user's kernel that has run for a while: see KernelReporter.
type Busy struct {
	Kernel string
	At     string // position of the launch: "cell[3]:7"; "" if it is not known
	// the only memory that it reads, again and again: "element 3 of i32[8], which is 0, at
	// cell[2]:4"
	Spins string  `json:",omitempty"`
	Goes  bool    `json:",omitempty"` // it is known to do more than read Spins
	Since float64 // seconds
	Seen  uint64  `json:",omitempty"` // time at which it was last seen to read Spins, as Seen of a Wait
}

// describeBusy describes the running kernels, without times: "busy in kernel ar, launched at
// cell[3]:7".
func describeBusy(list []Busy) string {
	var parts []string
	for _, b := range list {
		s := "busy in kernel " + b.Kernel
		if b.At != "" {
			s += ", launched at " + b.At
		}
		if b.Spins != "" {
			s += ": it reads nothing but " + b.Spins
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// String describes the activity, without times.
func (a Activity) String() string {
	s := a.What
	switch {
	case s == "" && a.At != "":
		s = "runs, at or after " + a.At
	case s == "":
		s = "runs"
	case a.At != "":
		s += " at " + a.At
	}
	return s
}

// LateCall is a compiled call that did not return when its cell was interrupted, and still runs.
// Its result is dropped: see LateCallReporter.
type LateCall struct {
	Function string // "net.(*TCPListener).Accept"
	Cell     string // the name of the cell: "cell[7]"
	At       string // position of the call in the cell: "cell[7]:3"; "" if it is not known
}

// describeCalls describes the calls that still run, "" if none does: "1 call of cell[7] still runs:
// net.(*TCPListener).Accept at cell[7]:3".
func describeCalls(calls []LateCall) string {
	if len(calls) == 0 {
		return ""
	}
	of := calls[0].Cell
	var list []string
	for _, c := range calls {
		if c.Cell != of {
			of = "earlier cells"
		}
		text := c.Function
		if c.At != "" {
			text += " at " + c.At
		}
		list = append(list, text)
	}
	const most = 3
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("and %d more", len(list)-most))
	}
	if len(calls) == 1 {
		return fmt.Sprintf("1 call of %s still runs: %s", of, list[0])
	}
	return fmt.Sprintf("%d calls of %s still run: %s", len(calls), of, strings.Join(list, ", "))
}

// late describes the calls of interrupted cells that have not returned.
func (w *worker) late() string {
	if teller, tells := w.eval.(LateCallReporter); tells {
		return describeCalls(teller.Calls())
	}
	return ""
}

// doing returns the activity of the worker's running cell. p is the worker's progress.
func (w *worker) doing(p Progress) *Activity {
	w.mu.Lock()
	finishing := w.finishing
	w.mu.Unlock()
	var a Activity
	switch teller, tells := w.eval.(ActivityReporter); {
	case p.Compiles != "":
		a = Activity{What: fmt.Sprintf("compiles a kernel (%s)", p.Compiles), At: p.CompilesAt, Blocked: true, Compiles: true,
			For: p.CompilesFor}
	case w.stdin.waits():
		a = Activity{What: "waits for a line of standard input", Blocked: true, Input: true}
	case finishing:
		a = Activity{What: "waits for its device to finish", Blocked: true}
	case tells:
		a = teller.Doing()
	}
	if a == (Activity{}) {
		return nil
	}
	return &a
}
