package abi

// Sizes of a NetBoard: symm::kNetSlots and the constants beside it.
const (
	NetSlots     = 256
	NetCounters  = 256
	NetPeers     = 1024       // the largest world that a network connects
	NetAllPeers  = ^uint32(0) // the peer of a fence to all ranks
	NetNoCounter = ^uint32(0)
)

// Kinds of a NetOp: symm::NetKind.
const (
	NetPut   = 1
	NetGet   = 2
	NetFence = 3
	NetValue = 4 // a put of the bytes in Data

	NetAtomic = 5 // an atomic operation on a word of Bytes bytes: Signal says which; the previous value goes to Local, if that is not 0
)

// Signals of a NetOp: symm::NetSignal.
const (
	NetNone       = 0
	NetAddIndexed = 1 // word SignalAt of the peer's board
	NetSetWord    = 2 // the word at SignalAt of SignalWindow
	NetAddWord    = 3
)

// NetOp is symm::NetOp, one operation for a peer on another host; symm/net.cuh describes its
// course.
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
	Unannounced                    uint64 // not 0: not among the operations that the host announced to the engine
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

// NetPort is symm::NetPort: the addresses by which the kernels of a device reach the board.
type NetPort struct {
	Board   Ptr
	Posted  Ptr
	Signals Ptr // words behind the board
}

// NetMember is symm::NetMember: a member of a group that spans hosts.
type NetMember struct {
	Rank  uint32 // of the world
	Words uint32 // index of the group's first word in the member's signals
	Block Ptr    // the member's signal block if the member is on this host, or 0
}

// NetGroup is symm::NetGroup: the addresses by which a rank reaches the members of a group that
// spans hosts.
type NetGroup struct {
	Port         NetPort
	Counts       Ptr // this rank's counts for the group's words
	Members      Ptr // address of the NetMembers, by rank of the group
	Partners     Ptr // address of uint32s: the members that this one signals in a barrier on behalf of its host
	PartnerCount uint64
}
