// Package abi is what all kernels and the Go code that launches them agree on: pointers, and the structs of symm.cuh.
//
// A kernel's arguments are one struct, declared in C++ beside the kernel and in Go in the package of the same folder. Types and
// fields have the same names in both, in Go's spelling, and natural alignment gives them the same layout. SYMM_LAYOUT beside
// the C++ struct names its fields; a test of the cpu device compares what the compiler says of them with the Go struct.
package abi

// Limits of kernels: symm::kMaxRanks and its neighbour.
const (
	MaxRanks = 72 // of a group whose members share memory, and of any that a kernel gets a Handle of
	MaxWaits = 64 // that a process publishes at a time
	Counters = 64 // of a group: symm/remote.cuh

	MaxOutside = 16 // accesses out of bounds that a process publishes at a time

	// Version is the version of the layouts of docs/abi.md. It changes when they do.
	Version = 1
)

// Ptr is an address in a device's address space. On the cpu device it is a host address. Peer memory that was imported has
// addresses of the same kind.
type Ptr uintptr

// Ptrs are addresses of the same thing in each rank's memory, by rank.
type Ptrs [MaxRanks]Ptr

// Context is symm::Context, the head of the arguments of every kernel that waits.
type Context struct {
	Watch     Ptr
	TimeoutNs uint64 // of each wait; 0: until aborted
	Rank      int32
	WorldSize int32
	Ordinal   uint32 // of the call, for the host's record
	Channels  uint32 // of the signal block
	Swaps     uint32 // not 0: every member can swap words in the others' memory
	// Unannounced is not 0 in a kernel whose operations for other hosts the engine was not told to expect.
	Unannounced uint32
}

// Extent is symm::Extent: the memory that a launch gives by a pointer.
type Extent struct {
	First Ptr
	Bytes uint64
	Watch Ptr    // 0 if the extent is not known
	Call  uint32 // by which the host knows the launch
	_     uint32
}

// Checked is symm::Checked: a pointer that knows its extent. It takes the place of a pointer among a kernel's parameters.
type Checked struct {
	At Ptr
	Extent
}

// Signals is symm::Signals: a group's signal blocks.
type Signals struct{ Block Ptrs }

// Handle is symm::Handle.
type Handle struct {
	Context
	Bytes    uint64 // of the tensor
	PadBytes uint64 // of its signal pad
	Buffers  Ptrs
	Pads     Ptrs
	Signals  Signals
	Net      Ptr    // to the NetGroup of a group that spans hosts, or 0
	Start    uint64 // of the tensor in its window
	Window   uint32 // of the data between hosts; that of the pads is the next one
	_        uint32
}
