package session

import (
	"fmt"
	"time"
)

// Query is a question to ranks. Answering it runs no user code, so that it may be asked while a cell runs.
type Query struct {
	Topic Topic
	Arg   string `json:",omitempty"` // what the question is about, for the topics that say so
	// Columns is how many columns the answer has on the user's screen; 0 if that is not known.
	Columns int `json:",omitempty"`
}

// Topic is what a Query asks for.
type Topic string

// Every Evaluator answers these topics. The comments name the field of Answer that holds the answer.
const (
	TopicVars       Topic = "vars"        // Variables: those of the session, in the order of their definition
	TopicType       Topic = "type"        // Text: the type of the expression Arg
	TopicDoc        Topic = "doc"         // Text: the declaration and the documentation of the name Arg
	TopicComplete   Topic = "complete"    // Candidates: what the word at the end of the source Arg may become
	TopicCaps       Topic = "caps"        // Text: what the device and the back end can do, one capability a line
	TopicTop        Topic = "top"         // Text: memory and utilisation of the device, one line
	TopicHeld       Topic = "held"        // Text: what would be lost with the rank, such as "2 symmetric tensors (1.5 MiB on each rank)"; "" if nothing
	TopicTopo       Topic = "topo"        // Topology: how the device reaches the other ones of its host
	TopicNetwork    Topic = "network"     // Network: what carries operations to other hosts, after a change by the settings in Arg, if there are any
	TopicStartTrace Topic = "start trace" // nothing: from now on the rank records its operations
	TopicStopTrace  Topic = "stop trace"  // Trace: what was recorded
)

// Answer is one rank's answer to a Query. An Evaluator sets the field that the topic names; the session sets Rank and,
// if the rank has no answer, Err alone.
type Answer struct {
	Rank int
	Err  *Error `json:",omitempty"`

	Text       string      `json:",omitempty"`
	Variables  []Variable  `json:",omitempty"`
	Candidates []Candidate `json:",omitempty"`
	Topology   *Topology   `json:",omitempty"`
	Network    *Network    `json:",omitempty"`
	Trace      *Trace      `json:",omitempty"`
}

// Variable is a variable of the session on one rank. Two variables are equal if a table shows them alike.
type Variable struct {
	Name  string
	Type  string
	Size  int64  // bytes: an estimate of all that the variable leads to
	Value string // one line, shortened
}

// Candidate is a word that may stand at the cursor.
type Candidate struct {
	Name string
	Kind string // "func", "field", "method" and the like
	Type string // one line, as cells write it; "" if there is none
}

// Topology describes how a rank's device reaches the other devices of its host: by one medium that all of them share, or
// by a link to each.
type Topology struct {
	Device  string // "cuda:2"
	ID      string `json:",omitempty"` // the UUID of a GPU
	Medium  string `json:",omitempty"` // "shared memory of this host"
	Links   []Link `json:",omitempty"`
	Host    int    `json:",omitempty"` // the rank's, from 0 on
	Part    int    `json:",omitempty"` // the rank's part of the world, whose ranks map each other's memory: a host, or a part of it
	Between string `json:",omitempty"` // what carries traffic between hosts and parts, "" if there is one part
	Sharers []int  `json:",omitempty"` // the ranks that use the same GPU, this one among them; nil if it has one of its own
	Manner  string `json:",omitempty"` // how their kernels run: "in turns by time slices"
}

// Link connects a rank's device with another one of its host.
type Link struct {
	Index int     // of the other device on the host
	Name  string  // of the other device: "NVIDIA H200"
	ID    string  // of the other device: its UUID
	Kind  string  // "NV18" for 18 NVLinks, else the nearest common place: "PIX", "PXB", "PHB", "NODE", "SYS"
	Rate  float64 // GB/s each way as specified; 0 if it is not known
}

// String describes the link itself: "NV18, 478 GB/s each way".
func (l Link) String() string {
	if l.Rate == 0 {
		return l.Kind
	}
	return fmt.Sprintf("%s, %.0f GB/s each way", l.Kind, l.Rate)
}

// Network is a rank's end of what carries operations between hosts.
type Network struct {
	Name    string            // "the null network, delay 200µs, reorder on"; empty if there is none
	Why     string            // there is none, in words; empty if all ranks are on one host
	Peers   []NetworkPeer     // on other hosts
	Refused map[string]uint64 // messages that failed a check, by reason
}

// NetworkPeer is what a rank knows of its connection with a rank on another host. Counts begin anew when the ranks recover.
type NetworkPeer struct {
	Rank, Host                     int
	State                          string // "connected", or "lost: connection reset"
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // messages to it that are not over
}

// Trace holds the operations of one rank between TopicStartTrace and TopicStopTrace.
type Trace struct {
	Ops  []TracedOp // in the order in which they began
	More int        // operations that are left out
}

// TracedOp is an operation of a rank, by the clock of its host.
type TracedOp struct {
	Op     string // "wait_signal"
	At     string // where in the user's text, as in Wait
	Stream int    // -1 for a collective call that waited on the host
	Begin  time.Time
	Took   time.Duration
	Over   string       `json:",omitempty"` // what of it went between hosts: "the null network to rank 3 on host 1"
	Bytes  int          `json:",omitempty"` // that went there
	Waits  []TracedWait `json:",omitempty"`
}

// TracedWait is a part of an operation in which it waited.
type TracedWait struct {
	Peers []int // world ranks; none if it is not known for whom
	Begin time.Time
	Took  time.Duration
}
