package bench

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// fake answers every cell at once. A cell that prints delivers bytes of output for two ranks.
type fake struct {
	bytes  int
	closed bool
}

func (f *fake) Eval(_ context.Context, cell session.Cell) session.Reply {
	if strings.Contains(cell.Source, "Println") {
		chunk := strings.Repeat("x", 1<<20)
		for left := f.bytes; left > 0; left -= len(chunk) {
			cell.Output(session.Output{Ranks: []int{0, 1}, Stream: session.Stdout, Text: chunk[:min(left, len(chunk))]})
		}
	}
	return session.Reply{}
}

func (f *fake) Ranks(context.Context) ([]session.RankInfo, error) {
	return []session.RankInfo{{Rank: 0, Device: "fake", RSS: 10 << 20}, {Rank: 1, RSS: 20 << 20}}, nil
}

func (f *fake) Inspect(context.Context, []int, session.Query) ([]session.Answer, error) {
	return nil, nil
}
func (f *fake) Restart(context.Context, []int, bool, func(session.Output)) error { return nil }
func (f *fake) History(context.Context) ([]session.Cell, error)                  { return nil, nil }
func (f *fake) Sanitizer(context.Context) (session.Sanitizer, error) {
	return session.Sanitizer{}, nil
}
func (f *fake) Interrupt(context.Context) (string, error) { return "", nil }
func (f *fake) Debug(context.Context, func(session.DebugEvent)) (session.Debugger, error) {
	return nil, errors.New("no debugger")
}
func (f *fake) Close() error { f.closed = true; return nil }

func measure(f *fake) (string, error) {
	var out bytes.Buffer
	err := Session(context.Background(), func(context.Context) (session.Session, error) { return f, nil }, &out)
	return out.String(), err
}

func TestSession(t *testing.T) {
	f := &fake{bytes: printBytes}
	table, err := measure(f)
	if err != nil {
		t.Fatal(err)
	}
	table = strings.Join(strings.Fields(table), " ")
	for _, want := range []string{
		"2 ranks, fake", "start to the first reply", "cell x := 1", "100 MiB printed by each rank",
		"memory of rank 1 20 MiB before, 20 MiB after", "edited kernel to result", "the same from the cache",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if !f.closed {
		t.Error("the session is left open")
	}
}

func TestLostOutputIsNoticed(t *testing.T) {
	_, err := measure(&fake{bytes: printBytes - 1})
	if err == nil || err.Error() != "209715198 of 209715200 printed bytes arrived" {
		t.Errorf("error %v", err)
	}
}

// TestCell measures a session whose cells take no time and print nothing, on a machine without
// Python.
func TestCell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := &fake{}
	var out bytes.Buffer
	open := func(context.Context) (session.Session, bool, error) { return f, false, nil }
	if err := Cell(context.Background(), open, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 ranks, fake; medians\nthe Python libraries are not measured: there is no python3 on PATH\n",
		"symmrepl  ratio to the best library\n", "\nedited kernel to its result, ms  ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if !f.closed {
		t.Error("the session is left open")
	}
}

func TestFigures(t *testing.T) {
	figures, missing, err := parseFigures("load\tours\t2\n-\tnumpy\tnone\nload\ttheirs\t4\nsave\tloop\t3\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"numpy is not measured: none"}; !slices.Equal(missing, want) {
		t.Errorf("missing %q", missing)
	}
	var out strings.Builder
	if err := printFigures(figures, []string{"ours", "loop", "closure", "theirs"}, 3, "ratio to the best library", &out); err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"      ours  loop  theirs  ratio to the best library\n" +
		"load  2.00        4.00    0.50\n" +
		"save        3.00          \n"
	if out.String() != want {
		t.Errorf("\n%swant\n%s", out.String(), want)
	}
	for _, said := range []string{"load\tours\n", "load\tours\tfast\n"} {
		if _, _, err := parseFigures(said); err == nil {
			t.Errorf("%q is no error", said)
		}
	}
}
