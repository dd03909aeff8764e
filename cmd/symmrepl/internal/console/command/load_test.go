package command

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestLoadStops(t *testing.T) {
	t.Chdir(t.TempDir())
	c, fake, out := newConsole()
	os.WriteFile("f.go", []byte("one\n// %%\nbad\n// %%\nthree\n"), 0o644)
	fake.OnEval = func(cell session.Cell) session.Reply {
		if cell.Source == "bad" {
			return session.Reply{Errors: []*session.Error{{File: cell.Name, Line: cell.Line, Msg: "undefined: bad"}}}
		}
		return session.Reply{}
	}
	if got := c.Run(context.Background(), ":load f.go"); got != console.Failed || len(fake.Cells) != 2 ||
		!strings.Contains(out.String(), "f.go:3: undefined: bad") {
		t.Errorf("outcome %v after %d cells: %s", got, len(fake.Cells), out)
	}
	os.WriteFile("f.go", []byte("// %%rank [9]\none\n"), 0o644)
	out.Reset()
	if got := c.Run(context.Background(), ":load f.go"); got != console.Failed ||
		!strings.Contains(out.String(), `f.go:1: ranks "[9]": rank 9 does not exist`) {
		t.Errorf("outcome %v: %s", got, out)
	}
}
