package bootstrap

// Version is the version of the protocol between client and hub. Both ends are the same program, unless the user has mixed two builds.
const Version = 5

// MaxData bounds what one rank may contribute to one call, in bytes.
const MaxData = 16 << 20

// request is the header of a frame from client to hub. Exactly one field is set.
type request struct {
	Hello    *hello  `json:",omitempty"`
	Gather   *gather `json:",omitempty"` // the payload is the contribution
	Left     *gather `json:",omitempty"` // likewise, of all ranks that are left, which the hub knows: Group is empty
	Withdraw uint64  `json:",omitempty"` // the ID of a gather that the client has given up
}

type hello struct {
	Version int
	Rank    int
	Size    int
}

type gather struct {
	ID    uint64 // chosen by the client, from 1, never used again
	Group string // of the call, as FormatRanks writes it: all of a large world send theirs
	Call  Call
}

// reply is the header of a frame from hub to client, the answer to the gather ID. The payload holds the contributions by position in the group: their
// sizes, as binary.AppendUvarint writes them, and then all one after the other; or one, if all are alike. At most one of Members, Absent, Mismatch,
// Refused, Lost and Left is set.
type reply struct {
	ID       uint64
	Members  int            `json:",omitempty"` // of the group
	Alike    bool           `json:",omitempty"` // with Members
	Group    string         `json:",omitempty"` // with Members, of a call of the ranks that are left: who these are, as FormatRanks writes it
	Absent   *AbsentError   `json:",omitempty"`
	Mismatch *MismatchError `json:",omitempty"`
	Refused  string         `json:",omitempty"` // what is wrong with the request; with ID 0 the connection is refused
	Lost     *loss          `json:",omitempty"` // with ID 0: news of another rank, as is
	Left     *loss          `json:",omitempty"` // this: its process has ended
}

// loss says that a rank is gone for good.
type loss struct {
	Rank int
	Why  string
}
