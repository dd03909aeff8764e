package session

import "context"

// # Debugging
//
// A front end that debugs holds a Debugger (Session.Debug). While at least one is open, the session
// is debugged: every cell that begins is compiled with a stop before each of its statements, and so
// are the functions that it declares. Such code is slower; other code is not changed at all, and
// cannot be stopped. A function of an earlier cell can therefore be stopped only if the cell ran
// while the session was debugged.
//
// A rank that reaches a breakpoint, ends a step or is paused stands before a statement: the
// goroutine that got there waits, other goroutines of the rank go on. The stop is complete when
// each rank of the cell stands, has finished, or waits in an operation for ranks that do not run
// on. The watchdog does not take any of this for a hang, and the limits of programs do not run
// meanwhile; a limit of an operation (symm.Timeout) does.
//
// Positions are as in errors: the name of the cell, and lines of its text. The first line has the
// number Cell.Line.

// Debugger is a front end's hold of the debugger of a session. All Debuggers share breakpoints and
// the stop: each gets the events of the others' actions. Its methods may be called from several
// goroutines.
type Debugger interface {
	// SetBreakpoints replaces the breakpoints in source by breakpoints on lines, and returns the
	// new breakpoints, in the order of lines. The breakpoints also hold for the running cell. If
	// lines is empty, SetBreakpoints removes the breakpoints.
	SetBreakpoints(ctx context.Context, source BreakpointSource, lines []int) ([]Breakpoint, error)
	// Breakpoints lists all breakpoints, with equal sources after each other.
	Breakpoints(ctx context.Context) ([]Breakpoint, error)
	// Resume lets all ranks that stand go on. It returns an error if no rank stands.
	Resume(ctx context.Context, how Resume) error
	// Pause stops every rank of the running cell at the next statement that it reaches. It returns
	// an error if no cell runs, or if the running cell has no stops because it began before the
	// session was debugged.
	Pause(ctx context.Context) error
	// Stopped returns the stop, nil if no rank stands.
	Stopped(ctx context.Context) (*Stop, error)
	// Frames returns the calls that the stopped goroutine of rank is in, innermost first. It
	// returns an error if the rank does not stand. Functions that have no stops are left out.
	Frames(ctx context.Context, rank int) ([]Frame, error)
	// Variables returns the local variables of a frame (an index in the result of Frames), innermost
	// declaration first, of which a variable that another one hides is not listed; and the variables
	// of the session, as TopicVars lists them.
	Variables(ctx context.Context, rank, frame int) (locals, globals []Variable, err error)
	// Evaluate evaluates an expression in a frame of each of ranks (nil: all that stand), and
	// returns their replies folded, as Eval does: Values, or Errors. Local variables of types that
	// a function declares cannot be used. Stops in code that the expression calls are passed over.
	// An assignment is accepted, too, and changes the variable. When ctx ends, Evaluate returns and
	// the evaluation goes on; interrupting the cell ends it.
	Evaluate(ctx context.Context, ranks []int, frame int, expression string) (Reply, error)
	// Close leaves the debugger. The breakpoints that this Debugger has set are removed. When the
	// last Debugger leaves, all ranks that stand go on, and nothing stops any more. Losing the
	// connection to an attached front end is a Close.
	Close() error
}

// BreakpointSource names the code that breakpoints are in. Exactly one of the fields is set; the
// zero value means all cells that are entered after the breakpoint was set.
type BreakpointSource struct {
	Cell int    `json:",omitempty"` // the cell of this number, and repetitions of it
	Text string `json:",omitempty"` // every cell whose Source is this text, also cells that are not entered yet
	File string `json:",omitempty"` // every cell whose Name is this: the parts of a program file
}

// Breakpoint is a breakpoint on a line.
type Breakpoint struct {
	Source BreakpointSource
	Asked  int // the line that SetBreakpoints was called with
	// the line of the first statement that begins on Asked or after it, if Verified; else Asked
	Line int
	// Verified reports whether code of the source with a stop on Line exists, or a cell with the
	// text of the source will have one.
	Verified bool
	Reason   string `json:",omitempty"` // why it is not verified
}

// Resume is a way to go on.
type Resume string

const (
	Continue Resume = "continue" // up to the next breakpoint
	StepOver Resume = "over"     // up to the next statement of the same function, or of its callers
	StepIn   Resume = "in"       // up to the next statement anywhere
	StepOut  Resume = "out"      // up to the next statement of a caller
)

// StopReason is the reason why ranks stand.
type StopReason string

const (
	AtBreakpoint StopReason = "breakpoint"
	AfterStep    StopReason = "step"
	Paused       StopReason = "pause"
)

// Stop is the state of the ranks of a cell of which at least one stands before a statement.
type Stop struct {
	ID   int // counts the stops of the session, from 1: a new one after each Resume
	Cell int // the running cell
	Name string
	// Complete reports whether no rank of the cell runs on. Otherwise some rank has not come to a
	// stop yet, and may never do so: Pause stops it.
	Complete bool
	Reason   StopReason // of the first rank that stands
	// Ranks are the ranks of the cell, ascending.
	Ranks []RankStop
}

// RankStop describes a rank of a cell during a stop.
type RankStop struct {
	Rank   int
	State  RankStopState
	Reason StopReason `json:",omitempty"` // if it stands
	Place  Place      // before which statement it stands; the zero value if it does not
	Doing  string     `json:",omitempty"` // if it does not stand: "waits in barrier at cell[2]:4 for rank 0", "was killed (SIGKILL)"
}

// RankStopState is the state of a rank during a stop.
type RankStopState string

const (
	Stands   RankStopState = "stands"
	Finished RankStopState = "finished" // it has finished the cell, failed, or died
	Waits    RankStopState = "waits"    // in an operation for ranks that do not run on
	Runs     RankStopState = "runs"
)

// Place is the place of a statement in the text of a cell.
type Place struct {
	Cell   int    `json:",omitempty"` // the cell's number, which may be an earlier one than the running cell's
	Name   string `json:",omitempty"` // as in errors: "cell[3]"
	Line   int    `json:",omitempty"`
	Column int    `json:",omitempty"`
	Source string `json:",omitempty"` // the line of the text
}

// Frame is a call that a stopped goroutine is in.
type Frame struct {
	Function string // as package runtime writes it: "main.main" for the statements of a cell, "main.(*T).M"
	Place           // of the statement that it stands before, or in which it has called the next function
}

// DebugEvent tells a front end that debugs what has changed. Exactly one field is set.
type DebugEvent struct {
	Stopped *Stop `json:",omitempty"` // a rank stands; again when the stop is complete, and whenever a rank's state changes
	// the stop with this ID is over: all ranks that stood go on, or the cell was interrupted, or the
	// last rank that stood has died
	Continued int           `json:",omitempty"`
	Begun     int           `json:",omitempty"` // this cell begins
	Ended     int           `json:",omitempty"` // this cell has ended
	Changed   *[]Breakpoint `json:",omitempty"` // all breakpoints, after those of some source have changed
	Over      bool          `json:",omitempty"` // the session that the front end is attached to has ended
}
