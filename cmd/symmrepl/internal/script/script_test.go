package script

import (
	"bufio"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

func TestCells(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []Cell
	}{
		"no separator":           {"x := 1\ny := 2", []Cell{{1, "", "x := 1\ny := 2"}}},
		"titles and lines":       {"a\n// %% second\nb\nc\n// %%\nd\n", []Cell{{1, "", "a\n"}, {3, "", "b\nc\n"}, {6, "", "d\n"}}},
		"ranks":                  {"// %%rank [0,2]\nx\n", []Cell{{2, "[0,2]", "x\n"}}},
		"header without code":    {"//go:build ignore\n\n// About.\n\n// %%\nx\n", []Cell{{6, "", "x\n"}}},
		"empty cells":            {"// %%\n\n// %%\n// only words\n", nil},
		"separators begin lines": {"x // %% no\n // %% no\n", []Cell{{1, "", "x // %% no\n // %% no\n"}}},
		"nothing":                {"", nil},
	} {
		if got := Cells(test.text); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func FuzzCells(f *testing.F) {
	f.Add("a\n// %% b\nc")
	f.Add("// %%rank [0]\n\n// %%\r\nx")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, cell := range Cells(text) {
			if cell.Line <= last || !hasCode(cell.Source) {
				t.Errorf("cell %q at line %d after %d", cell.Source, cell.Line, last)
			}
			last = cell.Line
		}
	})
}

// quiet is a session whose cells do nothing but be counted.
type quiet struct {
	session.Session
	cells chan string
}

func (q quiet) Eval(_ context.Context, cell session.Cell) session.Reply {
	q.cells <- cell.Source
	return session.Reply{}
}

// A pipe that stays open and silent does not hold the program when it is told to end.
func TestPipeEndsByContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	q := quiet{cells: make(chan string, 1)}
	c := &console.Console{Session: q, Printer: render.New(io.Discard, io.Discard, 1, false), Incomplete: func(string) bool { return false }}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan console.Outcome)
	go func() {
		outcome, err := Pipe(ctx, c, r)
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

// A line that is too long ends the input with an error, after the cells before it.
func TestPipeLineTooLong(t *testing.T) {
	q := quiet{cells: make(chan string, 1)}
	c := &console.Console{Session: q, Printer: render.New(io.Discard, io.Discard, 1, false), Incomplete: func(string) bool { return false }}
	outcome, err := Pipe(context.Background(), c, strings.NewReader("x\n"+strings.Repeat("y", maxLine+1)))
	if outcome != console.Failed || !errors.Is(err, bufio.ErrTooLong) || <-q.cells != "x" {
		t.Errorf("outcome %v, %v", outcome, err)
	}
}
