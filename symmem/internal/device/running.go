package device

import "time"

// Observer is a device that can tell what runs on it.
type Observer interface {
	// Running lists the kernels of snippets that run at this moment, as far as that can be found out within some milliseconds. It may be called at any
	// time.
	Running() []Running
}

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
