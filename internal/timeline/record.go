package timeline

import "fmt"

// Rank is the record of one rank.
type Rank struct {
	Rank   int
	Host   int    // of the rank, from 0 on
	Source string // of the times on streams: "the emulator", "CUPTI 12.9", "CUDA events"
	Clock  Clock
	Slices []Slice // by begin
	More   int     `json:",omitempty"` // slices that had no room
}

// Kind is the kind of a slice.
type Kind string

// The kinds of slices.
const (
	Cell      Kind = "cell"      // a cell, or the function of symm.Trace
	Call      Kind = "call"      // a call on the host, until it returned
	Operation Kind = "operation" // the work of a call on a stream
	Kernel    Kind = "kernel"    // a kernel of an operation
	Copy      Kind = "copy"      // a copy or a fill of an operation
	Wait      Kind = "wait"      // a part of an operation in which it waited
	Message   Kind = "message"   // a message to another host, from its first byte until it is delivered
	Arrival   Kind = "arrival"   // a message from another host was applied
)

// Track is the number of a stream, or one of the others that each rank has.
type Track int

// The tracks that are no streams.
const (
	Host    Track = -1
	Cells   Track = -2
	Network Track = -3
)

// String names the track: "stream 1".
func (t Track) String() string {
	switch t {
	case Host:
		return "host calls"
	case Cells:
		return "cells"
	case Network:
		return "network"
	}
	return fmt.Sprint("stream ", int(t))
}

// Slice is a span of time on a track of a rank. Slices of a track are side by side or one within
// the other, except slices of the network.
type Slice struct {
	Kind  Kind
	Track Track
	Name  string // "all_reduce", "one_shot_all_reduce"
	Begin int64  // nanoseconds by the rank's clock: see Now
	Took  int64  // nanoseconds
	Call  int    `json:",omitempty"` // the call that the slice is of, numbered from 1 on each rank
	At    string `json:",omitempty"` // the line that made the call: "cell[3]:7"

	Replay      bool   `json:",omitempty"` // of an operation: it is a replay of a graph
	Grid, Block []int  `json:",omitempty"` // of a kernel
	Bytes       int    `json:",omitempty"` // of a copy or a message; of an operation, between hosts
	Over        string `json:",omitempty"` // of an operation: "the null network to rank 3 on host 1"
	Peers       []int  `json:",omitempty"` // of a wait: the ranks that it was for; of a message: the rank at its other end
	Ended       []int  `json:",omitempty"` // of a wait: the ranks of Peers whose signals ended it
	For         string `json:",omitempty"` // of a wait: "the barrier on channel 0"

	// The ends of arrows. Group names the group whose signals an operation uses, and Meets its
	// collective call, equal on all members. Sends are the signals that it gives, and Awaits those
	// for which it waits.
	Group  string   `json:",omitempty"`
	Meets  string   `json:",omitempty"`
	Sends  []string `json:",omitempty"`
	Awaits []string `json:",omitempty"`

	Caller int `json:"-"` // where the call was made, as a number that the caller of the trace can resolve to a line
}

// End returns the time at which the slice ended.
func (s *Slice) End() int64 { return s.Begin + s.Took }

// Signal names the signals from one rank to another on a channel of a group. The n-th that is given
// ends the n-th wait.
func Signal(group string, from, to, channel int) string {
	return fmt.Sprintf("signal %s %d>%d #%d", group, from, to, channel)
}

// Word names a word of a rank's signal pad. The last change before the end of a wait ends it.
func Word(pad string, owner, index int) string {
	return fmt.Sprintf("%s %s @%d #%d", word, pad, owner, index)
}

const word = "word"

// Numbered names one message between two ranks.
func Numbered(from, to int, number uint64) string {
	return fmt.Sprintf("message %d>%d #%d", from, to, number)
}
