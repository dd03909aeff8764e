package session

import (
	"context"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Session is what every front end holds: one prompt that drives N ranks. Its methods may be called from
// several goroutines; cells run one at a time, in the order in which Eval was entered.
type Session interface {
	// Eval runs a cell on its ranks and returns when all of them are done. Output arrives at cell.Output
	// while it runs. Cancelling ctx interrupts the cell on all ranks; Eval still returns their replies.
	Eval(ctx context.Context, cell Cell) Reply
	// Inspect puts a query to every rank of ranks (nil: all) and returns their answers in rank order.
	Inspect(ctx context.Context, ranks []int, q Query) ([]Answer, error)
	// Ranks describes the processes.
	Ranks(ctx context.Context) ([]RankInfo, error)
	// Restart replaces workers (nil: all) by fresh ones; with replay it then runs the history on them. If it replaces all of them without replay, what can
	// be replayed later begins anew.
	Restart(ctx context.Context, ranks []int, replay bool, out func(Output)) error
	// History returns the cells evaluated so far, oldest first.
	History(ctx context.Context) ([]Cell, error)
	// Sanitizer describes the session's sanitizer.
	Sanitizer(ctx context.Context) (Sanitizer, error)
	// Close ends the session, or this front end's hold on it when it was attached.
	Close() error
}

// Cell is a piece of Go typed once and run on every rank.
type Cell struct {
	ID     int    // assigned by the controller, from 1; a silent cell that repeats another may have that one's
	Name   string // what positions cite; "cell[ID]" when empty
	Line   int    // line of Name on which Source starts; 1 when zero
	Source string //
	// Program are the files of a program of package main, by paths that the ranks find, if it has several. The source may call its function main.
	Program []string
	// Folder, if not empty, is the folder to which the ranks change before the source runs; the source may then be empty. It is a full name, so that a replay
	// does the same wherever the ranks are. A rank that cannot change fails, and does not run the source.
	Folder string `json:",omitempty"`
	Ranks  []int  // the ranks that run it; nil means all
	Silent bool   // not recorded in the history
	Failed string // of a cell in the history: the first line of why it failed, on any rank; "" if it did not
	Ended  bool   // of a cell in the history: it was before a Restart of all ranks without replay, which ended what it belonged to
	// Columns is how many columns a printed value has on the user's screen; 0 if that is not known.
	Columns int
	Stop    string // by what the user interrupts the cell, as remarks call it; "Ctrl-C" when empty
	// InPlace says that the front end shows notes in place of those before that have the same topic: it gets them again and again, as times go on.
	InPlace bool
	// Again is by what the user has ranks replaced that an interrupt does not stop: "Ctrl-C again". Then the session tells which ranks these are, and the front end
	// restarts them when the user asks for that. When empty, the session replaces them after Config.KillAfter; so it does when Gone is closed, because nobody can ask
	// any more.
	Again string
	Gone  <-chan struct{} `json:"-"`
	// Sanitize, if not nil, is how the sanitizer looks at kernels from this cell on. The cell must be for all ranks.
	Sanitize *Sanitizing `json:",omitempty"`
	// Output receives output while the cell runs; it is never called concurrently, nor after Eval has
	// returned; may be nil.
	Output func(Output) `json:"-"`
	// Late, if not nil, receives what ranks print while no cell runs on them, from when Eval has returned until the next cell that is recorded has;
	// it is never called concurrently. If it is nil, that is kept for the next cell's Output.
	Late func(Output) `json:"-"`
	// Input is asked for a line, without its end, when ranks read standard input. The ranks share what is typed: the first line goes to each
	// rank's first read. Its context ends with the cell. After an error, io.EOF or another, and when it is nil, standard input is at its end.
	Input func(context.Context) (string, error) `json:"-"`
}

// Output is bytes that the ranks of Ranks printed alike.
type Output struct {
	Ranks  []int // ascending
	Stream Stream
	Text   string // whole lines, except that a last line may lack its newline
	// Topic, of a Note: a front end that can may show it in place of the cell's earlier note of the same topic.
	Topic string `json:",omitempty"`
	// Again, of a Note with a topic, says that it adds nothing but times to the earlier one, or takes something back. It comes only to cells that ask for it by
	// Cell.InPlace, and is to be left out where it cannot be shown in place.
	Again bool `json:",omitempty"`
	// Display is set for what is more than text; Text is then what a front end shows that knows text only.
	Display *Display `json:",omitempty"`
}

// Display is something that cells show in several forms, by MIME type.
type Display = inband.Display

// Stream tells what kind of output it is.
type Stream uint8

const (
	Stdout Stream = 1
	Stderr Stream = 2
	Note   Stream = 3 // said by the session itself: a watchdog table, a replaced rank
)

// Reply is the outcome of a cell.
type Reply struct {
	Cell    int
	Values  []Value  // of the cell's last expression, folded; empty when it had none
	Errors  []*Error // folded: equal errors of several ranks are one; empty when the cell succeeded
	Elapsed float64  // seconds, until the last rank was done
	// Findings are what the sanitizer has found, each once over all ranks.
	Findings []Finding `json:",omitempty"`
}

// Value is the printed value of the last expression, equal on Ranks.
type Value struct {
	Ranks []int
	Text  string
	// Further forms of it by MIME type, and what belongs to them, as in Display.
	Data, Metadata map[string]any `json:",omitempty"`
}

// RankInfo describes one worker process.
type RankInfo struct {
	Rank        int
	Host        string
	PID         int
	Device      string // "cuda:2 NVIDIA H200"
	Sharers     []int  // the ranks that use the same device, this one among them; nil if it has one of its own
	Incarnation int    // 1 for the first worker of this rank
	State       string // "idle", "running", "waiting", "stopped", "starting", "dead"
	Doing       string // what it waits for or is in, when that is known; that it does not answer, when State is what the session knows itself
	RSS         int64  // bytes resident
	Replaced    int    // the cell in or after which its worker was replaced, so that what cells had defined is lost; 0 if it was not, or they were replayed
}

// Evaluator is one rank's interpreter. interp.Interp satisfies it, and optional.go has what it may do besides.
type Evaluator interface {
	// Eval runs one cell. What it prints goes to file descriptors 1 and 2. Cancelling ctx must make it return
	// with an error of KindInterrupted and leave the evaluator usable. Calls never overlap.
	Eval(ctx context.Context, cell Cell) Result
	// Inspect answers a query; it may be called while Eval runs.
	Inspect(ctx context.Context, q Query) (Answer, error)
}

// Result of a cell on one rank.
type Result struct {
	Value    string // printed value of the last expression
	HasValue bool
	Data     map[string]any // the value in further forms, by MIME type
	Metadata map[string]any // of these forms
	Err      *Error
}

// Communicator is what the ranks of a session communicate through: symmetric memory, signals and collective calls. The session drives it
// around cells, to wait, to interrupt and to recover. symmem satisfies it through a small adapter in cmd; optional.go has what it may do besides. All methods
// but Recover may be called while a cell runs.
type Communicator interface {
	// Abort ends every device- and host-side wait of this rank, now and until Recover. why is shown to the
	// user.
	Abort(why string)
	// Waits lists what this rank waits for at this moment, empty when it waits for nothing.
	Waits() []Wait
	// Begin says that a cell begins on this rank, by a number: all ranks have finished those of smaller numbers.
	Begin(run uint64)
	// Finish waits for this rank's device work at the end of a cell and returns the first fault of it.
	Finish(ctx context.Context) *Error
	// Recover is collective over all ranks after a cell in which something was aborted or a rank was
	// replaced: it drains the device, resets signals and epochs, lowers the abort, and forgets what the
	// replaced ranks held. It returns what was lost on this rank, in words.
	Recover(ctx context.Context, replaced []int) (lost []string, err error)
	// Tallies says which stream-ordered collective calls this rank has made, for comparison with the others'
	// after a cell.
	Tallies() []Tally
	// Findings returns what the sanitizer has found on this rank since it was called last, without Ranks and Cell.
	Findings() []Finding
	Close() error
}

// Tally sums up the stream-ordered collective calls of one rank in one group since the last Recover. Ranks that
// have made the same calls have equal tallies; a rank that made none in a group has none.
type Tally struct {
	Group  string   // for messages: "world"
	Key    string   // identifies the group on all its members
	Ranks  RankList // the members
	Calls  uint64
	Digest uint64
	Last   string // the last of the calls, with its arguments
	At     string // where in the user's text that is, as in Wait
}

// Wait is one thing a rank waits for.
type Wait struct {
	Op      string   // "wait_signal", "one_shot_all_reduce", "Rendezvous"
	Ordinal uint64   // of a collective call in its group, from 1; 0 of any other
	Group   string   // "world", or the members
	Peers   RankList // world ranks it waits for
	For     string   // "a signal on channel 3"
	Since   float64  // seconds
	Limit   float64  // seconds after which it ends by itself, with an error; 0: never
	At      string   // where in the user's text the call is, as "cell[3]:7"; "" if it is not known

	Call string `json:",omitempty"` // what a collective call is called on all members, and nothing else is; "" if it is none
	Sure bool   `json:",omitempty"` // only what Peers do in calls of their own ends it, or any other rank if there are none
	Host bool   `json:",omitempty"` // it is in a collective call that meets on the host, where the session knows who is missing
	Seen uint64 `json:",omitempty"` // when the device has looked in vain last, in nanoseconds by a clock of the rank's
}
