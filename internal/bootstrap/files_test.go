package bootstrap

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGatherFiles(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 3)
	var before int
	for round := range 3 {
		for _, err := range w.each([]int{0, 1, 2}, func(c *Client) error {
			f, err := memfd(fmt.Sprint("memory of rank ", c.Rank()))
			if err != nil {
				return err
			}
			defer f.Close()
			files, err := c.GatherFiles(ctx, call(uint64(round+1), 0, 1, 2), f)
			if err != nil {
				return err
			}
			defer closeFiles(files)
			for r, f := range files {
				got := make([]byte, 64)
				n, _ := f.ReadAt(got, 0)
				if want := fmt.Sprint("memory of rank ", r); string(got[:n]) != want {
					return fmt.Errorf("rank %d reads %q, not %q", c.Rank(), got[:n], want)
				}
			}
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if open := descriptors(t, "memfd:"); round == 0 {
			before = open
		} else if open != before {
			t.Errorf("%d descriptors are open after round %d, %d after the first", open, round, before)
		}
	}
}

func TestGatherFilesWithoutPeer(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 2)
	w.hub.Leave(1, "died (killed)")
	f, err := memfd("x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var a *AbsentError
	if _, err := w.clients[0].GatherFiles(ctx, call(1, 0, 1), f); !errors.As(err, &a) || a.Rank != 1 {
		t.Errorf("%v", err)
	}
	// An address on another host.
	w.hub.Enter([]int{1})
	go w.clients[1].Gather(ctx, call(2, 0, 1), []byte("/nonexistent/r1.1"))
	var fe *FileError
	if _, err := w.clients[0].GatherFiles(ctx, call(2, 0, 1), f); !errors.As(err, &fe) || fe.Peer != 1 ||
		!strings.Contains(err.Error(), "one host") {
		t.Errorf("%v", err)
	}
}

// A message with no descriptor or several is refused, and none of its descriptors stays open.
func TestReceive(t *testing.T) {
	f, err := memfd("receive")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd := int(f.Fd())
	before := descriptors(t, "memfd:")
	for fds, ok := range map[int]bool{0: false, 1: true, 2: false, 3: false} {
		a, b := pair(t)
		var oob []byte
		if fds > 0 {
			oob = unix.UnixRights([]int{fd, fd, fd}[:fds]...)
		}
		if _, _, err := a.(*net.UnixConn).WriteMsgUnix([]byte{1}, oob, nil); err != nil {
			t.Fatal(err)
		}
		got, err := receive(b.(*net.UnixConn))
		if (err == nil) != ok {
			t.Errorf("%d descriptors: %v", fds, err)
		}
		if got != nil {
			got.Close()
		}
		a.Close()
		b.Close()
	}
	if open := descriptors(t, "memfd:"); open != before {
		t.Errorf("%d descriptors are open, %d before", open, before)
	}
}

func memfd(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("bootstrap-test", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memfd")
	_, err = f.WriteString(text)
	return f, err
}

// descriptors counts this process's open files of one kind.
func descriptors(t *testing.T, kind string) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if target, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(target, kind) {
			n++
		}
	}
	return n
}

// A peer that has given up a call before this rank asks for its descriptor is named as such.
func TestWithdrawn(t *testing.T) {
	ctx := bounded(t)
	w := newWorld(t, 2)
	x, err := w.clients[1].exchange()
	if err != nil {
		t.Fatal(err)
	}
	x.withdraw("x")
	if _, err := fetch(ctx, x.listener.Addr().String(), "x"); err != errWithdrawn {
		t.Error(err)
	}
	for _, cause := range []error{errWithdrawn, io.EOF, unix.ECONNRESET} {
		got := (&FileError{call(1, 0, 1), 1, cause}).Error()
		if !strings.Contains(got, "rank 1: it has given up this call") || strings.Contains(got, "descriptors came") {
			t.Error(got)
		}
	}
}
