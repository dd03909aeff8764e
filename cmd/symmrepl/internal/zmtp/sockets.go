package zmtp

import (
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/internal/accept"
)

// socket is a listener and its peers, the common part of all sockets here.
type socket struct {
	listener net.Listener
	kind     string
	serve    func(*peer) // reads from a peer until that fails

	mu     sync.Mutex
	peers  map[string]*peer
	next   int
	closed chan struct{}
}

func listen(l net.Listener, kind string, serve func(*peer)) *socket {
	s := &socket{listener: l, kind: kind, serve: serve, peers: map[string]*peer{}, closed: make(chan struct{})}
	loop := &accept.Loop{Listener: l, Strangers: strangers, Patience: handshakeTimeout, Serve: s.meet}
	go loop.Run()
	return s
}

// strangers bounds the number of connections in their handshake.
const strangers = 64

func (s *socket) meet(c net.Conn, known func()) {
	k, err := shake(c, s.kind)
	if err != nil {
		c.Close()
		return
	}
	known()
	p := s.admit(k)
	if p == nil {
		c.Close()
		return
	}
	s.serve(p)
	p.closeWhenWritten()
	p.Close() // the peer reads no more
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[p.id] == p {
		delete(s.peers, p.id)
	}
}

// admit makes a connection a peer, under its name. It replaces a peer of the same name.
func (s *socket) admit(k *conn) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return nil
	default:
	}
	id := k.identity
	if id == "" {
		s.next++
		id = fmt.Sprintf("\x00%d", s.next)
	}
	if old := s.peers[id]; old != nil {
		old.Close()
	}
	p := newPeer(k, id)
	s.peers[id] = p
	return p
}

// Close stops listening; queued messages are still written. It is called once.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.closed)
	for _, p := range s.peers {
		p.closeWhenWritten()
	}
	return s.listener.Close()
}

// Router receives requests and answers each to its peer: ZeroMQ's ROUTER.
type Router struct {
	*socket
	requests chan Request
}

// Request is a message and the name of the peer that sent it.
type Request struct {
	Peer    string
	Message [][]byte
}

// NewRouter serves a listener. A peer that sends faster than Requests is read has to wait.
func NewRouter(l net.Listener) *Router {
	r := &Router{requests: make(chan Request)}
	r.socket = listen(l, "ROUTER", func(p *peer) {
		for {
			message, err := p.read()
			if err != nil {
				return
			}
			select {
			case r.requests <- Request{p.id, message}:
			case <-r.closed:
				return
			}
		}
	})
	return r
}

// Requests returns the channel of requests.
func (r *Router) Requests() <-chan Request { return r.requests }

// Send queues a message for the peer of a name, and reports whether there is one. It disconnects a
// peer whose queue is full.
func (r *Router) Send(peer string, message ...[]byte) bool {
	r.mu.Lock()
	p := r.peers[peer]
	r.mu.Unlock()
	if p != nil && !p.push(encode(message)) {
		p.Close()
	}
	return p != nil
}

// Publisher sends messages to all peers that subscribed to them: ZeroMQ's XPUB.
type Publisher struct {
	*socket
	once       sync.Once
	subscribed chan struct{} // closed at the first subscription
}

// NewPublisher serves a listener. welcome, if not nil, returns the first message for a peer that
// subscribes to a topic, or nil.
func NewPublisher(l net.Listener, welcome func(topic string) [][]byte) *Publisher {
	pub := &Publisher{subscribed: make(chan struct{})}
	pub.socket = listen(l, "XPUB", func(p *peer) {
		for {
			message, err := p.read()
			if err != nil {
				return
			}
			if len(message) != 1 || len(message[0]) == 0 {
				continue
			}
			topic := string(message[0][1:])
			p.mu.Lock()
			p.topics[topic] = message[0][0] == 1
			p.mu.Unlock()
			if message[0][0] != 1 {
				continue
			}
			if welcome != nil {
				if m := welcome(topic); m != nil {
					p.push(encode(m))
				}
			}
			pub.once.Do(func() { close(pub.subscribed) })
		}
	})
	return pub
}

// Subscribed returns a channel that is closed when a peer has subscribed for the first time. What is
// published before is lost.
func (p *Publisher) Subscribed() <-chan struct{} { return p.subscribed }

// Publish sends a message, whose first frame is its topic, to the peers that subscribed to a prefix
// of the topic. It disconnects a peer whose queue is full, so that the peer knows that it may have
// missed messages.
func (p *Publisher) Publish(message ...[]byte) {
	b := encode(message)
	for _, peer := range p.subscribers(string(message[0])) {
		if !peer.push(b) {
			peer.Close()
		}
	}
}

// Offer is Publish for messages that may be too long for peers: it waits for peers that read
// slowly. A peer that reads nothing for some seconds is left out until it reads again; then it gets
// a message of instead for all that it missed.
func (p *Publisher) Offer(instead Instead, message ...[]byte) {
	b := encode(message)
	for _, peer := range p.subscribers(string(message[0])) {
		peer.offer(b, instead)
	}
}

// subscribers returns the peers that subscribed to a prefix of topic.
func (p *Publisher) subscribers(topic string) []*peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []*peer
	for _, peer := range p.peers {
		if peer.subscribed(topic) {
			found = append(found, peer)
		}
	}
	return found
}

func (p *peer) subscribed(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t, wanted := range p.topics {
		if wanted && strings.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}

// Echo sends every message back to its peer: ZeroMQ's REP.
type Echo struct {
	*socket
}

// NewEcho serves a listener.
func NewEcho(l net.Listener) *Echo {
	return &Echo{listen(l, "REP", func(p *peer) {
		for {
			message, err := p.read()
			if err != nil || !p.push(encode(message)) {
				return
			}
		}
	})}
}
