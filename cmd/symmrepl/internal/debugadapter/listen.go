package debugadapter

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/symmrepl/symmrepl/internal/accept"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

const (
	maxClients = 16               // connections to a listener that have sent nothing yet
	silence    = 30 * time.Second // for the first message of such a connection
)

// ListenAt serves each process of this user that connects to a Unix socket, until ctx is done. It
// calls ready once it listens, and removes the socket at the end.
func (s Server) ListenAt(ctx context.Context, path string, ready func()) error {
	l, err := userdir.Listen(path)
	if err != nil {
		return err
	}
	ready()
	s.serveAll(ctx, l)
	return nil
}

// ListenPort serves each client that connects to a port of this machine and gives Token, until ctx
// is done. It calls ready once it listens. The address must be one that other machines cannot reach,
// because the protocol has no encryption.
func (s Server) ListenPort(ctx context.Context, address string, ready func(net.Addr)) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s can be reached from other machines, and the protocol has no encryption: listen at 127.0.0.1, and let ssh -L forward the port", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	ready(l.Addr())
	s.serveAll(ctx, l)
	return nil
}

// serveAll serves all clients that connect to a listener, until ctx is done.
func (s Server) serveAll(ctx context.Context, l net.Listener) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	loop := &accept.Loop{Listener: l, Strangers: maxClients, Patience: silence, Serve: func(conn net.Conn, known func()) {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		s.Serve(ctx, &identified{conn, known}, conn)
	}}
	loop.Run()
}

// identified calls known once the other end has sent something.
type identified struct {
	io.Reader
	known func()
}

func (r *identified) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 && r.known != nil {
		r.known()
		r.known = nil
	}
	return n, err
}
