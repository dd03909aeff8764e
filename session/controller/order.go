package controller

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// outputOrder is the worker's part. It implements inband.Order.
type outputOrder struct {
	prints *inherit.Ordered
	read   *atomic.Uint64 // as in beginning, of standard error
	fd     int            // standard error
	pipe   unix.Stat_t    // the file of fd at first; user code may redirect fd
}

// newOutputOrder returns the order of a worker whose standard error is the descriptor fd.
func newOutputOrder(s *inherit.Memory, fd int) *outputOrder {
	o := &outputOrder{prints: &s.Ordered, read: &s.Begins[1].Read, fd: fd}
	unix.Fstat(fd, &o.pipe)
	return o
}

// Begin waits until all that this process has printed to standard error has been read.
func (o *outputOrder) Begin() {
	o.await()
	o.prints.Begun.Add(1)
}

// End records that the text for standard output is written.
func (o *outputOrder) End() { o.prints.Ended.Add(1) }

// await waits until the bytes that standard error holds at its call have been read. It does not wait
// if standard error was redirected, or if the pipe has no reader any more.
func (o *outputOrder) await() {
	unread := inherit.Unread(o.fd)
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
		unread = inherit.Unread(o.fd)
	}
}
