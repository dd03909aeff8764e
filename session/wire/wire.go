// Package wire declares the messages between the processes of a session.
package wire

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// Version is the version of the messages in this file, between the processes of one session.
const Version = 14

// MaxPayload bounds the raw bytes of one message.
const MaxPayload = 64 << 20

// Command is a message from the controller to one rank. The rank's supervisor carries out Start,
// Kill and Quit itself and passes the others to its worker. Besides Ranks exactly one field is set,
// or fields that go together.
type Command struct {
	Ranks   session.RankList `json:",omitempty"` // on the link of a host: the ranks of the host that the command is for
	Start   *Start           `json:",omitempty"`
	Kill    int              `json:",omitempty"` // end the worker of this incarnation at once
	Quit    bool             `json:",omitempty"` // let the worker close its communicator and exit
	Eval    *Eval            `json:",omitempty"` // the payload is the source
	Cancel  uint64           `json:",omitempty"` // interrupt the run with this number; goes with Abort
	Abort   string           `json:",omitempty"` // end every wait, for this reason
	Run     uint64           `json:",omitempty"` // with Abort, without Cancel: the run whose waits end
	InVain  bool             `json:",omitempty"` // with Abort: no wait can end by itself any more
	Moves   uint64           `json:",omitempty"` // with InVain: as in the rank's last answer; the command is not for a rank that has moved since
	Inspect *Question        `json:",omitempty"`
	Status  uint64           `json:",omitempty"` // ask for the worker's activity; the answer has this number
	Look    bool             `json:",omitempty"` // with Status: only its progress and its waits
	Probe   uint64           `json:",omitempty"` // ask whether the worker is held up; the answer has this number and nothing else
	Judge   bool             `json:",omitempty"` // judge from now on whether the worker is held up
	Recover *Recovery        `json:",omitempty"`
	Input   *Input           `json:",omitempty"` // the payload is a line of standard input
	Debug   *Debug           `json:",omitempty"`
	Missing []int            `json:",omitempty"` // to a supervisor, before all have joined: the missing ranks
	Refused string           `json:",omitempty"` // to a supervisor that has joined through another one: why rank 0 does not admit it
	// to a host: the controller has taken the output with this number, and all earlier output of
	// the same ranks
	Taken uint64 `json:",omitempty"`
}

// IsJob reports whether the command is for the goroutine of a worker that runs cells. Such commands
// have a connection of their own, so that this goroutine can wait there.
func (c *Command) IsJob() bool { return c.Eval != nil || c.Recover != nil }

// Start starts a fresh worker, after the previous worker is gone.
type Start struct {
	Incarnation int
}

type Eval struct {
	Incarnation int              // of the worker that the cell is for; no other worker gets it
	Run         uint64           // counted by the controller; unlike cell numbers, never used twice
	Cell        session.Cell     // without what only the controller needs, and Source, which is the payload; Sanitize is the sanitizer's change
	Only        session.RankList `json:",omitempty"` // the ranks that run the cell; none: all
	Breaks      map[int][]int    `json:",omitempty"` // lines with breakpoints by cell, if Debugged: see debugging.begin
	Follows     bool             `json:",omitempty"` // the cell waits for the Debug with its run as Begin
}

// Debug is for a DebuggedEvaluator, by its methods. Exactly one field is set.
type Debug struct {
	Begin  uint64         `json:",omitempty"` // the run that begins: earlier commands do not concern it
	Breaks map[int][]int  `json:",omitempty"`
	Resume session.Resume `json:",omitempty"`
	Pause  bool           `json:",omitempty"`
	Leave  bool           `json:",omitempty"`
}

type Input struct {
	Run uint64 // the run that asked
	End bool   // standard input has ended
}

type Question struct {
	ID    uint64
	Query session.Query
}

type Recovery struct {
	ID       uint64
	Replaced []int
	Timeout  time.Duration
}

// Event is a message about the worker of Incarnation to the controller, from one rank, or from
// several ranks with equal messages. Besides Ranks exactly one of the other fields is set, or
// fields that go together.
type Event struct {
	Ranks       session.RankList `json:",omitempty"` // on the link of a host: the ranks that send the message
	Incarnation int

	Ready  *Ready         `json:",omitempty"` // the worker takes cells
	Failed *session.Error `json:",omitempty"` // the worker could not start; it will exit by itself
	Output session.Stream `json:",omitempty"` // the payload was written to this stream
	// with Output: the run that begins there; there is no payload, except on the link of a host,
	// where the run's first output may follow
	Begins    uint64     `json:",omitempty"`
	Number    uint64     `json:",omitempty"` // with Output, on the link of a host: Taken acknowledges this number
	Done      *Done      `json:",omitempty"` // the payload is the value; all output has been sent before
	Answer    *Answer    `json:",omitempty"` // the payload is an Answer as JSON, unless there is an error
	Status    *Status    `json:",omitempty"` // from the worker
	Process   *Process   `json:",omitempty"` // from the supervisor, for the same question
	Probe     uint64     `json:",omitempty"` // the answer to a probe; earlier output has been sent before it
	HeldUp    bool       `json:",omitempty"` // with Probe: the worker has waited for processors, and may print late
	Stopped   *Stopped   `json:",omitempty"` // code of the cell stands
	Recovered *Recovered `json:",omitempty"`
	Died      *Death     `json:",omitempty"`
	Joins     bool       `json:",omitempty"` // the ranks have joined the leader of their host
	Gone      string     `json:",omitempty"` // why the supervisor itself is lost
}

// IsAnswer reports whether the event is a worker's answer to a job, which has a connection of its own.
func (e *Event) IsAnswer() bool { return e.Done != nil || e.Recovered != nil }

type Ready struct {
	PID    int
	Host   string
	Device string
	Note   string `json:",omitempty"` // for Config.Notice, of rank 0
}

type Done struct {
	Run        uint64
	HasValue   bool               `json:",omitempty"`
	Rich       bool               `json:",omitempty"` // the payload is a RichValue as JSON
	Err        *session.Error     `json:",omitempty"`
	Tallies    []session.Tally    `json:",omitempty"`
	Late       string             `json:",omitempty"` // as in Status
	Findings   []session.Finding  `json:",omitempty"`
	Sanitizing session.Sanitizing `json:",omitzero"` // the state at the end of the cell
}

// RichValue is a value that has other forms besides text.
type RichValue struct {
	Text           string
	Data, Metadata map[string]any
}

type Answer struct {
	ID  uint64
	Err *session.Error `json:",omitempty"`
}

type Status struct {
	ID    uint64
	Run   uint64            // the run in hand, 0 when idle
	Waits []session.Wait    `json:",omitempty"`
	Doing *session.Activity `json:",omitempty"` // activity of the run, if there are no Waits and it is known
	Busy  []session.Busy    `json:",omitempty"` // kernels of the run
	Late  string            `json:",omitempty"` // describes the calls of interrupted cells that still run

	Standing *Standing `json:",omitempty"` // if the Communicator is a ProgressReporter
	Slow     Slowness  `json:",omitempty"` // the factor by which it is slower, if it waits for processors much of the time
	CPU      float64   `json:",omitempty"` // processor time that it has used, in seconds

	Sharers []int `json:",omitempty"` // as in RankInfo
}

type Stopped struct {
	Run    uint64
	Reason session.StopReason
	Place  session.Place
}

type Process struct {
	State string // of /proc/PID/stat: "R", "S", "T" for stopped
	RSS   int64
}

type Recovered struct {
	ID   uint64
	Lost []string `json:",omitempty"`
	Err  string   `json:",omitempty"`
}

// Death reports the end of a worker.
type Death struct {
	Cause  string // "was killed (SIGKILL)"
	Stderr string // its words on standard error about its end, unless the file Report holds them
	Report string `json:",omitempty"` // a file on its host with the report of Go's runtime
	Advice string `json:",omitempty"` // what to do about the cause
	Offset int    `json:",omitempty"` // 1 + its offset in the text of the cell, 0 if it is not known
	Next   string `json:"-"`          // what happens next, or what the user can do; set by the controller
	Exited bool   `json:",omitempty"` // it ended itself with this status, for example by os.Exit
	Status int    `json:",omitempty"`
}

// Bounds of one rank's reports about one cell, in bytes. Longer texts are cut and marked as such.
const (
	maxValue  = 256 << 10
	MaxRich   = 48 << 20
	maxDetail = 256 << 10
)

// Clip shortens text to about n bytes, and adds the number of bytes that it leaves out.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes more are left out)", text[:n], len(text)-n)
}

// ClipError shortens an error's texts for the wire.
func ClipError(e *session.Error) *session.Error {
	if e == nil {
		return nil
	}
	c := *e
	c.Msg, c.Source = Clip(e.Msg, maxDetail), Clip(e.Source, maxDetail)
	c.Hint, c.Detail = Clip(e.Hint, maxDetail), Clip(e.Detail, maxDetail)
	return &c
}

// Standing is a rank's report of its progress.
type Standing struct {
	Moves uint64 `json:",omitempty"`
	// the rank makes no progress by itself, and only code that waits in operations remains of its
	// cells
	Stands bool `json:",omitempty"`
	// code of the cell is in a call that returns only when the device or another rank makes progress
	Inside    bool                `json:",omitempty"`
	Watched   bool                `json:",omitempty"`
	Exchanged []session.Exchanged `json:",omitempty"`
}

// Equal reports whether a rank has made no progress between a and b.
func (a *Standing) Equal(b *Standing) bool {
	return a.Moves == b.Moves && a.Stands == b.Stands && slices.Equal(a.Exchanged, b.Exchanged)
}

// FirstLine returns a text up to its first newline.
func FirstLine(s string) string {
	for i, c := range s {
		if c == '\n' {
			return s[:i]
		}
	}
	return s
}

// WatchdogQuestion is the number of status questions whose answers go only to the running cell.
const WatchdogQuestion = 1<<64 - 1
