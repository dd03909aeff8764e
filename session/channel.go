package session

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The connections of a worker
//
// A worker has two connections that are not the cells': one with its supervisor, one with the hub. They lie at high numbers, where code that closes
// what it inherited, or writes to a number that it counted to, does not meet them. After each cell the worker looks whether the one with the hub
// is still there, and whether the process may have as many files open as it needs: otherwise the rank would fail in all that follows. If not, it says so, and the
// supervisor ends it. The supervisor itself notices when the other connection is gone.

// highDescriptor is the number from which connections are numbered, or from a lower one where the limit is lower.
const highDescriptor = 1000

// channel is a connection of a worker.
type channel struct {
	*os.File
	fd int
	is unix.Stat_t
}

func (c *channel) LocalAddr() net.Addr  { return &net.UnixAddr{Net: "unix"} }
func (c *channel) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// inherited turns a descriptor from the supervisor into a connection that no child of this process inherits.
func inherited(fd int) (*channel, error) {
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
	if err := unix.SetNonblock(high, true); err != nil {
		return nil, err
	}
	c.File = os.NewFile(uintptr(high), "inherited")
	return c, nil
}

// plug puts what harms nobody at a number that a connection had: else the run-time's own poller would have it next.
func plug(fd int) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil || unix.Dup3(null, fd, unix.O_CLOEXEC) != nil {
		unix.CloseOnExec(fd)
	}
	if err == nil {
		unix.Close(null)
	}
}

// whole reports whether the descriptor is still the connection.
func (c *channel) whole() bool {
	var s unix.Stat_t
	return unix.Fstat(c.fd, &s) == nil && s.Dev == c.is.Dev && s.Ino == c.is.Ino
}

// harm says in words what the cell that has just ended did to this process so that the rank cannot go on; empty if it can.
func (w *worker) harm() string {
	if w.hub == nil { // a rank of a simulation
		return ""
	}
	if !w.hub.whole() {
		return "lost its connection with the other ranks: a cell closed descriptors that are not its own"
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < w.files {
		return fmt.Sprintf("may have %d files open, and needs %d: a cell lowered RLIMIT_NOFILE", limit.Cur, w.files)
	}
	return ""
}

// spareFiles is how many descriptors a rank needs besides those that it has when it begins, for the memory of its peers among others.
const spareFiles = 8

// filesNeeded is how many files a worker that begins must be permitted to have open: no more than it is.
func filesNeeded() uint64 {
	list, _ := os.ReadDir("/proc/self/fd")
	needed := uint64(len(list) + spareFiles)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		needed = min(needed, limit.Cur)
	}
	return needed
}
