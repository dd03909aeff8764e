package session

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Standard output and standard error of a worker are two pipes. A reader sees in each what was
// printed, but not in which order the two were written. The order follows from two rules:
//
//   - The worker prints to standard output only once the supervisor has read all that was printed
//     to standard error before (outputOrder.Begin). It prints to standard error at any time.
//   - The supervisor counts what standard error holds, reads all of standard output, and then as much
//     of standard error as it has counted (printed.step).
//
// A text that was printed to standard output before one that was counted is read first, by the second
// rule; one that was printed after it is written once that has been read, by the first rule. So code
// that follows the first rule needs no clock and no limit. Other code, as C and the programs that a
// cell starts, writes to both pipes as it likes. While only such code prints, the supervisor reads
// the pipes in the order in which they came to hold something, which is a guess.

// ordered counts the prints to standard output that follow the first rule. It is part of a Trail.
type ordered struct {
	begun, ended atomic.Uint64
}

// outputOrder is the worker's part. It implements inband.Order.
type outputOrder struct {
	prints *ordered
	read   *atomic.Uint64 // as in beginning, of standard error
	fd     int            // standard error
	pipe   unix.Stat_t    // what fd was at first; user code may redirect it
}

// newOutputOrder returns the order of a worker whose standard error is the descriptor fd.
func newOutputOrder(trail *Trail, fd int) *outputOrder {
	o := &outputOrder{prints: &trail.ordered, read: &trail.begins[1].read, fd: fd}
	unix.Fstat(fd, &o.pipe)
	return o
}

// Begin waits until all that this process has printed to standard error has been read.
func (o *outputOrder) Begin() {
	o.await()
	o.prints.begun.Add(1)
}

// End records that what was to be printed to standard output is written.
func (o *outputOrder) End() { o.prints.ended.Add(1) }

// await waits until the bytes that standard error holds at its call have been read. It does not wait
// if standard error was redirected, or if the pipe has no reader any more.
func (o *outputOrder) await() {
	unread := unreadBytes(o.fd)
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
		unread = unreadBytes(o.fd)
	}
}

// unreadBytes returns the number of bytes that a pipe holds, 0 if fd is no pipe.
func unreadBytes(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
