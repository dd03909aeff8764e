package term

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// lendable is the terminal's input, which can be lent to another program. While it is lent, this
// process reads nothing from it: the other program gets every key, and this process is not stopped
// for reading a terminal of which it is not the foreground.
type lendable struct {
	file *os.File
	wake [2]int // a pipe: a byte in it ends the wait for input

	mu      sync.Mutex
	changed sync.Cond // signalled when anything below changes
	lent    bool
	reading bool
}

func newLendable(file *os.File) (*lendable, error) {
	l := &lendable{file: file}
	l.changed.L = &l.mu
	return l, unix.Pipe2(l.wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
}

// Read waits until the terminal is not lent and has input. One goroutine calls it.
func (l *lendable) Read(p []byte) (int, error) {
	for {
		l.mu.Lock()
		for l.lent {
			l.changed.Wait()
		}
		l.reading = true
		l.mu.Unlock()

		n, err, done := l.readOnce(p)

		l.mu.Lock()
		l.reading = false
		l.changed.Broadcast()
		l.mu.Unlock()
		if done {
			return n, err
		}
	}
}

// readOnce waits for input and reads it. done is false if the wait ended without input.
func (l *lendable) readOnce(p []byte) (n int, err error, done bool) {
	events := []unix.PollFd{{Fd: int32(l.file.Fd()), Events: unix.POLLIN}, {Fd: int32(l.wake[0]), Events: unix.POLLIN}}
	if _, err := unix.Poll(events, -1); err != nil {
		return 0, err, err != unix.EINTR
	}
	if events[1].Revents != 0 {
		unix.Read(l.wake[0], make([]byte, 8))
		return 0, nil, false
	}
	n, err = l.file.Read(p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err, true
}

// lend stops reading until takeBack is called. It returns when no read is under way.
func (l *lendable) lend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent = true
	unix.Write(l.wake[1], []byte{0})
	for l.reading {
		l.changed.Wait()
	}
}

func (l *lendable) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent = false
	l.changed.Broadcast()
}
