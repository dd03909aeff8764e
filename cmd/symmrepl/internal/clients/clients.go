// Package clients serves processes of this machine that connect to the program, such as agents and
// editors.
package clients

import (
	"context"
	"net"
	"strings"
	"time"
	"unicode"

	"github.com/symmrepl/symmrepl/internal/accept"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

const (
	strangers  = 16               // connections that have sent nothing yet
	patience   = 30 * time.Second // for the first message of such a connection
	nameLength = 40               // characters of a client's name that users are shown
)

// Listen serves the processes of this user that connect to a Unix socket, as Serve does. It calls ready
// once it listens, and removes the socket at the end.
func Listen(ctx context.Context, path string, ready func(), serve func(conn net.Conn)) error {
	l, err := userdir.Listen(path)
	if err != nil {
		return err
	}
	ready()
	Serve(ctx, l, serve)
	return nil
}

// Serve calls serve for each client that connects to a listener, in a goroutine of its own, until ctx
// is done. Then it closes the listener and the connections.
func Serve(ctx context.Context, l net.Listener, serve func(conn net.Conn)) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	loop := &accept.Loop{Listener: l, Strangers: strangers, Patience: patience, Serve: func(conn net.Conn, known func()) {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		serve(&identified{conn, known})
	}}
	loop.Run()
}

// identified calls known once the other end has sent something.
type identified struct {
	net.Conn
	known func()
}

func (c *identified) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.known != nil {
		c.known()
		c.known = nil
	}
	return n, err
}

// Name returns the printable characters of the name that a client has given, "" if there are none. A
// long name is cut.
func Name(given string) string {
	printed := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, given))
	if len(printed) > nameLength {
		printed = append(printed[:nameLength-1], '…')
	}
	return string(printed)
}
