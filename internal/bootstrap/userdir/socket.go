package userdir

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Listener is a Unix socket that accepts connections of this user's processes only. Each is a
// *net.UnixConn.
type Listener struct{ *net.UnixListener }

// ErrInUse is wrapped by the error of Listen if a live process listens at the socket.
var ErrInUse = errors.New("another process listens there")

// Listen listens at path, even if a dead process has left a socket there.
func Listen(path string) (*Listener, error) {
	guard, err := lock(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	os.Remove(path)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &Listener{l}, nil
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if sameUser(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

// Dial connects to the socket at path, if a process of this user listens there.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := sameUser(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// sameUser returns an error if the process at the other end of conn belongs to another user.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var got error
	if err := raw.Control(func(fd uintptr) {
		cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if got != nil {
		return got
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the socket belongs to user %d, not %d", cred.Uid, os.Getuid())
	}
	return nil
}
