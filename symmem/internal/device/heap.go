package device

import "context"

// HeapDevice is a Device whose vendor has a library with a symmetric heap.
type HeapDevice interface {
	Device
	// Heaps opens the library after adding settings to the environment, as
	// CollectiveDevice.Collectives does. The error is an *UnavailableError with the reason.
	Heaps(settings []string) (Heaps, error)
}

// Heaps is such a library.
type Heaps interface {
	Name() string // "NVSHMEM 3.4.5"
	// NewID makes an identifier for the members of a new heap.
	NewID() ([]byte, error)
	// Join makes this process a member of a heap; all members call it. A process is a member of one
	// heap at a time. Cancelling ctx gives up, and the process cannot join another heap any more.
	Join(ctx context.Context, id []byte, rank, size int) (Heap, error)
}

// Heap is a process's part of a symmetric heap. Cancelling the context of a call gives the heap up:
// its memory stays mapped, and later calls fail.
type Heap interface {
	// NewSegment returns n bytes of zeroed memory at an address that stands for the same place in the
	// heap of each member. All members call it with the same n.
	NewSegment(ctx context.Context, n int) (HeapSegment, error)
	// Close leaves the heap, whose memory is unmapped. All members call it.
	Close(ctx context.Context) error
}

// HeapSegment is memory of a heap. It has no descriptor to export, and Close does nothing.
type HeapSegment interface {
	Segment
	// Peer returns the same place in the heap of another member.
	Peer(rank int) (Segment, error)
	// Free gives the memory back. All members call it, when no work uses the memory any more.
	Free(ctx context.Context) error
}

// OneSidedKind is the kind of an operation on a heap.
type OneSidedKind uint8

const (
	HeapPut       OneSidedKind = iota // copies N bytes from Src to Dst of member Peer
	HeapGet                           // copies N bytes from Src of member Peer to Dst
	HeapPutSignal                     // HeapPut, after which Word of member Peer becomes Value
	HeapSignalAdd                     // adds Value to Word of member Peer
	HeapWait                          // waits until this member's Word equals Value, or with AtLeast is not below it
)

// OneSided is an operation on a heap. Word, Dst of a put and Src of a get are this member's
// addresses in the heap, which stand for those of member Peer. A stream that waits cannot be
// aborted: Poke the word.
type OneSided struct {
	Kind     OneSidedKind
	Dst, Src Ptr
	N        int
	Peer     int
	Word     Ptr // of 64 bits
	Value    uint64
	AtLeast  bool
}
