package session

import (
	"net"
	"os"
	"time"
)

// bootstrapper returns a function that connects successive workers of a local rank with the hub.
func (c *controller) bootstrapper(rank int) func(int) (*os.File, error) {
	return func(int) (*os.File, error) {
		mine, theirs, err := socketPair()
		if err == nil {
			go c.serveBootstrap(rank, mine)
		}
		return theirs, err
	}
}

// serveBootstrap connects a rank's newest worker with the hub until it ends. It waits for the end of the
// service to the one before, which would otherwise be taken for that of the newest.
func (c *controller) serveBootstrap(rank int, conn net.Conn) {
	defer conn.Close()
	done := make(chan struct{})
	defer close(done)
	c.mu.Lock()
	s := c.ranks[rank]
	previous, served, reported := s.bootstrap, s.served, s.reported
	s.bootstrap, s.served = conn, done
	c.mu.Unlock()
	if previous != nil {
		previous.Close()
		<-served
	}
	c.hub.Serve(rank, patientConn{conn, reported})
}

// patientConn holds back the end of a worker's connection until its death is reported: that names the cause.
type patientConn struct {
	net.Conn
	reported <-chan struct{}
}

const patience = 250 * time.Millisecond

func (p patientConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if err != nil {
		select {
		case <-p.reported:
		case <-time.After(patience):
		}
	}
	return n, err
}
