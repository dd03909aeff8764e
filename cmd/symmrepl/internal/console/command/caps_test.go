package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestCaps(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if ranks != nil || q != (session.Query{Topic: session.TopicCaps}) {
			t.Errorf("asked %v %+v", ranks, q)
		}
		return []session.Answer{{Rank: 0, Text: "a"}, {Rank: 1, Text: "b"}, {Rank: 2, Text: "a"},
			{Rank: 3, Err: &session.Error{Msg: "dead"}}}
	}
	if c.Run(context.Background(), ":caps") != console.Failed || out.String() != "[0,2] a\n[1] b\n[3] dead\n" {
		t.Errorf("%s", out)
	}
}
