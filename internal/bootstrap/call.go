package bootstrap

import (
	"fmt"
	"strings"
)

// Call identifies one collective call. It fails for all members of the group unless all make it
// with equal fields.
type Call struct {
	Group   []int  `json:"-"` // world ranks, ascending
	Key     string // names the group and its generation: calls of different keys never meet
	Ordinal uint64 // position among the calls with this key
	Op      string // "Empty", for messages
	Desc    string // arguments on which all members must agree, as in the user's text: "bf16[4096]"
}

// String returns the call as in the user's text.
func (c Call) String() string { return strings.TrimSpace(c.Op + " " + c.Desc) }

// Finished is the Why of a rank that has finished its cell without an error.
const Finished = "finished the cell without it"

// AbsentError reports that a member of the group will not make the call.
type AbsentError struct {
	Call Call
	Rank int
	Why  string // Finished, "died (killed)", "is not running this cell"
	Left int    // number of remaining ranks, if the rank is gone and no process takes its place; otherwise 0
}

func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s: rank %d %s", e.Call, e.Rank, e.Why)
}

// MismatchError reports that the members made different calls.
type MismatchError struct {
	Call  Call
	Calls []string // "Empty bf16[4096]", by position in Call.Group
}

func (e *MismatchError) Error() string {
	var b strings.Builder
	b.WriteString("the ranks made different collective calls:")
	for i, c := range e.Calls {
		fmt.Fprintf(&b, " rank %d: %s;", e.Call.Group[i], c)
	}
	return strings.TrimSuffix(b.String(), ";")
}
