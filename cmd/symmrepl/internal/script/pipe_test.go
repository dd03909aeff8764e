package script

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// quiet is a session that only counts its cells.
type quiet struct {
	session.Session
	cells chan string
}

func (q quiet) Eval(_ context.Context, cell session.Cell) session.Reply {
	q.cells <- cell.Source
	return session.Reply{}
}

// request discards the output.
func request() console.Request {
	return console.Request{Printer: render.New(io.Discard, io.Discard, 1, false)}
}

// A program that is told to end does so even while it reads from a pipe that stays open and silent.
func TestPipeEndsByContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	q := quiet{cells: make(chan string, 1)}
	c := &console.Console{Session: q, Size: 1, Incomplete: func(string) bool { return false }}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan console.Outcome)
	go func() {
		outcome, err := Pipe(ctx, c, request(), r)
		if err != nil {
			t.Error(err)
		}
		ended <- outcome
	}()
	io.WriteString(w, "x := 1\n")
	if source := <-q.cells; source != "x := 1" {
		t.Errorf("cell %q", source)
	}
	cancel()
	select {
	case outcome := <-ended:
		if outcome != console.Done {
			t.Errorf("outcome %v", outcome)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still reading")
	}
}

// A line that is too long ends the input with an error. The cells before it run.
func TestPipeLineTooLong(t *testing.T) {
	q := quiet{cells: make(chan string, 1)}
	c := &console.Console{Session: q, Size: 1, Incomplete: func(string) bool { return false }}
	outcome, err := Pipe(context.Background(), c, request(), strings.NewReader("x\n"+strings.Repeat("y", maxLine+1)))
	if outcome != console.Failed || !errors.Is(err, bufio.ErrTooLong) || <-q.cells != "x" {
		t.Errorf("outcome %v, %v", outcome, err)
	}
}
