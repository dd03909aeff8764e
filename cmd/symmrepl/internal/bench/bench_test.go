package bench

import (
	"bytes"
	"context"
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
func (f *fake) Close() error                              { f.closed = true; return nil }

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
