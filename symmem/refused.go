package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// What kernels refuse by symm::refuse.
const (
	refusedSplit  = 16 // Refused of all_to_all_vdev.cu
	refusedSum    = 17
	refusedOffset = 18
	refusedRoom   = 19
	refusedStep   = 20 // kStep of pool_meet.cu
)

// refusedValue explains a value in device memory that an operation could not work with. All members found the
// same, moved nothing and are in step.
func (rt *Runtime) refusedValue(e *Error, c callRecord, r *device.WaitRecord) {
	e.Kind, e.Arg = KindMisuse, "in_splits"
	switch r.Kind {
	case refusedStep:
		rt.refusedPoolStep(e, c, poolStep(r.Want), poolStep(r.Seen))
	case refusedSplit:
		e.Msg = fmt.Sprintf("split %d of rank %d is %d: it must be in [0, %d], the rows of its input", r.Channel, e.Peer, int64(r.Seen), r.Want)
	case refusedSum:
		e.Msg = fmt.Sprintf("the splits of rank %d add up to %d rows, its input has %d", e.Peer, r.Seen, r.Want)
	case refusedOffset:
		e.Msg = fmt.Sprintf("the rows of split %d of rank %d begin at row %d and are not all among the %d of its input", r.Channel, e.Peer, int64(r.Seen), r.Want)
	case refusedRoom:
		e.Arg = "out"
		e.Msg = fmt.Sprintf("rank %d would receive %d rows, its out has %d", e.Peer, r.Seen, r.Want)
		e.Hint = "allocate a longer out"
	default:
		e.Msg = fmt.Sprintf("value %d at index %d of rank %d was refused", r.Seen, r.Channel, e.Peer)
	}
}
