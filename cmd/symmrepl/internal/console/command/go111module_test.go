package command

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// Notebooks of gophernotes may have lines that set GO111MODULE.
func TestGo111module(t *testing.T) {
	for arg, want := range map[string]console.Outcome{"on": console.Done, "off": console.Done, "auto": console.Failed} {
		c, fake, out := newConsole()
		if got := c.Run(context.Background(), "%go111module "+arg); got != want || strings.Count(out.String(), "\n") != 1 ||
			len(fake.Cells) > 0 {
			t.Errorf("%s: outcome %v, %d cells: %s", arg, got, len(fake.Cells), out)
		}
	}
}
