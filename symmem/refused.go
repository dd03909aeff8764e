package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/abi"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// remoteCalls are the functions of symm/remote.cuh.
var remoteCalls = [...]string{
	abi.CallPut: "symm::put", abi.CallPutValue: "symm::put_value", abi.CallGet: "symm::get", abi.CallSignal: "symm::signal",
	abi.CallWaitForSignal: "symm::wait_for_signal", abi.CallCounter: "a counter", abi.CallPutSignal: "symm::put_signal",
	abi.CallWaitSignal: "symm::wait_signal", abi.CallBarrier: "symm::barrier",
}

// refusedRemote explains a call of symm/remote.cuh that a kernel of the user's should not have
// made.
func refusedRemote(_ *core.Record, e *Error, r *device.WaitRecord) {
	call := remoteCalls[r.Channel]
	switch r.Kind {
	case abi.BadMember:
		e.Peer = -1
		e.Msg = fmt.Sprintf("%s: the member must be in [0, %d), not %d", call, r.Want, int32(r.Seen))
	case abi.BadPlace:
		e.Msg = fmt.Sprintf("%s: it leads to byte %d of rank %d's copy, which has %d", call, r.Seen, r.Peer, r.Want)
	case abi.BadSignal:
		e.Msg = fmt.Sprintf("%s: the signal must be in [0, %d), not %d", call, r.Want, r.Seen)
		e.Hint = "SetSignalPadSize before Empty gives a tensor more"
	case abi.BadCounter:
		e.Msg = fmt.Sprintf("%s: its number must be in [0, %d), not %d", call, r.Want, r.Seen)
	case abi.BadChannel:
		e.Msg = fmt.Sprintf("%s: the channel must be in [0, %d), not %d", call, r.Want, r.Seen)
		e.Hint = "SetSignalPadSize before NewGroup gives a group more"
	}
}
