package session

// wireVersion is that of the messages in this file, between the processes of one session.
const wireVersion = 10

// maxPayload bounds the raw bytes of one message.
const maxPayload = 64 << 20

// command is a message from the controller to one rank. The rank's supervisor carries out Start, Kill and Quit itself and passes the others
// to its worker. Exactly one field is set, besides Ranks and those that go together.
type command struct {
	Ranks   RankList      `json:",omitempty"` // on the link of a host: those of its ranks that the command is for
	Start   *startCommand `json:",omitempty"`
	Kill    int           `json:",omitempty"` // end the worker of this incarnation at once
	Quit    bool          `json:",omitempty"` // let the worker close what it holds and exit
	Eval    *evalCommand  `json:",omitempty"` // the payload is the source
	Cancel  uint64        `json:",omitempty"` // the run with this number is interrupted; goes with Abort
	Abort   string        `json:",omitempty"` // end every wait, for this reason
	InVain  bool          `json:",omitempty"` // with Abort: no wait can end by itself any more
	Inspect *question     `json:",omitempty"`
	Status  uint64        `json:",omitempty"` // ask what the worker does; the answer has this number
	Look    bool          `json:",omitempty"` // with Status: only how far it has come, and what it waits for
	Probe   uint64        `json:",omitempty"` // ask whether the worker is held up; the answer has this number and nothing else
	Recover *recovery     `json:",omitempty"`
	Input   *inputCommand `json:",omitempty"` // the payload is a line of standard input
	Missing []int         `json:",omitempty"` // to a supervisor, before all have joined: the ranks that have not
	Refused string        `json:",omitempty"` // to a supervisor that has joined through another: why rank 0 does not admit it
	Taken   uint64        `json:",omitempty"` // to a host: the output that it numbered so, and all before it of the same ranks, was taken
}

// startCommand starts a fresh worker, after the previous one is gone.
type startCommand struct {
	Incarnation int
}

type evalCommand struct {
	Incarnation int    // of the worker that is meant; no other gets the cell
	Run         uint64 // counted by the controller; unlike cell numbers, never used twice
	Cell        int
	Name        string
	Line        int
	Columns     int
	Program     []string    `json:",omitempty"`
	Folder      string      `json:",omitempty"` // as in Cell
	Sanitize    *Sanitizing `json:",omitempty"` // what to do before the cell
	Only        RankList    `json:",omitempty"` // the ranks that run it; none: all
}

type inputCommand struct {
	Run uint64 // the run that asked
	End bool   // standard input is at its end
}

type question struct {
	ID    uint64
	Query Query
}

type recovery struct {
	ID       uint64
	Replaced []int
}

// event is a message from one rank to the controller about the worker of Incarnation, or from several whose messages are the same. Exactly one
// of the other fields is set, besides Ranks and those that go together.
type event struct {
	Ranks       RankList `json:",omitempty"` // on the link of a host: whose message it is
	Incarnation int

	Ready     *readyEvent   `json:",omitempty"` // the worker takes cells
	Failed    *Error        `json:",omitempty"` // the worker could not start; it will exit by itself
	Output    Stream        `json:",omitempty"` // the payload was written to it
	Begins    uint64        `json:",omitempty"` // with Output: the run that begins there; without a payload but on the link of a host, where the run's first may follow
	Number    uint64        `json:",omitempty"` // with Output, on the link of a host: Taken is to tell when it was taken
	Done      *doneEvent    `json:",omitempty"` // the payload is the value; all output has been sent before
	Answer    *answerEvent  `json:",omitempty"` // the payload is an Answer as JSON, unless there is an error
	Status    *statusEvent  `json:",omitempty"` // from the worker
	Process   *processEvent `json:",omitempty"` // from the supervisor, for the same question
	Probe     uint64        `json:",omitempty"` // the answer to a probe; earlier output has been sent before it
	HeldUp    bool          `json:",omitempty"` // with Probe: the worker waits for processors much of the time
	Recovered *recovered    `json:",omitempty"`
	Died      *deathEvent   `json:",omitempty"`
	Joins     bool          `json:",omitempty"` // the ranks have joined the leader of their host
	Gone      string        `json:",omitempty"` // why the supervisor itself is lost
}

type readyEvent struct {
	PID    int
	Host   string
	Device string
	Note   string `json:",omitempty"` // for Config.Notice, of rank 0
}

type doneEvent struct {
	Run        uint64
	HasValue   bool       `json:",omitempty"`
	Rich       bool       `json:",omitempty"` // the payload is a richValue as JSON
	Err        *Error     `json:",omitempty"`
	Tallies    []Tally    `json:",omitempty"`
	Late       string     `json:",omitempty"` // as in statusEvent
	Findings   []Finding  `json:",omitempty"`
	Sanitizing Sanitizing // when the cell has ended
}

// richValue is a value that has other forms than text.
type richValue struct {
	Text           string
	Data, Metadata map[string]any
}

type answerEvent struct {
	ID  uint64
	Err *Error `json:",omitempty"`
}

type statusEvent struct {
	ID    uint64
	Run   uint64    // the run in hand, 0 when idle
	Waits []Wait    `json:",omitempty"`
	Doing *Activity `json:",omitempty"` // of the run, if there are no Waits and it is known
	Busy  []Busy    `json:",omitempty"` // of the run
	Late  string    `json:",omitempty"` // describes the calls of interrupted cells that still run

	Standing *standing `json:",omitempty"` // if the Communicator tells
	HeldUp   bool      `json:",omitempty"` // the worker waits for processors much of the time
	CPU      float64   `json:",omitempty"` // seconds of processors that it has used

	Sharers []int `json:",omitempty"` // as in RankInfo
}

type processEvent struct {
	State string // of /proc/PID/stat: "R", "S", "T" for stopped
	RSS   int64
}

type recovered struct {
	ID   uint64
	Lost []string `json:",omitempty"`
	Err  string   `json:",omitempty"`
}

// deathEvent reports the end of a worker.
type deathEvent struct {
	Cause  string // "was killed (SIGKILL)"
	Stderr string // what it wrote to standard error about its end, unless that is in the file Report
	Report string `json:",omitempty"` // a file of its host that holds the report of Go's runtime
	Advice string `json:",omitempty"` // what to do about the cause
	Offset int    `json:",omitempty"` // 1 + where in the text of the cell it was, 0 if that is not known
	Next   string `json:"-"`          // what happens then, or what the user can do; the controller's word
	Exited bool   `json:",omitempty"` // it ended itself, as by os.Exit, with this status
	Status int    `json:",omitempty"`
}

// Bounds of what one rank reports about one cell, in bytes. Longer texts are cut and marked as such.
const (
	maxValue  = 256 << 10
	maxRich   = 48 << 20
	maxDetail = 256 << 10
)

// clip shortens text to about n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "… (cut)"
}

// clipError bounds an error's texts for the wire.
func clipError(e *Error) *Error {
	if e == nil {
		return nil
	}
	c := *e
	c.Msg, c.Source = clip(e.Msg, maxDetail), clip(e.Source, maxDetail)
	c.Hint, c.Detail = clip(e.Hint, maxDetail), clip(e.Detail, maxDetail)
	return &c
}
