package abi

// Sizes of a NetBoard: symm::kNetSlots and its neighbours.
const (
	NetSlots     = 256
	NetCounters  = 256
	NetPeers     = 1024       // the largest world that a network connects
	NetAllPeers  = ^uint32(0) // as the peer of a fence
	NetNoCounter = ^uint32(0)
)

// Kinds of a NetOp: symm::NetKind.
const (
	NetPut   = 1
	NetGet   = 2
	NetFence = 3
	NetValue = 4 // a put of what is in Data
)

// Signals of a NetOp: symm::NetSignal.
const (
	NetNone       = 0
	NetAddIndexed = 1 // word SignalAt of the peer's board
	NetSetWord    = 2 // the word at SignalAt of SignalWindow
	NetAddWord    = 3
)

// NetOp is symm::NetOp, one operation for a peer on another host; symm/net.cuh says what becomes of it.
type NetOp struct {
	Ready                          uint64
	Kind, Peer                     uint32
	Local                          Ptr
	Offset                         uint64
	Bytes                          uint64
	Width, LocalPitch, RemotePitch uint64
	Window, Counter                uint32
	Signal, Strong                 uint32
	SignalWindow, Ordinal          uint32
	SignalAt                       uint64
	Value                          uint64
	Data                           uint64 // of a NetValue, up to 8 bytes
	Unannounced                    uint64 // not 0: the engine was not told to expect it
	_                              uint64
}

// NetBoard is symm::NetBoard, the head of the memory that kernels and the network engine share.
type NetBoard struct {
	Posted       uint64
	_            [15]uint64
	Done         uint64
	_            [15]uint64
	Asleep, Bell uint32
	_            [30]uint32
	Lost         [NetPeers / 32]uint32
	Counters     [NetCounters]uint64
	Slots        [NetSlots]NetOp
}

// NetPort is symm::NetPort: how the kernels of a device reach the board.
type NetPort struct {
	Board   Ptr
	Posted  Ptr
	Signals Ptr // words behind the board
}

// NetMember is symm::NetMember: a member of a group that spans hosts.
type NetMember struct {
	Rank  uint32 // of the world
	Words uint32 // where the group's words begin in its signals
	Block Ptr    // its signal block if it is on this host, or 0
}

// NetGroup is symm::NetGroup: how a rank reaches the members of a group that spans hosts.
type NetGroup struct {
	Port         NetPort
	Counts       Ptr // of the group's words
	Members      Ptr // to NetMembers, by rank of the group
	Partners     Ptr // to uint32: members that this one meets in a barrier for its host
	PartnerCount uint64
}
