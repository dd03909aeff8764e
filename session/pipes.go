package session

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// printed reads a worker's standard output and standard error. The bytes of both go to one sink, in
// the order in which the pipes had something to read, which an epoll descriptor knows. A worker that
// prints to one stream waits until the other has been read (interp/run/order.go), and so the sink
// gets the bytes in the order in which they were printed.
type printed struct {
	pipes [2]*pipe
	poll  *os.File // the epoll descriptor
	ready syscall.RawConn

	mu   sync.Mutex // one reader at a time, so that bytes keep their order
	open int        // pipes whose other end is open
	buf  []byte
}

// pipe is the reading end of one stream.
type pipe struct {
	file *os.File
	raw  syscall.RawConn
	read *atomic.Uint64 // as in beginning
}

const (
	// flushLimit bounds what flush reads, in bytes, because a worker may never stop printing.
	flushLimit = 1 << 20
	// pipeSize is what a pipe holds, in bytes, unless its size was changed.
	pipeSize = 64 << 10
)

// newPrinted returns two pipes and their writing ends, which the caller closes. begins is where a
// worker notes where the output of its runs begins.
func newPrinted(begins *[2]beginning) (p *printed, ends [2]*os.File, err error) {
	p = &printed{open: 2, buf: make([]byte, pipeSize)}
	defer func() {
		if err != nil {
			p.close()
			for _, w := range ends {
				if w != nil {
					w.Close()
				}
			}
		}
	}()
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, ends, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(poll, true); err != nil { // so that Go's runtime waits for it
		unix.Close(poll)
		return nil, ends, os.NewSyscallError("fcntl", err)
	}
	p.poll = os.NewFile(uintptr(poll), "output of a worker")
	if p.ready, err = p.poll.SyscallConn(); err != nil {
		return nil, ends, err
	}
	for i := range p.pipes {
		one := &pipe{read: &begins[i].read}
		if one.file, ends[i], err = os.Pipe(); err != nil {
			return nil, ends, err
		}
		p.pipes[i] = one
		if one.raw, err = one.file.SyscallConn(); err != nil {
			return nil, ends, err
		}
		failed := one.raw.Control(func(fd uintptr) {
			err = unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(i)})
		})
		if failed != nil || err != nil {
			return nil, ends, os.NewSyscallError("epoll_ctl", err)
		}
	}
	return p, ends, nil
}

// close ends pump.
func (p *printed) close() {
	if p.poll != nil {
		p.poll.Close()
	}
	for _, one := range p.pipes {
		if one != nil {
			one.file.Close()
		}
	}
}

// pump passes all bytes to sink until the other ends are closed.
func (p *printed) pump(sink func(Stream, []byte)) {
	p.ready.Read(func(fd uintptr) bool { return p.drain(int(fd), 1<<62, sink) })
}

// flush passes the bytes that have already arrived to sink.
func (p *printed) flush(sink func(Stream, []byte)) {
	p.ready.Control(func(fd uintptr) { p.drain(int(fd), flushLimit, sink) })
}

// isEmpty reports whether all bytes that have arrived were passed on.
func (p *printed) isEmpty() bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	for _, one := range p.pipes {
		unread := 0
		err := one.raw.Control(func(fd uintptr) { unread, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		if err != nil || unread > 0 {
			return false
		}
	}
	return true
}

// drain reads until no byte is left or the limit is reached, and reports whether the other ends are
// closed.
func (p *printed) drain(poll, limit int, sink func(Stream, []byte)) bool {
	for total := 0; total < limit; {
		n, ended, idle := p.step(poll, sink)
		if ended || idle {
			return ended
		}
		total += n
	}
	return false
}

// step reads from each pipe that has something, in the order in which they came to have it. It
// returns the number of bytes, and whether there was no pipe to read, for good or at present.
func (p *printed) step(poll int, sink func(Stream, []byte)) (n int, ended, idle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == 0 {
		return 0, true, false
	}
	var events [2]unix.EpollEvent
	count, err := unix.EpollWait(poll, events[:], 0)
	switch {
	case err == unix.EINTR:
		return 0, false, false
	case err != nil:
		return 0, true, false
	case count == 0:
		return 0, false, true
	}
	for _, e := range events[:count] {
		i := int(e.Fd)
		got, closed := p.read(i, e.Events&unix.EPOLLHUP != 0, sink)
		n += got
		if closed {
			p.open--
			p.pipes[i].raw.Control(func(fd uintptr) { unix.EpollCtl(poll, unix.EPOLL_CTL_DEL, int(fd), nil) })
		}
	}
	return n, false, false
}

// read reads what a pipe holds, or after the end of its writers all that it held, and reports whether
// it has ended. What is written meanwhile is left to the next event: the other pipe may have got text
// before. p.mu is held.
func (p *printed) read(i int, hungUp bool, sink func(Stream, []byte)) (total int, closed bool) {
	gone := p.pipes[i].raw.Control(func(fd uintptr) {
		for {
			p.pipes[i].read.Add(1)
			n, err := unix.Read(int(fd), p.buf)
			p.pipes[i].read.Add(uint64(2*max(n, 0) - 1))
			switch {
			case n > 0:
				sink([]Stream{Stdout, Stderr}[i], p.buf[:n])
				total += n
				if n < len(p.buf) && !hungUp {
					return
				}
			case err == unix.EINTR:
			case err == unix.EAGAIN:
				return
			default:
				closed = true
				return
			}
		}
	})
	return total, closed || gone != nil
}
