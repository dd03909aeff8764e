package supervisor

import (
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Jobs, which are cells and recoveries, go to a worker through one pipe, and the answers to them come
// through another: a cell costs one write and one read on each side. Neither pipe is known to the
// poller of package os, and they are not one socket, because both wait for room to write too: the
// kernel would wake the sender whenever a message has been read.

// jobPipes are the supervisor's ends of the pipes of one worker.
type jobPipes struct {
	jobs, answers *os.File
	out           *frame.Writer // on jobs

	mu  sync.Mutex // one reader at a time
	buf []byte     // the beginning of an answer
}

// newJobPipes makes the pipes of a worker, and the worker's ends of them, which the caller closes.
func newJobPipes() (p *jobPipes, jobs, answers *os.File, err error) {
	var fds [4]int // pairs of a reading and a writing end
	if err := unix.Pipe2(fds[:2], unix.O_CLOEXEC); err != nil {
		return nil, nil, nil, err
	}
	if err := unix.Pipe2(fds[2:], unix.O_CLOEXEC); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, nil, err
	}
	var files [4]*os.File
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "jobs")
	}
	for _, fd := range fds[1:3] {
		unix.SetNonblock(fd, true) // only now: the files are not for the poller
	}
	p = &jobPipes{jobs: files[1], answers: files[2], buf: make([]byte, 0, 4<<10)}
	p.out = frame.NewWriter(jobWriter{p.jobs})
	return p, files[0], files[3], nil
}

func (p *jobPipes) close() {
	p.jobs.Close()
	p.answers.Close()
}

// jobWriter writes to a worker. It fails if the worker does not read for controlTimeout.
type jobWriter struct{ *os.File }

func (w jobWriter) Write(b []byte) (n int, err error) {
	failed := control(w.File, func(fd int) {
		for n < len(b) && err == nil {
			var more int
			switch more, err = unix.Write(fd, b[n:]); err {
			case nil:
				n += more
			case unix.EINTR:
				err = nil
			case unix.EAGAIN:
				err = waitForRoom(fd)
			}
		}
	})
	if failed != nil {
		err = failed
	}
	return n, err
}

// waitForRoom waits until fd takes bytes, for at most controlTimeout.
func waitForRoom(fd int) error {
	until := time.Now().Add(controlTimeout)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(time.Until(until).Milliseconds())+1)
		switch {
		case n > 0:
			return nil
		case err != nil && err != unix.EINTR:
			return err
		case time.Now().After(until):
			return os.ErrDeadlineExceeded
		}
	}
}

// control calls f with the descriptor of a file, which stays open meanwhile.
func control(file *os.File, f func(fd int)) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// take passes on the answers that have come. It does not wait for more; the error is io.EOF if there
// will be none.
func (p *jobPipes) take(pass func(e wire.Event, payload []byte)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.read()
	for {
		var e wire.Event
		payload, size, wrong := frame.Decode(p.buf, wire.MaxPayload, &e)
		switch {
		case wrong != nil:
			return wrong
		case size == 0:
			return err
		}
		p.buf = p.buf[:copy(p.buf, p.buf[size:])]
		if cap(p.buf) > jobBuffer && len(p.buf) == 0 {
			p.buf = make([]byte, 0, 4<<10)
		}
		pass(e, payload)
	}
}

// jobBuffer is the size above which the memory for an answer is not kept, in bytes.
const jobBuffer = 256 << 10

// read reads once. It fails at the end of the pipe.
func (p *jobPipes) read() (err error) {
	if len(p.buf) == cap(p.buf) {
		p.buf = append(p.buf, 0)[:len(p.buf)]
	}
	failed := control(p.answers, func(fd int) {
		n := 0
		switch n, err = unix.Read(fd, p.buf[len(p.buf):cap(p.buf)]); {
		case n > 0:
			p.buf = p.buf[:len(p.buf)+n]
		case err == nil:
			err = io.EOF
		case err == unix.EAGAIN, err == unix.EINTR:
			err = nil
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// reader reads the answers of all workers of this process. One goroutine waits for them, in a call
// that blocks its thread.
type reader struct {
	mu     sync.Mutex
	epoll  int // 0 before the first worker
	ending int // an eventfd: readable at the end
	pipes  map[int32]*answering

	woken atomic.Bool // an answer has woken a goroutine, which waits for a processor
}

// answering is a worker whose answers are read. take passes on those that have come, and reports
// whether there may be more.
type answering struct{ take func() (more bool) }

// add reads a worker's answers from now on.
func (r *reader) add(p *jobPipes, take func() (more bool)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoll == 0 {
		if err := r.open(); err != nil {
			return err
		}
	}
	var err error
	failed := control(p.answers, func(fd int) {
		if err = r.watch(fd); err == nil {
			r.pipes[int32(fd)] = &answering{take}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// open begins to wait. r.mu is held.
func (r *reader) open() (err error) {
	if r.ending, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return err
	}
	if r.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		err = r.watch(r.ending)
	}
	if err != nil {
		return err
	}
	r.pipes = map[int32]*answering{}
	go r.wait(r.epoll)
	return nil
}

func (r *reader) watch(fd int) error {
	return unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// wait waits for answers until the end.
func (r *reader) wait(epoll int) {
	defer unix.Close(epoll)
	defer unix.Close(r.ending)
	ready := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(epoll, ready, -1)
		if err != nil && err != unix.EINTR {
			return
		}
		for _, e := range ready[:max(n, 0)] {
			if int(e.Fd) == r.ending {
				return
			}
			r.mu.Lock()
			a := r.pipes[e.Fd]
			r.mu.Unlock()
			if a != nil && !a.take() {
				r.remove(e.Fd, a)
			}
		}
		if r.woken.Swap(false) { // Gosched itself wakes a thread
			runtime.Gosched() // the other goroutine goes on here, and need not wait for another thread
		}
	}
}

// remove ends the reading of a worker's answers. The descriptor may be closed and be another
// worker's already.
func (r *reader) remove(fd int32, a *answering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipes[fd] == a {
		delete(r.pipes, fd)
		unix.EpollCtl(r.epoll, unix.EPOLL_CTL_DEL, int(fd), nil)
	}
}

// close ends all reading.
func (r *reader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoll > 0 {
		unix.Write(r.ending, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}
