// Package abi declares the types that kernels share with the Go code that launches them: pointers,
// and the structs of symm.cuh.
//
// A kernel's arguments are one struct, declared in C++ beside the kernel and in Go in the package
// of the same folder. Types and fields have the same names in both, in Go's spelling, and natural
// alignment gives them the same layout. SYMM_LAYOUT beside the C++ struct names its fields; a test
// of the cpu device compares their offsets, as the compiler reports them, with the Go struct.
package abi

// Limits of kernels: symm::kMaxRanks and the constants beside it.
const (
	MaxRanks = 72 // of a group whose members share memory, and of any group with a Handle
	MaxWaits = 64 // waits that a process publishes at a time
	Counters = 64 // of a group: symm/remote.cuh

	MaxOutside = 16 // accesses out of bounds that a process publishes at a time

	// Version is the version of the layouts of docs/abi.md. It changes when they do.
	Version = 1
)

// Ptr is an address in a device's address space. On the cpu device it is a host address. Imported
// peer memory has addresses of the same kind.
type Ptr uintptr

// Ptrs holds, for each rank, the address of the same object in its memory.
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
	// Unannounced is not 0 if the engine does not know how many operations for other hosts the
	// kernel posts.
	Unannounced uint32
}

// Extent is symm::Extent: the memory behind a pointer argument of a launch.
type Extent struct {
	First Ptr
	Bytes uint64
	Watch Ptr    // 0 if the extent is not known
	Call  uint32 // the number of the launch, for the host
	_     uint32
}

// Checked is symm::Checked: a pointer that knows its extent. It replaces a pointer among a kernel's
// parameters.
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
	Net      Ptr    // address of the NetGroup if the group spans hosts, or 0
	Start    uint64 // offset of the tensor in its window
	Window   uint32 // ID of the data's window between hosts; the pads' window has the next ID
	_        uint32
}
