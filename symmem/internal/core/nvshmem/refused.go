package nvshmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Refuses reports whether a record of a refusal is of a function of nvshmem.h.
func Refuses(r *device.WaitRecord) bool { return r.Kind>>16 != 0 && r.Kind&0xffff >= abi.ShmemPE }

// Where describes the memory at an address of a refused call. Is is, for example, "in f32[4]", or
// "" if the memory is not known; Left is the number of bytes from the address to the end of the
// symmetric tensor.
type Where struct {
	Is       string
	Unmapped bool // it is symmetric, and no rank has mapped the peers' copies
	Peer     bool // it is in a peer's copy
	Left     uint64
}

// Refused explains a refusal.
func Refused(r *device.WaitRecord, where Where) (msg, hint string) {
	call := "nvshmem"
	if i := int(r.Kind >> 16); i < len(abi.ShmemCalls) {
		call = abi.ShmemCalls[i]
	}
	is := ""
	if where.Is != "" {
		is = ", " + where.Is
	}
	switch r.Kind & 0xffff {
	case abi.ShmemPE:
		msg = fmt.Sprintf("there is no PE %d: the PEs are in [0, %d)", int64(r.Seen), r.Want)
	case abi.ShmemAddress:
		msg, hint = fmt.Sprintf("the address 0x%x%s, is not symmetric", r.Seen, is),
			"give a tensor of symm.Empty that all ranks have mapped by symm.Rendezvous"
		if where.Unmapped {
			msg, hint = fmt.Sprintf("the address 0x%x%s, was not mapped", r.Seen, is),
				"call symm.Rendezvous on the tensor before the launch, on all ranks"
		}
		if where.Peer {
			msg = fmt.Sprintf("the address 0x%x%s, is a peer's", r.Seen, is)
			hint = "give this PE's own address of the tensor: the function finds the copy of the PE that it is given; nvshmem_ptr is for a kernel's own loads and stores"
		}
	case abi.ShmemBytes:
		msg = fmt.Sprintf("a range of %s at 0x%x%s, reaches beyond the tensor, which has %d there", count.Of(r.Want, "byte"), r.Seen, is, where.Left)
		hint = "count the elements from the address to the end of the tensor"
	case abi.ShmemAligned:
		msg, hint = fmt.Sprintf("the address 0x%x%s, is no multiple of %d", r.Seen, is, r.Want),
			"nvshmem_putmem and nvshmem_getmem take any address"
	case abi.ShmemTeam:
		msg, hint = fmt.Sprintf("there is no team %d", int64(r.Seen)), "the teams are NVSHMEM_TEAM_WORLD and NVSHMEM_TEAM_SHARED"
	case abi.ShmemOperation:
		msg, hint = fmt.Sprintf("there is no operation or comparison %d", int64(r.Seen)),
			"signals have NVSHMEM_SIGNAL_SET and NVSHMEM_SIGNAL_ADD, waits NVSHMEM_CMP_EQ, NE, GT, GE, LT and LE"
	case abi.ShmemSource:
		msg, hint = fmt.Sprintf("the address 0x%x is in shared or local memory, which operations with PE %d on another host do not reach", r.Seen, r.Peer), "copy the data to a tensor first"
	case abi.ShmemStride:
		msg, hint = fmt.Sprintf("a stride must be at least 1, not %d", int64(r.Seen)), "give the stride in elements"
	}
	return call + ": " + msg, hint
}
