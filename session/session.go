package session

import (
	"context"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Session is one prompt that drives N ranks; every front end holds one. Its methods may be called
// from several goroutines; cells run one at a time, in the order of the calls of Eval.
type Session interface {
	// Eval runs a cell on its ranks and returns when all of them are done. While it runs, output
	// goes to cell.Output. Cancelling ctx interrupts the cell on all ranks; Eval still returns
	// their replies.
	Eval(ctx context.Context, cell Cell) Reply
	// Inspect puts a query to every rank of ranks (nil: all) and returns their answers in rank
	// order.
	Inspect(ctx context.Context, ranks []int, q Query) ([]Answer, error)
	// Ranks describes the processes.
	Ranks(ctx context.Context) ([]RankInfo, error)
	// Restart replaces workers (nil: all) by fresh ones; with replay it then runs the history on
	// them. If it replaces all workers without replay, a later replay begins after this restart.
	Restart(ctx context.Context, ranks []int, replay bool, out func(Output)) error
	// History returns the cells evaluated so far, oldest first.
	History(ctx context.Context) ([]Cell, error)
	// Sanitizer describes the session's sanitizer.
	Sanitizer(ctx context.Context) (Sanitizer, error)
	// Interrupt interrupts the cell that runs, whichever front end has entered it, as if its user had
	// done so, and returns its title, "" if no cell runs. It does not wait for the end of the cell.
	Interrupt(ctx context.Context) (cell string, err error)
	// Debug opens a Debugger. From its return until the Debugger is closed, events are passed to
	// event, in order and never concurrently; event must not call methods of the Debugger, because
	// the next event comes only when it has returned. If a stop is there already, it is the first.
	Debug(ctx context.Context, event func(DebugEvent)) (Debugger, error)
	// Close ends the session. For an attached front end, it only disconnects.
	Close() error
}

// Cell is a piece of Go typed once and run on every rank.
type Cell struct {
	ID     int    // assigned by the controller, from 1; a silent cell that repeats another cell may have the other's ID
	Name   string // the cell's name in positions; "cell[ID]" when empty
	Line   int    // line of Name on which Source starts; 1 when zero
	Source string //
	// Typed, if not empty, is the user's text, which Source surrounds with code of a command: see
	// Cell.Place. A message about the cell quotes it.
	Typed string `json:",omitempty"`
	// Imports are the packages, by name, that the source may use in addition to those of the session.
	// The session does not keep the names. It is for cells that no user enters.
	Imports map[string]string `json:",omitempty"`
	// Program lists the files of a program of package main, if it has several, by paths that the
	// ranks can open. The source may call the program's function main.
	Program []string `json:",omitempty"`
	// Folder, if not empty, is the folder to which the ranks change before the source runs; the
	// source may then be empty. It is an absolute path, so that a replay does the same from any
	// folder. If a rank cannot change to it, the rank fails and does not run the source.
	Folder string `json:",omitempty"`
	Ranks  []int  `json:",omitempty"` // the ranks that run it; nil means all
	Silent bool   `json:",omitempty"` // not recorded in the history
	Gives  string `json:",omitempty"` // of a silent cell: the variable to which it gives a value that is in no cell
	Failed string `json:",omitempty"` // of a cell in the history: the first line of its error, on any rank; "" if it succeeded
	Ended  bool   `json:",omitempty"` // of a cell in the history: a later Restart of all ranks without replay has ended the history that it belongs to
	// Columns is the number of columns for a printed value on the user's screen; 0 if it is not
	// known.
	Columns int `json:",omitempty"`
	// By names the program that has entered the cell, "" if a user has. The session then shows the
	// program's cell, and its outcome, to Config.Notice and to the front end whose Cell.Late it
	// holds.
	By   string `json:",omitempty"`
	Stop string `json:",omitempty"` // the user's way to interrupt the cell, for remarks; "Ctrl-C" when empty
	// InPlace means that the front end replaces a shown note by a later one with the same topic: it
	// gets notes again and again, with current times.
	InPlace bool `json:",omitempty"`
	// Again names the user's way to replace ranks that an interrupt does not stop: "Ctrl-C again".
	// The session then reports these ranks, and the front end restarts them when the user asks for
	// it. When Again is empty, the session replaces them after Config.KillAfter. It also does so
	// when Gone is closed, because the user can no longer ask. Ranks on which a guest's cell does not
	// stop are reported to the session's users instead.
	Again string          `json:",omitempty"`
	Gone  <-chan struct{} `json:"-"`
	// Sanitize, if not nil, is the state of the sanitizer from this cell on. The cell must be for
	// all ranks. With Borrows, the state of before comes back if the front end disconnects.
	Sanitize *Sanitizing `json:",omitempty"`
	Borrows  bool        `json:",omitempty"`
	// Debugged reports whether the code of the cell can stand before statements. The session sets
	// it for an Evaluator.
	Debugged bool `json:",omitempty"`
	// Output receives output while the cell runs. It is never called concurrently or after Eval has
	// returned. If it is nil, the cell's own output is dropped; output from before the cell, and notes about
	// ranks that were replaced, are kept for the next cell or go to the Late of an earlier one.
	Output func(Output) `json:"-"`
	// Late, if not nil, receives the output of ranks while no cell runs on them, from the return of
	// Eval until the next recorded cell has returned. It is never called concurrently. If it is
	// nil, that output is kept for the next cell's Output.
	Late func(Output) `json:"-"`
	// Input is asked for a line, without its end, when ranks read standard input. The ranks share
	// the typed lines: the first line goes to each rank's first read. Its context ends with the
	// cell. After an error, io.EOF or another, and when it is nil, standard input is at its end.
	Input func(context.Context) (string, error) `json:"-"`
}

// Output is output that is equal on all ranks of Ranks.
type Output struct {
	Ranks  []int // ascending
	Stream Stream
	Text   string // whole lines, except that a last line may lack its newline
	// Topic of a Note: a front end may replace the cell's earlier note of the same topic by this
	// one.
	Topic string `json:",omitempty"`
	// Again of a Note with a topic means that it changes only times in the earlier note, or removes
	// entries. Such notes come only to cells with Cell.InPlace; a front end that cannot replace the
	// earlier note drops them.
	Again bool `json:",omitempty"`
	// Hang of a Note are the rows of its table, if it says that ranks wait in vain.
	Hang []HangRow `json:",omitempty"`
	// Cycle of such a Note are three or more ranks that wait in a cycle, each for the next and the
	// last for the first; none if there is no such cycle.
	Cycle []int `json:",omitempty"`
	// Display is set for output that is more than text. Text is then the form for front ends that
	// show only text.
	Display *Display `json:",omitempty"`
}

// Display is an object that a cell shows, in several forms by MIME type. The form PanelType is a
// Panel of widgets, also among the forms of a Value.
type (
	Display  = inband.Display
	Panel    = inband.Panel
	Control  = inband.Control
	Function = inband.Function
)

// PanelType is the MIME type of a Panel.
const PanelType = inband.PanelType

// Stream is the kind of an Output.
type Stream uint8

const (
	Stdout Stream = 1
	Stderr Stream = 2
	Note   Stream = 3 // from the session itself: a watchdog table, a replaced rank
)

// Reply is the outcome of a cell.
type Reply struct {
	Cell    int
	Values  []Value  // of the cell's last expression, folded; empty if it has no value
	Errors  []*Error // folded: equal errors of several ranks are one; empty when the cell succeeded
	Elapsed float64  // seconds, until the last rank was done
	// Findings are the sanitizer's findings, each once over all ranks.
	Findings []Finding `json:",omitempty"`
}

// Value is the printed value of the last expression, equal on Ranks.
type Value struct {
	Ranks []int
	Text  string
	// Further forms of the value by MIME type, and their metadata, as in Display.
	Data, Metadata map[string]any `json:",omitempty"`
}

// RankInfo describes one worker process.
type RankInfo struct {
	Rank        int
	Host        string
	PID         int
	Device      string // "cuda:2 NVIDIA H200"
	Sharers     []int  // the ranks that share the device, this one included; nil if the device is not shared
	Incarnation int    // 1 for the first worker of this rank
	State       string // "idle", "running", which includes compiling, "waiting", "stopped", "starting", "dead"
	// the rank's wait or activity, if known; or that the rank does not answer, in which case State
	// is the session's own knowledge
	Doing string
	RSS   int64 // bytes resident
	// the cell during or after which the worker was replaced, so that earlier definitions are lost;
	// 0 if it was not replaced, or the cells were replayed
	Replaced int
	// Restart has replaced it, after that cell or while the cell ran
	Restarted bool
}

// Evaluator is one rank's interpreter. interp.Interp satisfies it; optional.go lists further
// interfaces that it may satisfy.
type Evaluator interface {
	// Eval runs one cell. Its output goes to file descriptors 1 and 2. Cancelling ctx must make it
	// return with an error of KindInterrupted and leave the evaluator usable. Calls never overlap.
	Eval(ctx context.Context, cell Cell) Result
	// Inspect answers a query; it may be called while Eval runs.
	Inspect(ctx context.Context, q Query) (Answer, error)
}

// Result of a cell on one rank.
type Result struct {
	Value    string // printed value of the last expression
	HasValue bool
	Data     map[string]any // further forms of the value, by MIME type
	Metadata map[string]any // metadata of these forms
	Err      *Error
}

// Communicator connects the ranks of a session: symmetric memory, signals and collective calls. The
// session calls it around cells, to wait, to interrupt and to recover. symmem satisfies it through
// a small adapter in cmd; optional.go lists further interfaces that it may satisfy. All methods but
// Recover may be called while a cell runs.
type Communicator interface {
	// Abort ends every device- and host-side wait of this rank, now and until Recover. The user
	// sees why.
	Abort(why string)
	// Waits lists the current waits of this rank; it is empty if there are none.
	Waits() []Wait
	// Begin announces that a cell, with the number run, begins on this rank. All ranks have
	// finished the cells with smaller numbers.
	Begin(run uint64)
	// Finish waits for this rank's device work at the end of a cell and returns its first fault.
	Finish(ctx context.Context) *Error
	// Recover is collective over all ranks after a cell in which something was aborted or a rank
	// was replaced: it drains the device, resets signals and epochs, clears the abort, and drops
	// resources of the replaced ranks. It returns descriptions of the resources that were lost on
	// this rank.
	Recover(ctx context.Context, replaced []int) (lost []string, err error)
	// Tallies sums up this rank's stream-ordered collective calls, for comparison with the other
	// ranks after a cell.
	Tallies() []Tally
	// Findings returns the sanitizer's findings on this rank since the last call, without Ranks and
	// Cell.
	Findings() []Finding
	Close() error
}

// Tally sums up the stream-ordered collective calls of one rank in one group since the last
// Recover. Ranks that have made the same calls have equal tallies; a rank that made none in a group
// has none.
type Tally struct {
	Group  string   // for messages: "world"
	Key    string   // identifies the group on all its members
	Ranks  RankList // the members
	Calls  uint64
	Digest uint64
	Last   string // the last of the calls, with its arguments
	At     string // the position of Last in the user's text, as in Wait
}

// MaxSource is the maximum size of a cell's text, in bytes. A rank needs many times as much memory to
// compile it.
const MaxSource = 16 << 20
