package abi

// Sizes of nvshmem/table.h: symm::kShmemWindows and the constants beside it.
const (
	ShmemWindows = 1024     // tensors in the table
	ShmemFetches = 256      // values from other hosts that are under way at a time
	ShmemChunk   = 16 << 10 // bytes of a piece of a reduction between hosts
)

// Reasons for which a function of nvshmem.h refuses a call: symm::ShmemRefusal. The number of the
// function, an index of ShmemCalls, is in the upper half of a record's Kind.
const (
	ShmemPE        = 0x200 // there is no PE of this number
	ShmemAddress   = 0x201 // the address is not symmetric
	ShmemBytes     = 0x202 // the bytes reach beyond the tensor
	ShmemAligned   = 0x203 // the address is not a multiple of the type's alignment
	ShmemTeam      = 0x204 // there is no such team
	ShmemOperation = 0x205 // there is no such operation of a signal, or comparison
	ShmemSource    = 0x206 // the engine cannot reach the memory of this rank
	ShmemStride    = 0x207 // a stride is less than 1
)

// ShmemCalls are the functions of nvshmem.h by their number: symm::ShmemCall.
var ShmemCalls = [...]string{
	1: "nvshmem_put", "nvshmem_get", "nvshmem_p", "nvshmem_g", "nvshmem_iput", "nvshmem_iget", "nvshmem_put_signal",
	"nvshmemx_signal_op", "nvshmem_signal_fetch", "nvshmem_signal_wait_until",
	"nvshmem_wait_until", "nvshmem_test", "nvshmem_atomic", "nvshmem_fence", "nvshmem_quiet", "nvshmem_barrier", "nvshmem_sync",
	"nvshmem_broadcast", "nvshmem_fcollect", "nvshmem_alltoall", "nvshmem_reduce", "nvshmem_reducescatter", "nvshmem_team",
}

// Atomic operations: symm::ShmemAtomic.
const (
	ShmemFetch       = 1
	ShmemSet         = 2
	ShmemAdd         = 3
	ShmemAnd         = 4
	ShmemOr          = 5
	ShmemXor         = 6
	ShmemCompareSwap = 7
)

// ShmemWindow is symm::ShmemWindow: a symmetric tensor in the table of nvshmem.h.
type ShmemWindow struct {
	Local     Ptr
	Bytes     uint64 // 0 if the entry is not in use
	NetWindow uint32
	_         uint32
	Peers     Ptrs // 0 for ranks on other hosts
}

// ShmemWorld is symm::ShmemWorld.
type ShmemWorld struct {
	Ordinal   uint32 // of the call
	Patience  uint32 // the deadline of waits, in units of 1<<20 nanoseconds, 0 for none
	Context   Context
	Count     uint32 // entries of Windows that were used
	_         uint32
	Net       Ptr // address of the NetGroup if the ranks are on several hosts, or 0
	Windows   Ptr
	Chunks    Ptr // two pieces of a reduction between hosts
	NearRank  int32
	NearCount int32
	Near      [MaxRanks]int32
	Signals   Signals
	Fetched   [ShmemFetches]uint64
	Claimed   [ShmemFetches]uint32
}
