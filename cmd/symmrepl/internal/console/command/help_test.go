package command

import (
	"context"
	"strings"
	"testing"
)

func TestHelpShowsEveryCommand(t *testing.T) {
	c, _, out := newConsole()
	c.Run(context.Background(), ":help")
	for _, cmd := range All(Programs{}) {
		if !strings.Contains(out.String(), cmd.Usage()) || !strings.Contains(out.String(), cmd.Summary()) {
			t.Errorf(":help does not show :%s", cmd.Name)
		}
	}
	out.Reset()
	c.Run(context.Background(), ":help :on")
	if !strings.HasPrefix(out.String(), ":on [RANKS [CODE]]  choose the ranks") {
		t.Errorf(":help :on printed %q", out)
	}
}
