package controller

import (
	"net"
	"os"
	"time"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// hubConnector returns a function that connects successive workers of a local rank to the hub.
func (c *controller) hubConnector(rank int) func(int) (*os.File, error) {
	return func(int) (*os.File, error) {
		mine, theirs, err := inherit.Pair()
		if err == nil {
			serve := c.serveHub(rank, mine)
			go serve()
		}
		return theirs, err
	}
}

// serveHub makes conn the connection of a rank's newest worker, which has not been started yet. The
// caller then calls serve, which connects the worker to the hub until conn ends. serve first waits
// until the hub no longer serves the previous worker: otherwise the hub would take the end of the
// previous connection for the end of the newest worker.
func (c *controller) serveHub(rank int, conn net.Conn) (serve func()) {
	previousEnded, ended := make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.ranks[rank]
	previous, served, reported := s.bootstrap, s.bootstrapEnded, s.deathReported
	s.bootstrap, s.previousEnded, s.bootstrapEnded = conn, previousEnded, ended
	return func() {
		defer close(ended)
		defer conn.Close()
		if previous != nil {
			previous.Close()
			<-served
		}
		close(previousEnded)
		c.hub.Serve(rank, heldConn{conn, reported})
	}
}

// heldConn delays the end of a worker's connection until the death of the worker has been reported
// with its cause, so that ranks that wait for the worker get the cause. A worker may also close its
// connection and live on; the delay is then holdTimeout.
type heldConn struct {
	net.Conn
	reported <-chan struct{}
}

const holdTimeout = 5 * time.Second

func (p heldConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err != nil {
		select {
		case <-p.reported:
		case <-time.After(holdTimeout):
		}
	}
	return n, err
}
