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
			serve := c.bootstrap(rank, mine)
			go serve()
		}
		return theirs, err
	}
}

// bootstrap makes conn the connection of a rank's newest worker, which has not been started yet. The function that it returns connects the worker
// with the hub until it ends. It waits for the end of the service to the one before, which would otherwise be taken for that of the newest.
func (c *controller) bootstrap(rank int, conn net.Conn) (serve func()) {
	alone, done := make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.ranks[rank]
	previous, served, reported := s.bootstrap, s.served, s.reported
	s.bootstrap, s.alone, s.served = conn, alone, done
	return func() {
		defer close(done)
		defer conn.Close()
		if previous != nil {
			previous.Close()
			<-served
		}
		close(alone)
		c.hub.Serve(rank, patientConn{conn, reported})
	}
}

// patientConn holds back the end of a worker's connection until its death is reported: that names the cause. The end of a worker that lives on
// without its connection is held back for patience.
type patientConn struct {
	net.Conn
	reported <-chan struct{}
}

const patience = 5 * time.Second

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
