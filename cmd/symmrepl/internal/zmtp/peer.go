package zmtp

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peer is a connection and the messages that wait to be written to it.
type peer struct {
	*conn
	id  string
	raw syscall.RawConn // nil if the connection has no descriptor

	mu      sync.Mutex
	more    *sync.Cond
	queue   [][]byte      // encoded messages; of the first, the unwritten rest
	queued  int           // bytes, including those that writeQueue is writing
	drained chan struct{} // closed when bytes have been written; nil if no offer waits for that
	closing bool          // close the connection once the queue is written
	topics  map[string]bool
	behind  bool   // it has not read for patience, and gets no offers until it does
	missed  missed // since the last message that was queued
}

// missed counts the messages that were dropped for a peer that does not read, and has their
// replacement.
type missed struct {
	messages, bytes int
	instead         Instead
}

// Instead makes the message that replaces a number of dropped messages of so many bytes in all;
// nil: none does.
type Instead func(messages, bytes int) [][]byte

const (
	maxOffered = 16 << 20        // queued bytes from which on further offers wait
	patience   = 3 * time.Second // how long an offer waits for a peer that reads nothing
	piece      = 256 << 10       // bytes of one write, after which the peer counts as reading
)

func newPeer(c *conn, id string) *peer {
	p := &peer{conn: c, id: id, topics: map[string]bool{}}
	if s, ok := c.Conn.(syscall.Conn); ok {
		p.raw, _ = s.SyscallConn()
	}
	p.more = sync.NewCond(&p.mu)
	go p.writeQueue()
	return p
}

// push sends an encoded message, or queues the part that cannot be written at once. It reports
// whether there was room.
func (p *peer) push(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enqueue(b)
}

// enqueue is push. p.mu is held.
func (p *peer) enqueue(b []byte) bool {
	if m := p.missed; m.messages > 0 {
		p.missed = missed{}
		if message := m.instead(m.messages, m.bytes); message != nil {
			b = append(encode(message), b...)
		}
	}
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

// offer is push for a message that may be dropped. While much is queued, it waits; if the peer
// reads nothing for patience, it drops this message and the following ones, until the peer reads
// again.
func (p *peer) offer(b []byte, instead Instead) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.queued > maxOffered && !p.behind && !p.closing {
		if p.drained == nil {
			p.drained = make(chan struct{})
		}
		drained := p.drained
		p.mu.Unlock()
		late := time.NewTimer(patience)
		select {
		case <-drained:
		case <-late.C:
		}
		late.Stop()
		p.mu.Lock()
		p.behind = p.drained == drained && p.queued > maxOffered
	}
	if p.behind && p.queued > maxOffered/2 || !p.enqueue(b) {
		p.missed.messages++
		p.missed.bytes += len(b)
		p.missed.instead = instead
		return
	}
	p.behind = false
}

// maxQueued bounds the bytes that are queued for a peer. A single message may be larger.
const maxQueued = 64 << 20

// writeNow writes as many bytes as possible without waiting, and returns their number; this is
// quicker than waking writeQueue. The queue must be empty. p.mu is held.
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
		batch, size := p.take()
		p.mu.Unlock()
		_, err := batch.WriteTo(p.Conn)
		p.mu.Lock()
		p.queued -= size
		if err != nil {
			p.queue, p.queued, p.closing = nil, 0, true
		}
		if p.drained != nil {
			close(p.drained)
			p.drained = nil
		}
		p.mu.Unlock()
	}
}

// take removes up to a piece from the queue, which is not empty. p.mu is held.
func (p *peer) take() (batch net.Buffers, size int) {
	for len(p.queue) > 0 && size < piece {
		b := p.queue[0]
		if n := piece - size; len(b) > n {
			b, p.queue[0] = b[:n], b[n:]
		} else {
			p.queue[0], p.queue = nil, p.queue[1:]
		}
		batch = append(batch, b)
		size += len(b)
	}
	return batch, size
}

// closeWhenWritten closes the connection once the queue is written.
func (p *peer) closeWhenWritten() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	p.more.Signal()
}
