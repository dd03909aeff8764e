package device

import (
	"context"
	"time"
)

// CollectiveDevice is a Device whose vendor has a library of collectives.
type CollectiveDevice interface {
	Device
	// Collectives opens the library after adding settings, NAME=VALUE, to the environment, where
	// existing variables take precedence. The error is an *UnavailableError with the reason.
	Collectives(settings []string) (Collectives, error)
}

// Collectives is such a library.
type Collectives interface {
	Name() string // "NCCL 2.28.9"
	// Headers returns the reason why snippets cannot be compiled with the library's own device
	// headers, or "" if they can: see Source.Library.
	Headers() (why string)
	// Windows returns the reason why Communicator.Register makes no windows, or "" if it makes
	// them.
	Windows() (why string)
	// Shares returns the reason why members of a communicator cannot use the same device, or "" if
	// they can.
	Shares() (why string)
	// NewID makes an identifier for the members of a new communicator.
	NewID() ([]byte, error)
	// Join makes a member's communicator; all members call it. If engines is set, collectives of
	// windows are executed by copy engines instead of kernels, if the library supports it.
	// Cancelling ctx gives up.
	Join(ctx context.Context, id []byte, rank, size int, engines bool) (Communicator, error)
	// Fits returns an error unless at the address p in this process there is a communicator of the
	// library, made elsewhere, in which this process has that rank on this device. Adopt is Join for
	// such a communicator. The result's End and Free do not destroy it.
	Fits(p uintptr, rank, size int) error
	Adopt(ctx context.Context, p uintptr, rank, size int) (Communicator, error)
}

// Communicator is a process's member of a group that executes collectives.
type Communicator interface {
	// Register makes a window of n bytes, at the same offset for all members, on which collectives
	// are faster. It returns 0 if the library has no windows. All members call it; cancelling ctx
	// ends the communicator. Deregister ends a window.
	Register(ctx context.Context, p Ptr, n int) (window uintptr, err error)
	Deregister(ctx context.Context, window uintptr) error
	// MakeArgument makes the kernel argument for the communicator, for kernels compiled with the
	// library's own headers, with so many barriers. Waits in kernels end when the word at ends is
	// not 0. All members call it, and EndArgument, which frees it; cancelling ctx ends the
	// communicator.
	MakeArgument(ctx context.Context, barriers int, ends Ptr) ([]byte, error)
	EndArgument(ctx context.Context, argument []byte) error
	// Puts prepares puts, and returns why the library does not support them, if so. All members
	// call it; cancelling ctx ends the communicator.
	Puts(ctx context.Context) (why string, err error)
	// Pointer returns the library's address of the communicator, 0 if it has ended.
	Pointer() uintptr
	// Failure returns an error that the library reports for collectives in progress.
	Failure() error
	// End starts to end the communicator and its kernels, whatever they wait for. It does not wait
	// for the end, and may be called at any time. busy says that calls may be under way: only then does
	// it stop those of an adopted communicator, which its maker can only destroy from then on.
	End(busy bool)
	// Ended waits for the end, and reports whether it was reached. Graphs that captured collectives
	// delay it.
	Ended(limit time.Duration) bool
	// Free frees an ended communicator.
	Free()
}

// CollectiveKind is the kind of a collective.
type CollectiveKind uint8

const (
	AllReduce CollectiveKind = iota
	ReduceScatter
	AllGather
	AllToAll
	Broadcast
	Put // one-sided: one member calls it, and no other waits
)

// Collective is a collective on elements of a type, written "bf16". N is the number of elements
// that this member gives to each other member: the whole tensor for reductions and broadcasts, and
// a part otherwise.
type Collective struct {
	Kind      CollectiveKind
	Src, Dst  Ptr
	N         int
	Type      string
	Reduction string // "sum", "avg", "max" or "min"
	Root      int

	// For a Put, which copies N elements of type u8 from Src, in a window, to the window of member
	// Root, Offset bytes from its start. It is not captured.
	Window uintptr
	Offset int
}
