package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestWhy(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if q.Topic != session.TopicWhy || q.Arg != "" && q.Arg != "3" {
			t.Errorf("asked %+v", q)
		}
		if q.Arg == "" {
			return []session.Answer{{Rank: 0}, {Rank: 1}}
		}
		return []session.Answer{{Rank: 0, Text: "cell[3]:1: put\n    way: a\ncell[3]:2: get\n"},
			{Rank: 1, Text: "cell[3]:1: put\n    way: b\ncell[3]:2: get\n"}}
	}
	c.Run(context.Background(), ":why 3")
	if got, want := out.String(), "[0] cell[3]:1: put\n[0]     way: a\n[1] cell[3]:1: put\n[1]     way: b\n[0,1] cell[3]:2: get\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	notebook := c.Request(":why 3")
	notebook.Notebook = true
	c.Console.Run(context.Background(), notebook)
	if got, want := out.String(), "[0] cell[3]:1: put\n[0]     way: a\n[0] cell[3]:2: get\n[1] cell[3]:1: put\n[1]     way: b\n[1] cell[3]:2: get\n"; got != want {
		t.Errorf("in a notebook it printed %q, want %q", got, want)
	}
	out.Reset()
	c.Run(context.Background(), ":why")
	if got, want := out.String(), "no calls are remembered\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
