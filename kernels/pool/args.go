// Package pool holds the kernel by which members compare what they do to the group's memory pool.
package pool

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// RefusedStep says, in a device.WaitRecord of state WaitRefused, that a member did something else.
const RefusedStep = 20

// PoolMeetArgs are the arguments of pool_meet.
type PoolMeetArgs struct {
	Context abi.Context // Channels: of Signals
	Signals abi.Signals // a block of its own, not the one of Handle
	Words   abi.Ptrs    // everybody's for this step, one for each rank
	Step    uint64      // what this rank does
}
