package inherit

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Ordered counts the prints to standard output that follow the first of the two rules by which the lines
// of both streams keep their order.
//
// Standard output and standard error of a worker are two pipes. The pipes do not tell their reader in
// which order the worker wrote to them. The order follows from two rules:
//
//   - Before the worker prints to standard output, it waits until the supervisor has read all earlier
//     text on standard error (Order.Begin). The worker prints to standard error without a wait.
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

// Order is the worker's part of the rules at Ordered. It implements inband.Order.
type Order struct {
	prints *Ordered
	read   *atomic.Uint64 // as in Beginning, of standard error
	fd     int            // standard error
	pipe   unix.Stat_t    // the file of fd at first; user code may redirect fd
}

// NewOrder returns the order of a worker whose standard error is the descriptor fd.
func NewOrder(m *Memory, fd int) *Order {
	o := &Order{prints: &m.Ordered, read: &m.Begins[1].Read, fd: fd}
	unix.Fstat(fd, &o.pipe)
	return o
}

// Begin waits until all that this process has printed to standard error has been read.
func (o *Order) Begin() {
	o.await()
	o.prints.Begun.Add(1)
}

// End records that the text for standard output is written.
func (o *Order) End() { o.prints.Ended.Add(1) }

// await waits until the bytes that standard error holds at its call have been read. It does not wait
// if standard error was redirected, or if the pipe has no reader any more.
func (o *Order) await() {
	unread := Unread(o.fd)
	if unread == 0 {
		return
	}
	var s unix.Stat_t
	if unix.Fstat(o.fd, &s) != nil || s.Dev != o.pipe.Dev || s.Ino != o.pipe.Ino {
		return
	}
	var end uint64 // not before the end of these bytes in the stream; 0 if not known yet
	for pause := 5 * time.Microsecond; unread > 0; pause = min(2*pause, time.Millisecond) {
		switch read := o.read.Load(); {
		case read%2 == 1: // the supervisor reads, and has not counted the bytes yet
		case end == 0:
			end = read/2 + uint64(unread)
		case read/2 >= end:
			return
		}
		ends := []unix.PollFd{{Fd: int32(o.fd)}}
		if n, _ := unix.Poll(ends, 0); n > 0 && ends[0].Revents&unix.POLLERR != 0 {
			return
		}
		time.Sleep(pause)
		unread = Unread(o.fd)
	}
}

// Unread returns the number of bytes that a pipe holds, 0 if fd is no pipe.
func Unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
