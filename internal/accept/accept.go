// Package accept takes connections in for as long as a listener is open, whatever befalls it in between.
//
// Accepting fails when the process has no file descriptor left, or the kernel no memory; that passes. And whoever can reach a listener can
// open connections and say nothing, until no descriptor is left for those who are awaited. A Loop therefore goes on after such errors,
// and bounds the connections that have not yet shown whose they are.
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
	// Strangers is how many connections may be open that are not known yet. One more, or a process without descriptors, costs the oldest of
	// them, which is closed.
	Strangers int
	// Patience is how long a connection may stay unknown before it is closed.
	Patience time.Duration
	// Serve serves a connection, in a goroutine of its own, and closes it. It calls known once the other end has shown who it is. Loop uses
	// no deadlines: they belong to Serve.
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

// Trouble reports why accepting failed last, nil if it never did, and how many connections were closed because they did not become known.
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

// forget takes a connection from the strangers and reports whether it was one.
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
