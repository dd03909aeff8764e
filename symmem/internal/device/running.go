package device

import "time"

// Observer is a device that can tell what runs on it.
type Observer interface {
	// Running lists the kernels of snippets that run at this moment, as far as that can be found out within some milliseconds. It may be called at any
	// time.
	Running() []Running
}

// Counter is a device that counts the work of its streams that is over.
type Counter interface {
	// Works is another number after a stream has done what was put in it, be it a part. It may be called at any time.
	Works() uint64
}

// Monitored is a device that measures how busy it is.
type Monitored interface {
	// Top says that in one line, of all processes together.
	Top() (string, error)
}

// Awaiter is a stream that can tell what it does.
type Awaiter interface {
	// Awaits reports whether all it does at this moment is to wait for an event. It may be called at any time before Close.
	Awaits() bool
}

// CompilerNamer is a device that says what compiles for it: "g++".
type CompilerNamer interface{ CompilerName() string }

// Running is a kernel that runs.
type Running struct {
	Kernel  string
	For     time.Duration // since it began
	Threads int           // that have not ended and wait at no barrier, of the blocks that run
	Spins   bool          // all that a thread does is read the same memory again and again
	Reads   []Ptr         // that memory, if it does and that is of this device
	Shared  []int         // offsets of that memory in the block's shared memory
	Where   string        // the line of the snippet that does it: "cell[3]:7"; empty if it is not known
}
