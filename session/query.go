package session

import (
	"fmt"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// Query is a question to ranks. Answering it runs no user code, so a query may be put while a cell
// runs.
type Query struct {
	Topic Topic
	Arg   string `json:",omitempty"` // the subject, for the topics that mention Arg
	// Snippet is the text of a kernel up to Arg, for TopicDoc, if Arg is a name in a kernel's text.
	Snippet string `json:",omitempty"`
	Source  bool   `json:",omitempty"` // for TopicDoc: the answer has the source, too
	Frame   int    `json:",omitempty"` // an index in the answer to TopicFrames
	// Columns is the number of columns for the answer on the user's screen; 0 if it is not known.
	Columns int `json:",omitempty"`
}

// Topic selects the question of a Query.
type Topic string

// Every Evaluator answers these topics. The comments name the field of Answer that holds the
// answer.
const (
	TopicVars  Topic = "vars"  // Variables: the variables of the session, in the order of their definition
	TopicState Topic = "state" // State: all that the rank holds and does, the variables among it
	TopicType  Topic = "type"  // Text: the type of the expression Arg
	// Text: the declaration and the documentation of the name Arg; Variables: the variable of that
	// name, if there is one; Source, if it is asked for
	TopicDoc      Topic = "doc"
	TopicComplete Topic = "complete" // Candidates: completions of the word at the end of the source Arg
	TopicCaps     Topic = "caps"     // Text: the capabilities of the device and the back end, one on each line
	TopicTop      Topic = "top"      // Text: memory and utilisation of the device, one line
	// Text: the resources that would be lost with the rank, such as "2 symmetric tensors (1.5 MiB
	// on each rank)"; "" if nothing
	TopicHeld Topic = "held"
	TopicTopo Topic = "topo" // Topology: the device's links to the other devices of its host
	// Network: the network for operations to other hosts, after a change by the settings in Arg, if
	// there are any
	TopicNetwork Topic = "network"
	// Text: which ranks begin calls late, after a change by the setting in Arg, if there is one
	TopicSlow Topic = "slow"
	// Text: how the calls of the cell Arg were executed, a number, "" for the latest cell with calls
	TopicWhy        Topic = "why"
	TopicLines      Topic = "lines"       // Lines: on which statements of the cell's text Arg begin
	TopicStartTrace Topic = "start trace" // no field: from now on the rank records what it does
	TopicStopTrace  Topic = "stop trace"  // Trace: what it recorded
	// Text: that the program of Config.Lender has left the breakpoint at which it stood; "" if there is
	// no such program
	TopicGoOn Topic = "go on"
)

// Topics about the goroutine that stands: see Debugger. TopicEvaluate runs user code.
const (
	TopicFrames   Topic = "frames"   // Frames: the calls that it is in
	TopicLocals   Topic = "locals"   // Locals: the variables of Query.Frame; Variables: those of the session
	TopicEvaluate Topic = "evaluate" // Result: the value of the expression Arg in Query.Frame
)

// Answer is one rank's answer to a Query. An Evaluator sets the field that the topic names; the
// session sets Rank. If the rank has no answer, only Rank and Err are set.
type Answer struct {
	Rank int
	Err  *Error `json:",omitempty"`

	Text       string      `json:",omitempty"`
	Source     string      `json:",omitempty"` // "" if it is not known
	Variables  []Variable  `json:",omitempty"`
	State      *RankState  `json:",omitempty"`
	Candidates []Candidate `json:",omitempty"`
	Topology   *Topology   `json:",omitempty"`
	Network    *Network    `json:",omitempty"`
	Trace      *Trace      `json:",omitempty"`
	Lines      []int       `json:",omitempty"` // ascending, the first line of the text is 1
	Frames     []Frame     `json:",omitempty"` // innermost first
	Locals     []Variable  `json:",omitempty"` // innermost declaration first
	Lent       []Variable  `json:",omitempty"` // with Variables: the tensors of the program of Config.Lender
	Result     *Result     `json:",omitempty"`
}

// Variable is a variable of the session on one rank.
type Variable struct {
	Name   string
	Type   string
	Size   int64       // bytes: an estimate of all memory reachable from the variable
	Value  string      // shortened: one line, or of a tensor of two dimensions a table of its corners
	Tensor *TensorInfo `json:",omitempty"` // unless nil, the variable is a tensor
}

// TensorInfo describes a tensor.
type TensorInfo struct {
	DType  string // "f32"
	Shape  []int
	Memory string // "symmetric", "ordinary", "of rank 2" or "freed"
}

// Candidate is a word that may stand at the cursor.
type Candidate struct {
	Name string
	Kind string // "func", "field", "method" and the like
	Type string // one line, as cells write it; "" if there is none
}

// KindHeader is the kind of a candidate that is the name of a header, which may have slashes and dots.
const KindHeader = "header"

// Topology describes how a rank's device reaches the other devices of its host: by one medium that
// all devices share, or by a link to each.
type Topology struct {
	Device string // "cuda:2"
	ID     string `json:",omitempty"` // the UUID of a GPU
	Medium string `json:",omitempty"` // "shared memory of this host"
	Links  []Link `json:",omitempty"`
	Host   int    `json:",omitempty"` // the rank's, from 0 on
	// the rank's part of the world. The ranks of a part map each other's memory: a host, or some of
	// its ranks
	Part    int    `json:",omitempty"`
	Between string `json:",omitempty"` // the network between hosts and parts, "" if there is one part
	Sharers []int  `json:",omitempty"` // the ranks that share the rank's GPU, itself included; nil if the GPU is not shared
	Manner  string `json:",omitempty"` // how the sharers' kernels run: "in turns by time slices"
}

// Link connects a rank's device to another device of its host.
type Link struct {
	Index int     // of the other device on the host
	Name  string  // of the other device: "NVIDIA H200"
	ID    string  // of the other device: its UUID
	Kind  string  // "NV18" for 18 NVLinks, else the nearest common place: "PIX", "PXB", "PHB", "NODE", "SYS"
	Rate  float64 // specified GB/s each way; 0 if it is not known
}

// String describes the link itself: "NV18, 478 GB/s each way".
func (l Link) String() string {
	if l.Rate == 0 {
		return l.Kind
	}
	return fmt.Sprintf("%s, %.0f GB/s each way", l.Kind, l.Rate)
}

// Network is a rank's end of the network for operations between hosts.
type Network struct {
	Name    string            // "the null network, delay 200µs, reorder on"; empty if there is no network
	Why     string            // why there is no network; empty if all ranks are on one host
	Peers   []NetworkPeer     // on other hosts
	Refused map[string]uint64 // messages that failed a check, by reason
}

// NetworkPeer describes a rank's connection to a rank on another host. Counts start again at 0 when
// the ranks recover.
type NetworkPeer struct {
	Rank, Host                     int
	State                          string // "connected", or "lost: connection reset"
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // messages to the peer that are not complete
}

// Trace is the record of one rank between TopicStartTrace and TopicStopTrace.
type Trace = timeline.Rank
