package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/accept"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// FileError reports a descriptor that could not be fetched from a peer.
type FileError struct {
	Call Call
	Peer int // world rank; the reporting rank itself if it has no descriptor left
	Err  error
}

func (e *FileError) Error() string {
	if e.own() {
		return fmt.Sprintf("%s: rank %d has no file descriptor left for the memory of its peers (%v): free tensors and close files there, or raise `ulimit -n`", e.Call, e.Peer, e.Err)
	}
	s := fmt.Sprintf("%s: no descriptor from rank %d: %v", e.Call, e.Peer, e.Err)
	if errors.Is(e.Err, io.EOF) || errors.Is(e.Err, unix.ECONNRESET) {
		s = fmt.Sprintf("%s: no descriptor from rank %d: %v", e.Call, e.Peer, errWithdrawn) // it could not serve the request
	}
	if errors.Is(e.Err, os.ErrNotExist) {
		s += " (ranks that share memory must run on one host)"
	}
	return s
}

func (e *FileError) Unwrap() error { return e.Err }

// own reports whether the fault lies with the reporting rank. Peer is then that rank.
func (e *FileError) own() bool {
	return errors.Is(e.Err, unix.EMFILE) || errors.Is(e.Err, unix.ENFILE) || errors.Is(e.Err, errTruncated)
}

// errTruncated reports that a descriptor arrived and could not be kept. The kernel does not give a
// reason, but there is only one.
var errTruncated = errors.New("too many open files")

// errWithdrawn reports that a peer made the call and has ended it without success.
var errWithdrawn = errors.New("it has given up this call, and its own error says why")

// fetchTimeout bounds one transfer between two ranks that have both made the call.
const fetchTimeout = 10 * time.Second

// exchange is the socket at which peers fetch this rank's descriptors.
type exchange struct {
	listener *userdir.Listener

	mu     sync.Mutex          // guards offers, and the files in it while they are sent
	offers map[string]*os.File // by the name under which peers ask for them
}

// GatherFiles contributes the open file f to call and returns the files of all members by position
// in call.Group, this rank's own as a duplicate. The caller closes all of them. f must stay open
// until GatherFiles returns; the caller keeps it. GatherFiles is collective over the group, whose
// members must be on one host and in one part, and returns when all members have fetched all files.
// Errors are as in Gather, or a *FileError.
func (c *Client) GatherFiles(ctx context.Context, call Call, f *os.File) ([]*os.File, error) {
	x, err := c.exchange()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s#%d@%s", call.Key, call.Ordinal, c.parts.Name(c.rank)) // ranks of other parts do not find it
	x.offer(name, f)
	defer x.withdraw(name)
	addresses, err := c.Gather(ctx, call, []byte(x.listener.Addr().String()))
	if err != nil {
		return nil, err
	}
	files := make([]*os.File, len(addresses))
	for i, peer := range call.Group {
		if peer == c.rank {
			files[i], err = duplicate(f)
		} else {
			files[i], err = fetch(ctx, string(addresses[i]), name)
		}
		if err != nil {
			closeFiles(files)
			failed := &FileError{call, peer, err}
			if failed.own() {
				failed.Peer = c.rank
			}
			return nil, failed
		}
	}
	// A member must not withdraw its offer before the slowest peer has fetched it.
	fetched := call
	fetched.Key += "/fetched"
	if _, err := c.Gather(ctx, fetched, nil); err != nil {
		closeFiles(files)
		var absent *AbsentError
		if errors.As(err, &absent) {
			absent.Call = call
		}
		return nil, err
	}
	return files, nil
}

// exchange returns the socket, which it opens at the first call.
func (c *Client) exchange() (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return nil, c.ended
	}
	if c.files != nil {
		return c.files, nil
	}
	if c.dir == "" {
		return nil, errors.New("bootstrap: no directory to pass descriptors in")
	}
	l, err := userdir.Listen(filepath.Join(c.dir, fmt.Sprintf("r%d.%d", c.rank, os.Getpid())))
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	c.files = &exchange{listener: l, offers: map[string]*os.File{}}
	go c.files.serve(c.size)
	return c.files, nil
}

func (x *exchange) offer(name string, f *os.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.offers[name] = f
}

func (x *exchange) withdraw(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.offers, name)
}

func (x *exchange) close() { x.listener.Close() } // this removes the socket

// fetchers bounds the peers that fetch at the same time, in addition to the ranks of the world.
const fetchers = 64

func (x *exchange) serve(size int) {
	loop := &accept.Loop{Listener: x.listener, Strangers: fetchers + size, Patience: fetchTimeout, Serve: func(conn net.Conn, _ func()) {
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(fetchTimeout))
		x.answer(conn.(*net.UnixConn)) // a failure shows at the asking end
	}}
	loop.Run()
}

// answer serves one request, which is the name of an offer and at most one packet long. It sends
// one byte with the descriptor, or without one if there is no such offer.
func (x *exchange) answer(conn *net.UnixConn) error {
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock() // so that the offer is not withdrawn, and its file closed, during the answer
	f := x.offers[string(buf[:n])]
	if f == nil {
		_, err = conn.Write([]byte{0})
		return err
	}
	return send(conn, []byte{1}, f)
}

// fetch asks the peer that listens at address for the offer called name.
func fetch(ctx context.Context, address, name string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	conn, err := userdir.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write([]byte(name)); err != nil {
		return nil, err
	}
	f, err := receive(conn)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return f, err
}

// receive reads one byte and the descriptor that comes with it.
func receive(conn *net.UnixConn) (*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	answer := []byte{1}
	n, oobn, flags, _, err := conn.ReadMsgUnix(answer, oob)
	if err != nil {
		return nil, err
	}
	if n == 1 && answer[0] == 0 {
		return nil, errWithdrawn
	}
	var fds []int
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil {
		for i := range messages {
			got, _ := unix.ParseUnixRights(&messages[i])
			fds = append(fds, got...)
		}
	}
	if n != 1 || len(fds) != 1 || flags&unix.MSG_CTRUNC != 0 {
		for _, fd := range fds {
			unix.Close(fd)
		}
		if n == 1 && len(fds) == 0 && flags&unix.MSG_CTRUNC != 0 {
			return nil, errTruncated
		}
		return nil, fmt.Errorf("%d bytes with %d descriptors came instead of 1 and 1", n, len(fds))
	}
	return os.NewFile(uintptr(fds[0]), "peer"), nil
}

func duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var got error
	if err := raw.Control(func(old uintptr) { fd, got = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	if got != nil {
		return nil, got
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
