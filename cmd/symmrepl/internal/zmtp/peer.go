package zmtp

import (
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is a connection and the messages that wait to be written to it.
type peer struct {
	*conn
	id  string
	raw syscall.RawConn // nil if the connection has no descriptor

	mu      sync.Mutex
	more    *sync.Cond
	queue   [][]byte // encoded messages
	queued  int      // bytes, including those that writeQueue is writing
	closing bool     // close the connection once the queue is written
	topics  map[string]bool
}

func newPeer(c *conn, id string) *peer {
	p := &peer{conn: c, id: id, topics: map[string]bool{}}
	if s, ok := c.Conn.(syscall.Conn); ok {
		p.raw, _ = s.SyscallConn()
	}
	p.more = sync.NewCond(&p.mu)
	go p.writeQueue()
	return p
}

// push sends an encoded message, or queues the part that the peer does not take at once. It reports whether there was room.
func (p *peer) push(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued == 0 {
		if b = b[p.writeNow(b):]; len(b) == 0 {
			return true
		}
	} else if p.queued+len(b) > maxQueued {
		return false
	}
	p.queue = append(p.queue, b)
	p.queued += len(b)
	p.more.Signal()
	return true
}

// maxQueued bounds, in bytes, what waits for a peer to read.
const maxQueued = 64 << 20

// writeNow writes as many bytes as the peer takes without waiting, and returns their number: that is quicker than waking writeQueue. Nothing may be
// queued. p.mu is held.
func (p *peer) writeNow(b []byte) (n int) {
	if p.raw == nil || p.closing {
		return 0
	}
	p.raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), b) // writeQueue gets the same error
		return true
	})
	return max(n, 0)
}

func (p *peer) writeQueue() {
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.closing {
			p.more.Wait()
		}
		if len(p.queue) == 0 {
			p.mu.Unlock()
			p.Close()
			return
		}
		batch := net.Buffers(p.queue)
		size := p.queued
		p.queue = nil
		p.mu.Unlock()
		_, err := batch.WriteTo(p.Conn)
		p.mu.Lock()
		p.queued -= size
		if err != nil {
			p.queue, p.queued, p.closing = nil, 0, true
		}
		p.mu.Unlock()
	}
}

// closeWhenWritten closes the connection once the queue is written.
func (p *peer) closeWhenWritten() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	p.more.Signal()
}
