package supervisor

import (
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hearing reads a worker's control connection, for one goroutine, which passes the messages on. The
// end of a cell comes through another connection. It must not overtake the worker's earlier
// messages: otherwise damage that the cell did to this connection would be noticed only when the
// cell is over.
type hearing struct {
	raw   syscall.RawConn
	over  <-chan struct{} // closed when the goroutine reads no more
	dying chan struct{}   // closed when the worker's death is being reported

	mu   sync.Mutex
	busy bool          // bytes were read, and the goroutine has not come back for more
	back chan struct{} // closed and replaced when it comes back
}

// newHearing returns a hearing of conn by a goroutine that closes over at its end.
func newHearing(conn *net.UnixConn, over <-chan struct{}) (*hearing, error) {
	raw, err := conn.SyscallConn()
	return &hearing{raw: raw, over: over, dying: make(chan struct{}), back: make(chan struct{})}, err
}

// Read implements io.Reader.
func (h *hearing) Read(b []byte) (n int, err error) {
	h.mu.Lock()
	h.busy = false
	close(h.back)
	h.back = make(chan struct{})
	h.mu.Unlock()
	failed := h.raw.Read(func(fd uintptr) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for n, err = unix.Read(int(fd), b); err == unix.EINTR; {
			n, err = unix.Read(int(fd), b)
		}
		h.busy = err != unix.EAGAIN
		return h.busy
	})
	switch {
	case failed != nil:
		return 0, failed
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// quiet reports whether all that the worker has sent was passed on. If not, it returns a channel that
// is closed when the goroutine comes back for more.
func (h *hearing) quiet() (yes bool, back <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.over:
		return true, nil
	default:
	}
	unread := 0
	err := h.raw.Control(func(fd uintptr) {
		unread, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	})
	return !h.busy && unread == 0 || err != nil, h.back
}

// await returns when all that the worker had sent was passed on, when its death is being reported, or
// after controlTimeout.
func (h *hearing) await() {
	late := time.After(controlTimeout)
	for {
		yes, back := h.quiet()
		if yes {
			return
		}
		select {
		case <-back:
		case <-h.over:
		case <-h.dying:
			return
		case <-late:
			return
		}
	}
}
