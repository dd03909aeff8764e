package inherit

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Ordered counts the prints to standard output that follow the first of the two rules by which the lines
// of both streams keep their order.
//
// Standard output and standard error of a worker are two pipes. The pipes do not tell their reader in
// which order the worker wrote to them. The order follows from two rules:
//
//   - Before the worker prints to standard output, it waits until the supervisor has read all earlier
//     text on standard error (outputOrder.Begin). The worker prints to standard error without a wait.
//   - The supervisor counts the bytes in standard error, then reads all bytes in standard output, and
//     then reads the counted bytes of standard error (printed.step).
//
// Let E be bytes of standard error that the supervisor has counted. Text that was printed to standard
// output before E is in the pipe by then, so the second rule reads it before E. Text that is printed to
// standard output after E is written only when E has been read, by the first rule. No step depends on
// time.
//
// Code that does not follow the first rule has no such order: C code, and programs that a cell starts.
// While only such code prints, the supervisor reads the pipes in the order in which bytes came into
// them, as far as the kernel reports it.
type Ordered struct {
	Begun, Ended atomic.Uint64
}

// Unread returns the number of bytes that a pipe holds, 0 if fd is no pipe.
func Unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
