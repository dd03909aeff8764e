package seam

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Library carries calls of handles by functions that put work in a stream. Core makes a [Carrier] of
// it: a call goes by it if it asks for one of its names.
type Library interface {
	Names() []string
	Does(*operators.Operator) bool
	// Refuses returns the reason for which the library cannot carry a call, nil if it can.
	Refuses(*Request) error
	// Issue puts a call that was admitted in its stream. by is the library's name, with its version.
	Issue(*Request) (by string, err error)
}

// Request is a call of a handle.
type Request struct {
	Of       *operators.Operator
	Group    Members
	Whole    bool           // it is the group of all ranks
	Tensor   string         // of the handle, in messages: "f32[4]"
	Segment  device.Segment // the memory of that
	Copy     device.Ptr     // this rank's copy of it
	Pad      device.Ptr     // this rank's signal pad
	Operand  device.Ptr     // what is put, or into which is got
	Bytes    int            // of Operand
	Peer     int            // the member, as a world rank
	Index    int            // the channel, or the word of the signal pad
	Value    uint64
	AtLeast  bool // a wait ends with larger values, too
	Timeout  time.Duration
	Captured bool // a graph is captured; set for Refuses

	// Of a call that was admitted.
	ID     uint32 // by which waits name it
	Stream Stream
}

// Stream is a stream of the device. Equal values are the same stream.
type Stream interface {
	AtRest() bool // it has nothing to do, or was closed; false where that cannot be told
	Issue(func(device.Stream) error) error
}
