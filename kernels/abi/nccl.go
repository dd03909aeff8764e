package abi

// NcclBufferUnit is the unit of a resource handle, in bytes.
const NcclBufferUnit = 128

// Why a function of NCCL's device API refuses: symm::NcclRefusal.
const (
	NcclPeer            = 0x100 // the peer is not in the LSA team
	NcclBytes           = 0x101 // the offset is beyond the window
	NcclBarrier         = 0x102 // there is no barrier of this index
	NcclBlock           = 0x103 // there is no block of this number for low-latency sessions
	NcclSlot            = 0x104 // it has no slot of this number
	NcclMultimem        = 0x105 // multimem was not asked for
	NcclGin             = 0x106 // GIN was not asked for
	NcclRank            = 0x107 // there is no rank of this number
	NcclSignal          = 0x108 // there is no signal of this number
	NcclCounter         = 0x109 // there is no counter of this number
	NcclGinBarrierIndex = 0x10a // there is no GIN barrier of this index
	NcclLsaTeam         = 0x10b // a barrier of the LSA team is not of all ranks of a team
	NcclGinTeam         = 0x10c // a barrier of the rail is not of so many ranks
	NcclHybridTeam      = 0x10d // nor is that of a hybrid barrier
)

// NcclWindow is ncclWindow_vidmem: a window, where kernels find it.
type NcclWindow struct {
	Local            Ptr
	Bytes            uint64
	Watch            Ptr
	Rank, NRanks     int32
	LsaRank, LsaSize int32
	NetStart         uint64
	NetWindow        uint32
	_                uint32
	Multimem         Ptr  // the parts of the LSA team at once, or 0
	Lsa              Ptrs // by rank of the LSA team
	None             Ptr  // 0
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

// NcclDevComm is ncclDevComm: a group as a kernel gets it.
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
	GinBase                                                                      uint32 // a handle
	GinCounterWords                                                              uint32 // where the network counts, among the words behind the board
	_                                                                            uint32
	LsaMultimem                                                                  Ptr
	ResourceWindow                                                               Ptr // to an NcclWindow
	Resources                                                                    Ptr // this rank's part of it
	Net                                                                          Ptr // to the NetGroup of a group that spans hosts, or 0
	Context                                                                      Context
}
