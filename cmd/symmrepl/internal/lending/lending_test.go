package lending

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
)

func listen(t *testing.T, answer func(Request, func(Reply))) string {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir, stop, err := Listen(answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return dir
}

// Lines that are no requests are answered, and the next ones are served. Replies may come in any order.
func TestRequests(t *testing.T) {
	var held atomic.Pointer[func(Reply)]
	dir := listen(t, func(q Request, reply func(Reply)) {
		switch q.What {
		case "late":
			held.Store(&reply)
		case "never":
		case AskTensor:
			reply(Reply{Tensor: &Tensor{Shape: []int{q.Rank}, DType: q.Name}})
			if late := held.Swap(nil); late != nil {
				(*late)(Reply{Err: "late"})
			}
		default:
			reply(Reply{Err: q.What})
		}
	})
	conn, err := net.Dial("unix", filepath.Join(dir, socketName))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := jsonlines.NewReader(conn, maxLine)
	for _, line := range []string{"x", "[1]", `{"id": "x"}`, "{\"id\": 7, \"what\": 3}", strings.Repeat("x", maxLine+1), "\x00\xff"} {
		fmt.Fprintf(conn, "\n%s\n", line)
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		if got, err := answers.Next(); err != nil || !strings.Contains(string(got), "a line that is no request") {
			t.Errorf("%.40q: %s, %v", line, got, err)
		}
	}
	c, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	late := make(chan error)
	go func() { _, err := c.Ask(t.Context(), Request{What: "late"}); late <- err }()
	for held.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	if r, err := c.Ask(t.Context(), Request{What: AskTensor, Rank: 3, Name: "bool"}); err != nil || r.Tensor.Shape[0] != 3 || r.Tensor.DType != "bool" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := <-late; err == nil || err.Error() != "late" {
		t.Error(err)
	}
	if _, err := c.Program(t.Context()); err == nil || err.Error() != AskProgram {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Ask(ctx, Request{What: "never"}); err != context.Canceled {
		t.Error(err)
	}
}

// A folder without a program, or with a file in place of its socket, is an error.
func TestNoProgram(t *testing.T) {
	dir := t.TempDir()
	if _, err := Describe(t.Context(), dir); err == nil || err.Error() != "the program has ended" {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(dir, socketName), nil, 0o600)
	if _, err := Describe(t.Context(), dir); err == nil {
		t.Error("a file is a program")
	}
	for _, pid := range []string{"", "x", "-1", "1", "99999999999999999999"} {
		if found := Find(t.Context(), pid); found != "" {
			t.Errorf("%q: %s", pid, found)
		}
	}
}

// A tensor's memory is opened only if it is the one that was meant.
func TestOpen(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, wrong := range []Tensor{{PID: os.Getpid(), FD: int(f.Fd()), Inode: 1}, {PID: os.Getpid(), FD: 99999}, {PID: -1}} {
		if got, err := wrong.Open(); err == nil {
			got.Close()
			t.Errorf("%+v is opened", wrong)
		}
	}
}
