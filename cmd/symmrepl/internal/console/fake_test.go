package console

import (
	"bytes"
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// fakeSession records what it is asked and answers by its functions.
type fakeSession struct {
	cells     []session.Cell
	eval      func(session.Cell) session.Reply
	inspect   func(ranks []int, q session.Query) []session.Answer
	infos     []session.RankInfo
	restarted [][]int
	replayed  []bool
}

func (f *fakeSession) Eval(_ context.Context, cell session.Cell) session.Reply {
	cell.ID = len(f.cells) + 1
	f.cells = append(f.cells, cell)
	if f.eval == nil {
		return session.Reply{Cell: cell.ID}
	}
	return f.eval(cell)
}

func (f *fakeSession) Inspect(_ context.Context, ranks []int, q session.Query) ([]session.Answer, error) {
	return f.inspect(ranks, q), nil
}

func (f *fakeSession) Ranks(context.Context) ([]session.RankInfo, error) { return f.infos, nil }

func (f *fakeSession) Restart(_ context.Context, ranks []int, replay bool, _ func(session.Output)) error {
	f.restarted = append(f.restarted, ranks)
	f.replayed = append(f.replayed, replay)
	return nil
}

func (f *fakeSession) History(context.Context) ([]session.Cell, error) { return f.cells, nil }
func (f *fakeSession) Close() error                                    { return nil }

// newConsole returns a console of four ranks on a fake session, and what it prints.
func newConsole() (*Console, *fakeSession, *bytes.Buffer) {
	fake, out := &fakeSession{}, &bytes.Buffer{}
	c := &Console{
		Session:    fake,
		Size:       4,
		Printer:    render.New(out, out, 4, false),
		Incomplete: func(source string) bool { return strings.Count(source, "{") > strings.Count(source, "}") },
	}
	return c, fake, out
}
