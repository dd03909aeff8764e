package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestCompare(t *testing.T) {
	c, fake, _ := newConsole()
	var source string
	fake.OnEval = func(cell session.Cell) session.Reply {
		source = cell.Source
		return session.Reply{}
	}
	for entry, want := range map[string]string{
		":compare f(1)":                     "symm.Compare(func() { f(1)\n})",
		":co f(1)\ng()\n%%\nh()\n%%\ni()\n": "symm.Compare(func() { f(1)\ng()\n}, func() {\nh()\n}, func() {\ni()\n})",
	} {
		source = ""
		if c.Run(context.Background(), entry); source != want {
			t.Errorf("%q runs %q, want %q", entry, source, want)
		}
	}
	source = ""
	if outcome := c.Run(context.Background(), ":compare f()\n%%\n"); outcome != console.Failed || source != "" {
		t.Errorf("without a second code it ends with %v and runs %q", outcome, source)
	}
}
