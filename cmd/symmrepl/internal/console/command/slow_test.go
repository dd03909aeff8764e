package command

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// The setting goes to all ranks, also to those that cells do not run on.
func TestSlow(t *testing.T) {
	c, fake, out := newConsole()
	c.SetTarget([]int{1})
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if ranks != nil || q.Topic != session.TopicSlow {
			t.Errorf("asked %v %+v", ranks, q)
		}
		if q.Arg == "9 1s" {
			return []session.Answer{{Rank: 0, Err: &session.Error{Msg: "ranks are numbers from 0 to 3"}}}
		}
		return []session.Answer{{Rank: 0, Text: strings.TrimSpace("was told " + q.Arg)}, {Rank: 1, Text: strings.TrimSpace("was told " + q.Arg)}}
	}
	for _, entry := range []string{":slow 2 50us", ":sl"} {
		if got := c.Run(context.Background(), entry); got != console.Done {
			t.Errorf("%s ended with %v", entry, got)
		}
	}
	if got := c.Run(context.Background(), ":slow 9 1s"); got != console.Failed {
		t.Errorf("a setting that is refused ended with %v", got)
	}
	want := "[0,1] was told 2 50us\n[0,1] was told\n[0] ranks are numbers from 0 to 3\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

// Ranks that were replaced do not know the setting, which the others have.
func TestSlowAfterRestart(t *testing.T) {
	c, fake, out := newConsole()
	answers := []string{"the calls of rank 0 begin 1ms late", "no rank is slowed"}
	fake.OnInspect = func([]int, session.Query) []session.Answer {
		return []session.Answer{{Rank: 0, Text: answers[0]}, {Rank: 1, Text: answers[1]}}
	}
	c.Run(context.Background(), ":slow")
	answers[0] = answers[1]
	c.Run(context.Background(), ":slow")
	if want := "[0,1] the calls of rank 0 begin 1ms late\n[0,1] no rank is slowed\n"; out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

func TestCompleteSlow(t *testing.T) {
	c, _, _ := newConsole()
	for arg, want := range map[string]string{"o": "off", "2 1ms p": "puts", "2 1ms puts s": "signals seed", "2 1ms once o": "", "2 1": ""} {
		candidates, _ := completeSlow(context.Background(), c.Console, arg)
		got := ""
		for i, candidate := range candidates {
			if i > 0 {
				got += " "
			}
			got += candidate.Name
		}
		if got != want {
			t.Errorf("%q is completed by %q, want %q", arg, got, want)
		}
	}
}
