package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// SendFile sends a message of at least one byte, and the open file f with its first byte, to the
// process of this user that listens at a socket. It does not wait until that process has read them.
// It ends after 10 seconds if the process does not take the connection.
func SendFile(ctx context.Context, socket string, message []byte, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	conn, err := userdir.Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(fetchTimeout))
	return send(conn, message, f)
}

// send sends a message, and f with its first byte.
func send(conn *net.UnixConn, message []byte, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var sent error
	err = raw.Control(func(fd uintptr) {
		n, _, sent = conn.WriteMsgUnix(message, unix.UnixRights(int(fd)), nil)
	})
	if err := errors.Join(err, sent); err != nil {
		return err
	}
	if n < len(message) {
		return fmt.Errorf("%d of %d bytes were sent: %w", n, len(message), io.ErrShortWrite)
	}
	return nil
}
