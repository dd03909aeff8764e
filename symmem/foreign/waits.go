package foreign

import (
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// WaitRecord is a wait of a kernel, as struct WaitRecord of kernels/include/symm/context.cuh has it.
type WaitRecord struct {
	Kind    uint32 `json:"kind"`
	Rank    uint32 `json:"rank"` // in the group
	Peer    uint32 `json:"peer"` // in the group
	Channel uint32 `json:"channel"`
	Want    uint64 `json:"want"`
	Seen    uint64 `json:"seen"`
	Elapsed uint64 `json:"elapsed"` // nanoseconds
	Began   uint64 `json:"began"`   // by a clock of the rank, in nanoseconds
}

func (r WaitRecord) internal() (*waits.Kind, *device.WaitRecord) {
	d := &device.WaitRecord{Kind: r.Kind, Rank: r.Rank, Peer: r.Peer, Channel: r.Channel, Want: r.Want, Seen: r.Seen, Elapsed: r.Elapsed, Began: r.Began}
	return waits.Of(d), d
}

// What names the awaited event, as it stands after "for": "a signal on channel 3".
func (r WaitRecord) What() string {
	kind, d := r.internal()
	return kind.What(d)
}

// Awaited returns the rank in the group of the member that the wait is for, or -1 if any member may end it.
func (r WaitRecord) Awaited() int {
	kind, d := r.internal()
	return kind.Peer(d)
}

// ByCalls reports whether only calls of other ranks end the wait.
func (r WaitRecord) ByCalls() bool {
	kind, _ := r.internal()
	return kind.Calls
}
