// Package accept accepts connections until a listener is closed, and survives errors in between.
//
// Accepting fails while the process has no file descriptor left, or the kernel no memory. Besides,
// any process that can reach a listener can open silent connections until no descriptor is left for
// the awaited processes. A Loop therefore goes on after such errors, and bounds the number of
// connections whose other end has not identified itself yet.
package accept

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Pauses after an error: the first, and the longest, to which they double.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Loop accepts connections at Listener.
type Loop struct {
	Listener net.Listener
	// Strangers is the maximum number of open connections that are not known yet. If there are
	// more, or the process has no descriptor left, the oldest of them is closed.
	Strangers int
	// Patience is the time that a connection may stay unknown before it is closed.
	Patience time.Duration
	// Serve serves a connection, in a goroutine of its own, and closes it. It calls known once the
	// other end has identified itself. Loop sets no deadlines; Serve may.
	Serve func(conn net.Conn, known func())

	mu      sync.Mutex
	waiting []*stranger // oldest first
	dropped int
	failed  error
}

// stranger is a connection that is not known yet.
type stranger struct {
	conn  net.Conn
	timer *time.Timer
}

// Run accepts connections until the listener is closed.
func (l *Loop) Run() {
	pause := firstPause
	for {
		conn, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			l.mu.Lock()
			l.failed = err
			l.dropOldest()
			l.mu.Unlock()
			time.Sleep(pause)
			pause = min(2*pause, lastPause)
			continue
		}
		pause = firstPause
		s := l.admit(conn)
		go func() {
			defer l.forget(s)
			l.Serve(conn, func() { l.forget(s) })
		}()
	}
}

// Trouble returns the number of connections that were closed because they did not become known, and
// the last error of accepting, nil if there was none.
func (l *Loop) Trouble() (dropped int, failed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped, l.failed
}

func (l *Loop) admit(conn net.Conn) *stranger {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) >= l.Strangers {
		l.dropOldest()
	}
	s := &stranger{conn: conn}
	s.timer = time.AfterFunc(l.Patience, func() {
		if l.forget(s) {
			conn.Close()
		}
	})
	l.waiting = append(l.waiting, s)
	return s
}

// forget removes a connection from the strangers and reports whether it was there.
func (l *Loop) forget(s *stranger) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiting {
		if other == s {
			s.timer.Stop()
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// dropOldest closes the oldest stranger, if there is one. l.mu is held.
func (l *Loop) dropOldest() {
	if len(l.waiting) == 0 {
		return
	}
	s := l.waiting[0]
	l.waiting = l.waiting[1:]
	s.timer.Stop()
	s.conn.Close()
	l.dropped++
}
