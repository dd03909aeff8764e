package userdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listener is a Unix socket that accepts connections of this user's processes only. Each is a
// *net.UnixConn. Close removes the socket, unless something else has its path by then.
type Listener struct {
	*net.UnixListener
	made os.FileInfo
}

// ErrInUse is wrapped by the error of Listen if a live process listens at the socket.
var ErrInUse = errors.New("another process listens there")

// Listen listens at path, even if a dead process of this user has left a socket there. Anything else
// at path stays, and is an error. Only this user can connect, whatever the umask.
func Listen(path string) (*Listener, error) {
	guard, err := lock(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	if err := vacate(path); err != nil {
		return nil, err
	}
	u, err := Bind(path)
	if err != nil {
		return nil, err
	}
	u.SetUnlinkOnClose(false)
	made, err := os.Lstat(path)
	if err != nil {
		u.Close()
		return nil, err
	}
	return &Listener{u, made}, nil
}

// Bind listens at path, where nothing may be yet. Only this user can connect, whatever the umask.
func Bind(path string) (*net.UnixListener, error) {
	if most := len(unix.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("%s has %d bytes, and the path of a socket has at most %d: give a shorter path", path, len(path), most)
	}
	private := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		failed := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }) // the path gets the mode of the socket
		return cmp.Or(failed, err)
	}}
	l, err := private.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return l.(*net.UnixListener), nil
}

// vacate removes a socket of this user at which no process listens. It returns an error if path has
// anything else.
func vacate(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s exists and is no socket (it is %s): it stays as it is; give another path", path, info.Mode())
	case int(info.Sys().(*syscall.Stat_t).Uid) != os.Getuid():
		return fmt.Errorf("%s is a socket of user %d: give another path", path, info.Sys().(*syscall.Stat_t).Uid)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) { // a socket of another type, or one that has no room, is alive too
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	return os.Remove(path)
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	now, err := os.Lstat(l.Addr().String())
	if err == nil && os.SameFile(now, l.made) && now.Mode() == l.made.Mode() && now.ModTime().Equal(l.made.ModTime()) {
		os.Remove(l.Addr().String())
	}
	return l.UnixListener.Close()
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
