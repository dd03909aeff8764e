package command

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/session"
)

func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	c := consoletest.New(All(func(cells []session.Cell, size int) ([]byte, error) {
		return fmt.Appendf(nil, "%d cells of %d ranks", len(cells), size), nil
	}))
	for _, entry := range []string{"x", ":export p.go", ":export p.go"} {
		c.Run(context.Background(), entry)
	}
	if text, err := os.ReadFile("p.go"); err != nil || string(text) != "1 cells of 4 ranks" {
		t.Errorf("%q, %v", text, err)
	}
	if want := "p.go: 1 cell\n:export: p.go exists; :export! p.go overwrites it\n"; c.Out.String() != want {
		t.Errorf("printed %q, want %q", c.Out, want)
	}
	c = consoletest.New(All(func([]session.Cell, int) ([]byte, error) {
		return nil, fmt.Errorf("cell 1 uses what a program has not")
	}))
	if c.Run(context.Background(), ":export q.go") != console.Failed || c.Out.String() != ":export: cell 1 uses what a program has not\n" {
		t.Errorf("%s", c.Out)
	}
}
