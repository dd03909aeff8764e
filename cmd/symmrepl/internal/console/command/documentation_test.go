package command

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestDoc checks that the console documents commands and the ranks document everything else.
func TestDoc(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(_ []int, q session.Query) []session.Answer {
		return []session.Answer{{Rank: 0, Text: string(q.Topic) + " of " + q.Arg}}
	}
	c.Run(context.Background(), ":doc strings.Cut")
	if want := "[0] doc of strings.Cut\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	out.Reset()
	c.Run(context.Background(), ":doc :on")
	if !strings.HasPrefix(out.String(), ":on [RANKS [CODE]]  choose the ranks") {
		t.Errorf("printed %q", out)
	}
}
