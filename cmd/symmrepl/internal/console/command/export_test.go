package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console/consoletest"
	"github.com/symmrepl/symmrepl/session"
)

func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	c := consoletest.New(All(Programs{File: func(cells []session.Cell, size int) ([]byte, error) {
		return fmt.Appendf(nil, "%d cells of %d ranks", len(cells), size), nil
	}}))
	for _, entry := range []string{"x", ":export p.go", ":export p.go"} {
		c.Run(context.Background(), entry)
	}
	if text, err := os.ReadFile("p.go"); err != nil || string(text) != "1 cells of 4 ranks" {
		t.Errorf("%q, %v", text, err)
	}
	if want := "p.go: 1 cell\n:export: p.go exists; :export! p.go overwrites it\n"; c.Out.String() != want {
		t.Errorf("printed %q, want %q", c.Out, want)
	}
	c = consoletest.New(All(Programs{File: func([]session.Cell, int) ([]byte, error) {
		return nil, fmt.Errorf("cell 1 uses what a program has not")
	}}))
	if c.Run(context.Background(), ":export q.go") != console.Failed || c.Out.String() != ":export: cell 1 uses what a program has not\n" {
		t.Errorf("%s", c.Out)
	}
}

func TestExportFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	c := consoletest.New(All(Programs{Folder: func(cells []session.Cell, size int) (map[string][]byte, error) {
		return map[string][]byte{"main.go": fmt.Append(nil, len(cells)), "vendor/a/a.go": nil}, nil
	}}))
	os.Mkdir("empty", 0o755)
	for _, entry := range []string{"x", ":export p", ":export empty/", "y", ":export p", ":export! p", ":export nosuch/p"} {
		c.Run(context.Background(), entry)
	}
	want := "p: 1 cell\nempty/: 1 cell\n:export: p exists; :export! p overwrites it\np: 2 cells\nnosuch/p: 2 cells\n"
	if got := c.Out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	for name, want := range map[string]string{"p/main.go": "2", "p/vendor/a/a.go": "", "empty/main.go": "1"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if left, _ := filepath.Glob("*.part"); left != nil {
		t.Errorf("%s are left", left)
	}
}

// TestExportPython writes a module and, beside it, the files that it needs. Such a file is
// overwritten only with :export! or if it has the same content.
func TestExportPython(t *testing.T) {
	t.Chdir(t.TempDir())
	needs := "1"
	c := consoletest.New(All(Programs{Python: func(name string, cells []session.Cell, size int) (map[string][]byte, error) {
		return map[string][]byte{name: fmt.Append(nil, len(cells)), "needs.py": []byte(needs)}, nil
	}}))
	for _, entry := range []string{"x", ":export p.py", ":export q.py"} {
		c.Run(context.Background(), entry)
	}
	needs = "2"
	for _, entry := range []string{":export r.py", ":export! r.py"} {
		c.Run(context.Background(), entry)
	}
	want := "p.py: 1 cell\nq.py: 1 cell\n:export: needs.py beside r.py is another; :export! r.py overwrites it\nr.py: 1 cell\n"
	if got := c.Out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	for name, want := range map[string]string{"p.py": "1", "r.py": "1", "needs.py": "2"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
