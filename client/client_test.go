package client

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// limit is the longest time that the test waits for the session.
const limit = time.Minute

// shortDir makes a folder with a short path, in which sockets can be. It is removed at the end of the test.
func shortDir(t *testing.T) string {
	t.Helper()
	root := os.TempDir()
	if len(root) > 40 {
		root = "/tmp"
	}
	dir, err := os.MkdirTemp(root, "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// start builds symmrepl, starts a session of 2 ranks in a new directory and attaches to it. Closing
// the returned input ends the session.
func start(t *testing.T) (*Session, io.Closer) {
	t.Helper()
	dir := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if _, err := attachNewest(dir); err == nil || !strings.HasPrefix(err.Error(), "no symmrepl session of yours runs") {
		t.Fatalf("there is no session, but attachNewest says %v", err)
	}
	program := filepath.Join(dir, "symmrepl")
	build := exec.Command("go", "build", "-o", program, "./cmd/symmrepl")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "-n", "2", "--device", "cpu")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		defer time.AfterFunc(limit, func() { cmd.Process.Kill() }).Stop()
		cmd.Wait()
	})
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		s, err := attachNewest(dir)
		if err == nil {
			return s, in
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestString(t *testing.T) {
	for size, want := range map[int]string{1: "session of 1 rank", 4: "session of 4 ranks"} {
		if got := (&Session{size: size}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSession(t *testing.T) {
	s, session := start(t)
	defer s.Close()
	if s.Size() != 2 {
		t.Fatalf("%d ranks", s.Size())
	}
	r, err := s.Eval("x := symm.Rank() + 5\nfmt.Println(\"same\")\nx")
	if err != nil || r.String() != "[0,1] same\n[0] 5\n[1] 6\n" || r.Cell != 1 {
		t.Errorf("%q, %v", r, err)
	}
	if want := (Value{Ranks: []int{1}, Text: "6"}); !reflect.DeepEqual(r.Values[1], want) {
		t.Errorf("%+v, want %+v", r.Values[1], want)
	}
	if r, err = s.EvalOn([]int{1}, "x"); err != nil || r.String() != "[1] 6\n" {
		t.Errorf("%q, %v", r, err)
	}
	r, err = s.Eval("display.HTML(`<b>`)")
	if want := map[string]interface{}{"text/plain": "[0,1] <b>", "text/html": "<b>"}; err != nil || !reflect.DeepEqual(r.SimpleRender(), want) {
		t.Errorf("%v, %v", r.SimpleRender(), err)
	}
	if _, err = s.Eval("Display(display.HTML(`<i>`))"); err != nil {
		t.Error(err)
	}

	r, err = s.Eval("if symm.Rank() == 1 { panic(\"no\") }")
	var failed *CellError
	if !errors.As(err, &failed) || r == nil || failed.Errors[0].Kind != "panic" || !strings.HasPrefix(err.Error(), "[1] cell[5]:1:") {
		t.Errorf("%v", err)
	}
	if _, err = s.EvalOn([]int{7}, "1"); err == nil {
		t.Error("there is no rank 7")
	}
	if _, err = s.Eval(strings.Repeat(" ", maxFrame)); err == nil || err.Error() != errTooLarge.Error() {
		t.Error(err)
	}
	if r, err = s.Eval("x"); err != nil || r.String() != "[0] 5\n[1] 6\n" {
		t.Errorf("%v, %v", r, err)
	}

	interrupted := make(chan error, 1)
	go func() {
		_, err := s.Eval("select {}")
		interrupted <- err
	}()
	for ended, deadline := false, time.Now().Add(limit); !ended; {
		s.Interrupt() // has no effect before the cell is sent
		select {
		case err = <-interrupted:
			ended = true
		case <-time.After(20 * time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatal("the cell goes on")
			}
		}
	}
	if !errors.As(err, &failed) || failed.Errors[0].Kind != "interrupted" {
		t.Errorf("%v", err)
	}

	session.Close()
	for deadline := time.Now().Add(limit); err == nil || err.Error() != "the session has ended, or the connection with it"; {
		if time.Now().After(deadline) {
			t.Fatal("the session goes on")
		}
		_, err = s.Eval("1")
	}
}

// A result that is not there can be printed, and a session that is not attached says so.
func TestNil(t *testing.T) {
	var r *Result
	if got := r.String(); got != "" {
		t.Errorf("%q", got)
	}
	if got := r.SimpleRender(); !reflect.DeepEqual(got, map[string]interface{}{"text/plain": ""}) {
		t.Errorf("%v", got)
	}
	if got := (*CellError)(nil).Error(); got != "" {
		t.Errorf("%q", got)
	}
	for _, s := range []*Session{nil, {}} {
		if _, err := s.Eval("1"); err != errDetached {
			t.Errorf("%v", err)
		}
		s.Interrupt()
		if err := s.Close(); err != errDetached || s.Size() != 0 || s.String() != "session of 0 ranks" {
			t.Errorf("%v, %d, %v", err, s.Size(), s)
		}
	}
}

// A socket at which nobody answers is an error, after a while.
func TestSilentSocket(t *testing.T) {
	dir := shortDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, "attach"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Attach(dir); err == nil || !strings.Contains(err.Error(), "has not answered") {
		t.Error(err)
	}
}

func TestPrefix(t *testing.T) {
	for want, c := range map[string]struct {
		ranks []int
		size  int
	}{"": {[]int{0}, 1}, "[0-3] ": {[]int{0, 1, 2, 3}, 4}, "[0,1,3] ": {[]int{0, 1, 3}, 4}} {
		if got := prefix(c.ranks, c.size); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
