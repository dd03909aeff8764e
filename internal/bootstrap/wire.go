package bootstrap

// Version is the version of the protocol between client and hub. Both ends are the same program,
// unless the user has mixed two builds.
const Version = 6

// MaxData bounds one rank's contribution to one call, in bytes.
const MaxData = 16 << 20

// request is the header of a frame from client to hub. Exactly one field is set.
type request struct {
	Hello    *hello  `json:",omitempty"`
	Gather   *gather `json:",omitempty"` // the payload is the contribution
	Left     *gather `json:",omitempty"` // the same for all remaining ranks, which the hub knows: Group is empty
	Withdraw uint64  `json:",omitempty"` // the ID of a gather that the client has given up
	Clock    uint64  `json:",omitempty"` // the ID of a question for the hub's time
}

type hello struct {
	Version int
	Rank    int
	Size    int
}

type gather struct {
	ID    uint64 // chosen by the client, from 1, never used again
	Group string // of the call, in the form of FormatRanks, which is short: all ranks of a large world send it
	Call  Call
}

// reply is the header of a frame from hub to client, the answer to the gather, or to the question
// for the time, with this ID. The
// payload holds the contributions by position in the group: first their sizes, written by
// binary.AppendUvarint, and then the contributions one after the other; or a single contribution,
// if all are equal. At most one of Members, Absent, Mismatch, Refused, Lost, Left and Clock is set.
type reply struct {
	ID      uint64
	Members int  `json:",omitempty"` // number of members of the group
	Alike   bool `json:",omitempty"` // with Members
	// with Members, for a call of the remaining ranks: these ranks, in the form of FormatRanks
	Group    string         `json:",omitempty"`
	Absent   *AbsentError   `json:",omitempty"`
	Mismatch *MismatchError `json:",omitempty"`
	Refused  string         `json:",omitempty"` // the fault of the request; with ID 0 the connection is refused
	Lost     *loss          `json:",omitempty"` // with ID 0: another rank is lost
	Clock    int64          `json:",omitempty"` // the hub's time in nanoseconds
	Left     *loss          `json:",omitempty"` // with ID 0: the process of another rank has ended
}

// loss reports that a rank is gone.
type loss struct {
	Rank int
	Why  string
}
