// Package pool holds the kernel by which members compare their calls on the group's memory pool.
package pool

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// RefusedStep is the reason, in a device.WaitRecord with the state WaitRefused, that members made
// different calls.
const RefusedStep = 20

// PoolMeetArgs are the arguments of pool_meet.
type PoolMeetArgs struct {
	Context abi.Context // Channels: of Signals
	Signals abi.Signals // a block of its own, not the one of Handle
	Words   abi.Ptrs    // of each rank: its words for this step, one for each sender
	Step    uint64      // the call of this rank
}
