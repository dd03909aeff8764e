package supervisor

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// printed reads a worker's standard output and standard error. The bytes of both go to one sink, in
// the order in which the worker printed them: see inherit.Ordered.
type printed struct {
	pipes   [2]*pipe // standard output first
	ordered *inherit.Ordered
	poll    *os.File // an epoll descriptor of the pipes
	ready   syscall.RawConn

	mu    sync.Mutex // one reader at a time, so that bytes keep their order
	open  int        // pipes whose other end is open
	ended uint64     // ordered prints that had ended when the last step began
	buf   []byte
}

// pipe is the reading end of one stream.
type pipe struct {
	file *os.File
	raw  syscall.RawConn
	read *atomic.Uint64 // as in beginning

	hungUp bool // the other end is closed
	closed bool // all has been read, too
}

const (
	// flushLimit bounds what flush reads, in bytes, because a worker may never stop printing.
	flushLimit = 1 << 20
	// pipeSize is the capacity of a pipe in bytes, unless its size was changed.
	pipeSize = 64 << 10
)

// newPrinted returns two pipes and their writing ends, which the caller closes. s is shared with
// the worker.
func newPrinted(s *inherit.Memory) (_ *printed, ends [2]*os.File, err error) {
	p := &printed{ordered: &s.Ordered, open: 2, buf: make([]byte, pipeSize)}
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
		one := &pipe{read: &s.Begins[i].Read}
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
func (p *printed) pump(sink func(session.Stream, []byte)) {
	p.ready.Read(func(fd uintptr) bool { return p.drain(int(fd), 1<<62, sink) })
}

// flush passes the bytes that have already arrived to sink.
func (p *printed) flush(sink func(session.Stream, []byte)) {
	p.ready.Control(func(fd uintptr) { p.drain(int(fd), flushLimit, sink) })
}

// isEmpty reports whether all bytes that have arrived were passed on.
func (p *printed) isEmpty() bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	for _, one := range p.pipes {
		if unread, err := one.unread(); err != nil || unread > 0 {
			return false
		}
	}
	return true
}

// unread returns the number of bytes that the pipe holds.
func (p *pipe) unread() (n int, err error) {
	err = p.raw.Control(func(fd uintptr) { n = inherit.Unread(int(fd)) })
	return n, err
}

// drain reads until no byte is left or the limit is reached, and reports whether the other ends are
// closed.
func (p *printed) drain(poll, limit int, sink func(session.Stream, []byte)) bool {
	for total := 0; total < limit; {
		n, ended, idle := p.step(poll, sink)
		if ended || idle {
			return ended
		}
		total += n
	}
	return false
}

// step reads the bytes that the pipes hold at its call. It returns their number, whether both pipes have
// ended, and whether there was nothing to read.
func (p *printed) step(poll int, sink func(session.Stream, []byte)) (n int, ended, idle bool) {
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
	}
	for _, e := range events[:count] {
		one := p.pipes[e.Fd]
		one.hungUp = one.hungUp || e.Events&unix.EPOLLHUP != 0
	}
	printedBefore := p.ended
	p.ended = p.ordered.Ended.Load()
	var holds [2]int
	for i := range slices.Backward(holds[:]) { // standard error first: see inherit.Ordered
		holds[i], _ = p.pipes[i].unread()
	}
	sequence := [2]int{0, 1}
	if p.ordered.Begun.Load() == printedBefore && count == 2 && events[0].Fd == 1 {
		sequence = [2]int{1, 0} // standard output holds no text of an ordered print
	}
	for _, i := range sequence {
		one := p.pipes[i]
		if one.closed || holds[i] == 0 && !one.hungUp {
			continue
		}
		n += p.read(i, holds[i], sink)
		if one.closed {
			p.open--
			one.raw.Control(func(fd uintptr) { unix.EpollCtl(poll, unix.EPOLL_CTL_DEL, int(fd), nil) })
		}
	}
	return n, p.open == 0, count == 0 && n == 0
}

// read reads bytes that a pipe holds, or its end if it holds none and has hung up. It returns the
// number of bytes that it has read. p.mu is held.
func (p *printed) read(i, holds int, sink func(session.Stream, []byte)) (total int) {
	one := p.pipes[i]
	gone := one.raw.Control(func(fd uintptr) {
		for {
			one.read.Add(1)
			n, err := unix.Read(int(fd), p.buf[:min(max(holds-total, 1), len(p.buf))])
			one.read.Add(uint64(2*max(n, 0) - 1))
			switch {
			case n > 0:
				sink([]session.Stream{session.Stdout, session.Stderr}[i], p.buf[:n])
				if total += n; total >= holds {
					return
				}
			case err == unix.EINTR:
			case err == unix.EAGAIN:
				return
			default:
				one.closed = true
				return
			}
		}
	})
	one.closed = one.closed || gone != nil
	return total
}
