package device

import (
	"context"
	"time"
)

// CollectiveDevice is a Device for which its vendor has a library of collectives.
type CollectiveDevice interface {
	Device
	// Collectives opens the library once settings are in the environment, NAME=VALUE, which leave alone what is there. The error, an
	// *UnavailableError, says why it cannot be used.
	Collectives(settings []string) (Collectives, error)
}

// Collectives is such a library.
type Collectives interface {
	Name() string // "NCCL 2.28.9"
	// Headers says why snippets cannot be compiled with the library's own device headers; it is empty if they can: see Source.Library.
	Headers() (why string)
	// Windows reports whether Communicator.Register makes windows.
	Windows() bool
	// Shares says why members of a communicator cannot use the same device; it is empty if they can.
	Shares() (why string)
	// NewID makes what the members of one communicator name it by.
	NewID() ([]byte, error)
	// Join makes a member's communicator with all the others, which call it too. With engines its collectives of windows are done by copy engines
	// instead of kernels, where the library can. Cancelling ctx gives up.
	Join(ctx context.Context, id []byte, rank, size int, engines bool) (Communicator, error)
}

// Communicator is what a member of a set of processes calls collectives by.
type Communicator interface {
	// Register makes a window of n bytes that all members have alike, for collectives to be quicker on: 0 where the library has none to give. All
	// members call it; cancelling ctx ends the communicator. Deregister ends a window.
	Register(ctx context.Context, p Ptr, n int) (window uintptr, err error)
	Deregister(ctx context.Context, window uintptr) error
	// MakeArgument makes the communicator as kernels get it that are compiled with the library's own headers, with so many barriers. Their waits end
	// when the word at ends is not 0. All members call it, as they do EndArgument, which ends it; cancelling ctx ends the communicator.
	MakeArgument(ctx context.Context, barriers int, ends Ptr) ([]byte, error)
	EndArgument(ctx context.Context, argument []byte) error
	// Puts makes ready what puts need, and says why the library has none, if so. All members call it; cancelling ctx ends the communicator.
	Puts(ctx context.Context) (why string, err error)
	// Failure is what the library reports of collectives that are under way.
	Failure() error
	// End ends the communicator and its kernels at once, whatever they wait for. It returns before that is over, and may be called at any time.
	End()
	// Ended waits and reports whether that is over. Graphs that captured collectives hold it up.
	Ended(limit time.Duration) bool
	// Free releases the communicator, after it was ended.
	Free()
}

// CollectiveKind is which collective.
type CollectiveKind uint8

const (
	AllReduce CollectiveKind = iota
	ReduceScatter
	AllGather
	AllToAll
	Broadcast
	Put // one-sided: one member calls it, and nobody waits
)

// Collective is one collective on elements of a type, written "bf16". N counts them as this member gives them to each other member:
// all of the tensor that is reduced or broadcast, and otherwise a part.
type Collective struct {
	Kind      CollectiveKind
	Src, Dst  Ptr
	N         int
	Type      string
	Reduction string // "sum", "avg", "max" or "min"
	Root      int

	// Of a Put, which copies N elements of u8 from Src, in a window, to the window that member Root has, Offset bytes from its start. It is not captured.
	Window uintptr
	Offset int
}
