package zmtp

import (
	"net"
	"sync"
)

// peer is a connection with what is to be written to it.
type peer struct {
	*conn
	id string

	mu      sync.Mutex
	more    *sync.Cond
	queue   [][]byte // encoded messages
	queued  int      // bytes
	closing bool     // once the queue is written
	topics  map[string]bool
}

func newPeer(c *conn, id string) *peer {
	p := &peer{conn: c, id: id, topics: map[string]bool{}}
	p.more = sync.NewCond(&p.mu)
	go p.writeQueue()
	return p
}

// push queues an encoded message and reports whether there was room for it.
func (p *peer) push(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued > 0 && p.queued+len(b) > maxQueued {
		return false
	}
	p.queue = append(p.queue, b)
	p.queued += len(b)
	p.more.Signal()
	return true
}

// maxQueued bounds, in bytes, what waits for a peer to read.
const maxQueued = 64 << 20

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
