// Package relaytest relays connections, like a network, and can silently stop passing on bytes.
package relaytest

import (
	"net"
	"sync"
	"testing"
)

// Relay passes connections on to an address.
type Relay struct {
	Address string // the address at which the relay listens
	to      string
	carries sync.RWMutex // held for reading while bytes are passed on

	mu    sync.Mutex
	conns []net.Conn
}

// Start listens at a free port of the loopback interface until the test ends, and passes
// connections on to another address.
func Start(t testing.TB, to string) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{Address: l.Addr().String(), to: to}
	t.Cleanup(func() {
		l.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.conns {
			c.Close()
		}
	})
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go r.carry(near)
		}
	}()
	return r
}

// Cut stops the relay from passing on bytes. Connections stay open; bytes that are sent wait for
// Mend.
func (r *Relay) Cut() { r.carries.Lock() }

// Mend ends a Cut.
func (r *Relay) Mend() { r.carries.Unlock() }

func (r *Relay) carry(near net.Conn) {
	far, err := net.Dial("tcp", r.to)
	if err != nil {
		near.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, near, far)
	r.mu.Unlock()
	go r.pass(near, far)
	r.pass(far, near)
}

func (r *Relay) pass(from, to net.Conn) {
	defer r.end(to)
	for b := make([]byte, 64<<10); ; {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		r.carries.RLock()
		_, err = to.Write(b[:n])
		r.carries.RUnlock()
		if err != nil {
			return
		}
	}
}

// end passes on the close of one end.
func (r *Relay) end(to net.Conn) {
	r.carries.RLock()
	defer r.carries.RUnlock()
	to.Close()
}
