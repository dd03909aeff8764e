package worker

import (
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// The connections of a worker
//
// A worker has four connections that cells must not use: one to the hub, and three to its supervisor,
// of which one brings cells and recoveries and one takes the answers to them. They have high
// descriptor numbers, so that code that closes inherited descriptors, or writes to a guessed number,
// does not hit them. After each cell the worker checks that the connections to the hub and for cells
// still exist, and that the process may have as many files open as it needs. If a check fails, the
// rank would fail in every later cell, so the worker reports it and the supervisor ends the worker.
// The supervisor itself notices when the other connection is gone.

// highDescriptor is the lowest number of a connection, if the limit of open files permits it.
const highDescriptor = 1000

// channel is a connection of a worker.
type channel struct {
	*os.File
	fd int
	is unix.Stat_t
}

func (c *channel) LocalAddr() net.Addr  { return &net.UnixAddr{Net: "unix"} }
func (c *channel) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// inherited makes a connection of a descriptor from the supervisor. Children of this process do not
// inherit it.
func inherited(fd int) (*channel, error) {
	c, err := moved(fd)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(c.fd, true); err != nil {
		return nil, err
	}
	c.File = os.NewFile(uintptr(c.fd), "inherited")
	return c, nil
}

// jobChannel is a worker's end of a pipe for jobs or answers: see jobPipes. A read or write blocks
// the thread: the kernel then wakes the thread that runs the cell, and no other.
type jobChannel struct{ channel }

// inheritedJobs is inherited for such a connection.
func inheritedJobs(fd int) (*jobChannel, error) {
	c, err := moved(fd)
	if err != nil {
		return nil, err
	}
	return &jobChannel{*c}, nil
}

func (c *jobChannel) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (c *jobChannel) Write(b []byte) (n int, err error) {
	for n < len(b) {
		more, err := unix.Write(c.fd, b[n:])
		if err != nil && err != unix.EINTR {
			return n, err
		}
		n += max(more, 0)
	}
	return n, nil
}

// moved returns a channel, without its File, for a descriptor from the supervisor, at a high number.
func moved(fd int) (*channel, error) {
	high, err := -1, error(unix.EINVAL)
	for at := highDescriptor; err != nil && at > fd; at /= 2 {
		high, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, at)
	}
	if err != nil {
		return nil, err
	}
	plug(fd)
	c := &channel{fd: high}
	if err := unix.Fstat(high, &c.is); err != nil {
		return nil, err
	}
	return c, nil
}

// plug opens a harmless file at the number of a lost connection: otherwise the runtime's own poller
// would reuse the number.
func plug(fd int) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil || unix.Dup3(null, fd, unix.O_CLOEXEC) != nil {
		unix.CloseOnExec(fd)
	}
	if err == nil {
		unix.Close(null)
	}
}

// whole reports whether the descriptor still refers to the connection.
func (c *channel) whole() bool {
	var s unix.Stat_t
	return unix.Fstat(c.fd, &s) == nil && s.Dev == c.is.Dev && s.Ino == c.is.Ino
}

// harm describes damage that the last cell did to this process so that the rank cannot go on. It
// returns "" if the rank can go on.
func (w *worker) harm() string {
	if !w.hub.whole() {
		return "lost its connection with the other ranks: a cell closed descriptors that are not its own"
	}
	if !w.jobs.whole() || !w.answers.whole() {
		return inherit.LostSession
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < w.files {
		return fmt.Sprintf("may have %d files open, and needs %d: a cell lowered RLIMIT_NOFILE", limit.Cur, w.files)
	}
	return ""
}

// spareFiles is the number of descriptors that a rank needs after its start, for the memory of its
// peers among other things.
const spareFiles = 8

// filesNeeded returns the number of open files that a starting worker must be permitted: at most
// its limit.
func filesNeeded() uint64 {
	list, _ := os.ReadDir("/proc/self/fd")
	needed := uint64(len(list) + spareFiles)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		needed = min(needed, limit.Cur)
	}
	return needed
}
