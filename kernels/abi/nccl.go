package abi

// NcclBufferUnit is the unit of a resource handle, in bytes.
const NcclBufferUnit = 128

// Reasons for which a function of NCCL's device API refuses a call: symm::NcclRefusal.
const (
	NcclPeer            = 0x100 // the peer is not in the LSA team
	NcclBytes           = 0x101 // the offset is beyond the window
	NcclBarrier         = 0x102 // there is no barrier of this index
	NcclBlock           = 0x103 // the handle for low-latency sessions has no block of this number
	NcclSlot            = 0x104 // the block has no slot of this number
	NcclMultimem        = 0x105 // DevReqs did not request multimem
	NcclGin             = 0x106 // DevReqs did not request GIN
	NcclRank            = 0x107 // there is no rank of this number
	NcclSignal          = 0x108 // there is no signal of this number
	NcclCounter         = 0x109 // there is no counter of this number
	NcclGinBarrierIndex = 0x10a // there is no GIN barrier of this index
	NcclLsaTeam         = 0x10b // the team of an LSA barrier has ranks outside the LSA team
	NcclGinTeam         = 0x10c // the team of a GIN barrier is larger than the handle allows
	NcclHybridTeam      = 0x10d // the same for a hybrid barrier
)

// NcclWindow is ncclWindow_vidmem: a window, as it lies in device memory.
type NcclWindow struct {
	Local            Ptr
	Bytes            uint64
	Watch            Ptr
	Rank, NRanks     int32
	LsaRank, LsaSize int32
	NetStart         uint64
	NetWindow        uint32
	_                uint32
	Multimem         Ptr  // multicast address of the LSA team's parts, or 0
	Lsa              Ptrs // by rank of the LSA team
	None             Ptr  // always 0
}

// NcclLsaBarrier is ncclLsaBarrierHandle.
type NcclLsaBarrier struct {
	BufHandle uint32 // in units of NcclBufferUnit
	NBarriers int32
}

// NcclGinBarrier is ncclGinBarrierHandle.
type NcclGinBarrier struct {
	Signal0   uint32
	NBarriers int32
}

// NcclLLA2A is ncclLLA2AHandle.
type NcclLLA2A struct{ BufHandle, NSlots, NBlocks uint32 }

// NcclDevComm is ncclDevComm: the argument by which a kernel receives a group.
type NcclDevComm struct {
	Rank, NRanks                                                                 int32
	LsaRank, LsaSize                                                             int32
	LsaBarrier                                                                   NcclLsaBarrier
	HybridLsaBarrier                                                             NcclLsaBarrier
	LsaLLA2A                                                                     NcclLLA2A
	WorldGinBarrier, RailGinBarrier, HybridRailGinBarrier, HybridWorldGinBarrier NcclGinBarrier
	GinContextCount                                                              uint32
	GinSignalCount, GinCounterCount                                              int32
	GinWords                                                                     uint32 // signals of a context, those of barriers included
	GinBase                                                                      uint32 // resource handle
	// index of the network's counters among the words behind the board
	GinCounterWords uint32
	_               uint32
	LsaMultimem     Ptr
	ResourceWindow  Ptr // address of an NcclWindow
	Resources       Ptr // address of this rank's part of that window
	Net             Ptr // address of the NetGroup if the group spans hosts, or 0
	Context         Context
}
