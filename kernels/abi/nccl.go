package abi

// NcclBufferUnit is the unit of a resource handle, in bytes.
const NcclBufferUnit = 128

// Why a function of NCCL's device API refuses: symm::NcclRefusal.
const (
	NcclPeer     = 0x100 // the peer is not in the LSA team
	NcclBytes    = 0x101 // the offset is beyond the window
	NcclBarrier  = 0x102 // there is no barrier of this index
	NcclBlock    = 0x103 // there is no block of this number for low-latency sessions
	NcclSlot     = 0x104 // it has no slot of this number
	NcclMultimem = 0x105 // multimem was not asked for
)

// NcclWindow is ncclWindow_vidmem: a window, where kernels find it.
type NcclWindow struct {
	Local            Ptr
	Bytes            uint64
	Watch            Ptr
	Rank, NRanks     int32
	LsaRank, LsaSize int32
	Lsa              Ptrs // by rank of the LSA team
}

// NcclLsaBarrier is ncclLsaBarrierHandle.
type NcclLsaBarrier struct {
	BufHandle uint32 // in units of NcclBufferUnit
	NBarriers int32
}

// NcclLLA2A is ncclLLA2AHandle.
type NcclLLA2A struct{ BufHandle, NSlots, NBlocks uint32 }

// NcclDevComm is ncclDevComm: a group as a kernel gets it.
type NcclDevComm struct {
	Rank, NRanks     int32
	LsaRank, LsaSize int32
	LsaBarrier       NcclLsaBarrier
	HybridLsaBarrier NcclLsaBarrier
	LsaLLA2A         NcclLLA2A
	_                uint32
	LsaMultimem      Ptr
	ResourceWindow   Ptr // to an NcclWindow
	Context          Context
}
