package device

import "time"

// Observer is a device that can report the running kernels.
type Observer interface {
	// Running lists the running kernels of snippets, as far as that can be found out within some
	// milliseconds. It may be called at any time.
	Running() []Running
}

// Counter is a device that counts the completed work of its streams.
type Counter interface {
	// Works returns a number that changes when a stream completes work, or a part of it. It may be
	// called at any time.
	Works() uint64
}

// Monitored is a device that measures its load.
type Monitored interface {
	// Top describes the load in one line, for all processes together.
	Top() (string, error)
}

// Awaiter is a stream that can report whether it waits.
type Awaiter interface {
	// Awaits reports whether the stream does nothing but wait for an event at this moment. It may
	// be called at any time before Close.
	Awaits() bool
}

// Stander is a stream that can report that its kernel stands still.
type Stander interface {
	// Stands reports whether the stream runs a kernel that stands still, so that nothing but other
	// streams, other devices or the host can end it: all its blocks have begun, and each of their
	// threads waits, without a deadline, in a function of kernels/ that returns only when memory
	// changes, or at a barrier for such threads. A thread that polls in a loop of the snippet does
	// not stand still: the loop may count. Stands may be called at any time, and by several
	// goroutines.
	Stands() (Stand, bool)
}

// Stand describes a kernel that stands still.
type Stand struct {
	Number uint64 // changes when a thread has made progress
	Looks  uint64 // grows when all threads have looked again, in vain; a write before the growth before is seen
}

// CompilerNamer is a device that can name its compiler: "g++".
type CompilerNamer interface{ CompilerName() string }

// Running is a running kernel.
type Running struct {
	Kernel  string
	For     time.Duration // since it began
	Threads int           // threads of running blocks that have not ended and do not wait at a barrier
	Spins   bool          // a thread only reads the same memory again and again
	Reads   []Ptr         // that memory, if Spins and it belongs to this device
	Shared  []int         // offsets of that memory in the block's shared memory
	Seen    uint64        // when it was last seen to do so, in nanoseconds of a clock; 0 if not Spins
	Where   string        // the line of the snippet that reads it: "cell[3]:7"; empty if unknown
}
