package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// The error of an undefined name says so if the name was lost with a worker, and only then.
func TestNamesLost(t *testing.T) {
	c, fake, out := newConsole()
	for _, source := range []string{"x := 1", "os.Exit(3)", "y // later"} {
		c.Run(context.Background(), source)
	}
	fake.Cells[0].Name = "In[7]" // the cell's name in a notebook
	fake.Infos = []session.RankInfo{{Rank: 0}, {Rank: 1, Replaced: 2}, {Rank: 2, Replaced: 1},
		{Rank: 3, Replaced: 2, Restarted: true}}
	for _, test := range []struct {
		name  string
		ranks []int
		want  string
	}{
		{"x", []int{2}, "rank 2 was replaced in In[7], which lost x there"},
		{"x", []int{1}, "rank 1 was replaced in cell 2, which lost x there"},
		{"x", []int{1, 2}, "ranks 1,2 were replaced in cell 2, which lost x there"},
		{"x", []int{3}, "rank 3 was restarted after cell 2, which lost x there: `:restart replay` runs the cells again on all ranks"},
		{"x", []int{0, 1}, ""},
		{"y", []int{1}, ""},
		{"later", []int{1}, ""},
	} {
		out.Reset()
		fake.OnEval = func(session.Cell) session.Reply {
			return session.Reply{Errors: []*session.Error{{Kind: session.KindType, Ranks: test.ranks, Peer: -1, Msg: "undefined: " +
				test.name}}}
		}
		c.Run(context.Background(), test.name)
		if got := out.String(); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "replaced") {
			t.Errorf("%s on %v: %s", test.name, test.ranks, got)
		}
	}
	fake.Cells[1].Ended = true
	fake.OnEval = func(session.Cell) session.Reply {
		return session.Reply{Errors: []*session.Error{{Kind: session.KindType, Ranks: []int{1}, Peer: -1, Msg: "undefined: x"}}}
	}
	out.Reset()
	c.Run(context.Background(), "x")
	if got := out.String(); !strings.Contains(got, "rank 1 was restarted after cell 2, which lost x there: enter the cell again that defines it") {
		t.Errorf("after a restart: %s", got)
	}
}
