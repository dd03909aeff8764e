package zmtp

import (
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is a connection with what is to be written to it.
type peer struct {
	*conn
	id  string
	raw syscall.RawConn // nil if the connection has no descriptor

	mu      sync.Mutex
	more    *sync.Cond
	queue   [][]byte // encoded messages
	queued  int      // bytes, with those that writeQueue has in hand
	closing bool     // once the queue is written
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

// push sends an encoded message, or queues what the peer does not take at once. It reports whether there was room for it.
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

// writeNow writes what the peer takes without a wait, and returns how much that is: it is sooner there than by waking writeQueue. Nothing is queued.
func (p *peer) writeNow(b []byte) (n int) {
	if p.raw == nil || p.closing {
		return 0
	}
	p.raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), b) // writeQueue meets the error, too
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

// finish ends the connection when what is queued is written.
func (p *peer) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	p.more.Signal()
}
