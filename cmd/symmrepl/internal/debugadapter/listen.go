package debugadapter

import (
	"context"
	"fmt"
	"net"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/clients"
)

// ListenAt serves each process of this user that connects to a Unix socket, until ctx is done. It
// calls ready once it listens, and removes the socket at the end.
func (s Server) ListenAt(ctx context.Context, path string, ready func()) error {
	return clients.Listen(ctx, path, ready, func(conn net.Conn) { s.Serve(ctx, conn, conn) })
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
	clients.Serve(ctx, l, func(conn net.Conn) { s.Serve(ctx, conn, conn) })
	return nil
}
