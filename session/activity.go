package session

// Wait is one wait of a rank.
type Wait struct {
	Op      string   // "wait_signal", "one_shot_all_reduce", "Rendezvous"
	Ordinal uint64   // number of a collective call in its group, from 1; 0 for other operations
	Group   string   // "world", or the members
	Peers   RankList // the awaited world ranks
	For     string   // "a signal on channel 3"
	Since   float64  // seconds
	Limit   float64  // seconds after which the wait ends by itself, with an error; 0: never
	At      string   // position of the call in the user's text, such as "cell[3]:7"; "" if it is not known

	Call string `json:",omitempty"` // a name of the collective call that is unique and equal on all members; "" for other operations
	Sure bool   `json:",omitempty"` // only calls of Peers, or of any other rank if there are no Peers, can end it
	// calls of any other rank may end it, though it has Peers, because a kernel of the user's waits
	Anyone bool   `json:",omitempty"`
	Host   bool   `json:",omitempty"` // it is a collective call that meets on the host, where the session knows the missing ranks
	NCCL   bool   `json:",omitempty"` // it is a call inside NCCL
	Seen   uint64 `json:",omitempty"` // a number that grows when the device has checked it in vain
}

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

// Progress describes how far a rank has come. From it the session distinguishes slow ranks from
// ranks that wait in vain: see ProgressReporter.
type Progress struct {
	Moves   uint64 // changes whenever the rank has made progress
	Stands  bool   // the rank makes no progress by itself: all pending work waits in operations that Waits lists
	Inside  int    // number of goroutines in calls that return only when the device or another rank makes progress
	Watched bool   // the sanitizer watches kernels, so they take many times as long

	Compiles    string  // the compiler that the rank waits for, "" if there is none
	CompilesFor float64 // seconds
	CompilesAt  string  // position in the user's text, as in Wait

	Exchanged []Exchanged // messages exchanged with ranks on other hosts
	Waits     []Wait      // the result of Waits at the same moment
}

// Exchanged counts numbered messages between a rank and another rank. No message is under way if
// the count of sent messages on one side equals the count of finished messages on the other.
type Exchanged struct {
	Peer         int
	Sent, Landed uint64
}

// HangRow describes some ranks of a cell while ranks wait in vain: a row of the watchdog's table.
type HangRow struct {
	Ranks []int   // ascending
	Doing string  // "waits in wait_signal at cell[8]:1 for rank 3: a signal on channel 0", "has finished the cell"
	For   float64 // seconds that it has lasted on the rank that has done it longest; 0 if it is not known
	Waits []Wait  `json:",omitempty"` // the waits of the first of the ranks; none if it does not wait
}
