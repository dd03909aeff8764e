package heartbeat

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
)

// SilenceError reports that the other end of a connection was silent for too long.
type SilenceError struct {
	Limit time.Duration
}

func (e *SilenceError) Error() string { return fmt.Sprintf("no heartbeat for %v", e.Limit) }

// Conn is a connection that carries frames. One goroutine reads from it at a time; several may
// write, one whole frame in each call.
type Conn struct {
	net.Conn
	writing  sync.Mutex                   // held during a Write
	patience atomic.Int64                 // see WriteWithin
	reads    atomic.Uint64                // number of reads that have ended
	reading  atomic.Bool                  // a goroutine waits for the other end
	silence  atomic.Pointer[SilenceError] // set if the connection was closed because of silence
	looked   atomic.Int64                 // time of watch's last check, in nanoseconds since 1970
	stopped  atomic.Int64                 // the longest time for which this process did not run, in nanoseconds
	once     sync.Once
	closed   chan struct{}
}

// New returns a Conn for a connection, which the Conn owns from now on. Beats are sent and expected
// from Start on.
func New(conn net.Conn) *Conn { return &Conn{Conn: conn, closed: make(chan struct{})} }

// WriteWithin bounds the time that each later Write may take.
func (c *Conn) WriteWithin(d time.Duration) { c.patience.Store(int64(d)) }

// Start begins to send beats and to expect them from the other end, which calls Start with the same
// limit. It is called once.
func (c *Conn) Start(limit time.Duration) {
	every := min(limit/perLimit, apart)
	c.looked.Store(time.Now().UnixNano())
	go c.send(limit, every)
	go c.watch(limit, every)
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	c.reading.Store(true)
	n, err := c.Conn.Read(b)
	c.reads.Add(1)
	c.reading.Store(false)
	return n, c.explain(err)
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if d := time.Duration(c.patience.Load()); d > 0 {
		c.Conn.SetWriteDeadline(time.Now().Add(d))
	}
	n, err := c.Conn.Write(b)
	return n, c.explain(err)
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// explain returns the reason for an operation's error err.
func (c *Conn) explain(err error) error {
	if silence := c.silence.Load(); err != nil && silence != nil {
		return silence
	}
	return err
}

// send sends beats until the connection is closed. No beat is due while a frame is being written.
func (c *Conn) send(limit, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	beat := []byte(frame.Beat)
	for {
		select {
		case <-c.closed:
			return
		case <-ticker.C:
		}
		if !c.writing.TryLock() {
			continue
		}
		c.Conn.SetWriteDeadline(time.Now().Add(limit))
		c.Conn.Write(beat) // readers and writers see a failure
		c.Conn.SetWriteDeadline(time.Time{})
		c.writing.Unlock()
	}
}

// Stopped returns the longest time for which this process did not run, because it was stopped or
// its machine suspended; 0 if that was less than a few beats.
func (c *Conn) Stopped() time.Duration {
	looked := c.looked.Load() // loaded before stopped, because watch stores stopped first
	longest := time.Duration(c.stopped.Load())
	if looked != 0 {
		longest = max(longest, time.Since(time.Unix(0, looked)))
	}
	if longest < 3*apart {
		return 0
	}
	return longest
}

// watch closes the connection if the other end is silent for too long.
func (c *Conn) watch(limit, every time.Duration) {
	ticker := time.NewTicker(every / looks)
	defer ticker.Stop()
	var silent time.Duration
	last, heard := time.Now(), c.reads.Load()
	for silent < limit {
		select {
		case <-c.closed:
			return
		case <-ticker.C:
		}
		now := time.Now()
		c.stopped.Store(max(c.stopped.Load(), int64(now.Sub(last))))
		c.looked.Store(now.UnixNano())
		passed := min(now.Sub(last), 2*every) // the rest is not silence of the other end: this process was stopped
		last = now
		switch reads := c.reads.Load(); {
		case reads != heard:
			heard, silent = reads, 0
		case c.reading.Load():
			silent += passed
		}
	}
	c.silence.Store(&SilenceError{limit})
	if over, ok := c.Conn.(interface{ NetConn() net.Conn }); ok {
		over.NetConn().Close() // closing TLS would first send an alert, and wait for the other end
	}
	c.Close()
}
