package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestQuit(t *testing.T) {
	c, _, _ := newConsole()
	for _, entry := range []string{":quit", "%quit", ":q"} {
		if got := c.Run(context.Background(), entry); got != console.Quit {
			t.Errorf("%s: outcome %v", entry, got)
		}
	}
}
