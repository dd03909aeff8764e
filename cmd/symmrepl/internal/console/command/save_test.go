package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// Loading a saved file restores the cells, their ranks, and the lines that errors cite.
func TestSaveAndLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	c, fake, out := newConsole()
	for _, entry := range []string{"x := 1", ":save f.go", "%%rank [0,2]\nx\ny", ":save f.go", ":save! f.go", ":save !f.go"} {
		c.Run(context.Background(), entry)
	}
	want := "f.go: 1 cell\n:save: f.go exists; :save! f.go overwrites it\nf.go: 2 cells\nf.go: 2 cells\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	fake.Cells = nil
	if got := c.Run(context.Background(), ":load f.go"); got != console.Done {
		t.Errorf("outcome %v: %s", got, out)
	}
	var cells []session.Cell
	for _, cell := range fake.Cells {
		cells = append(cells, session.Cell{Name: cell.Name, Line: cell.Line, Source: strings.TrimSpace(cell.Source), Ranks: cell.Ranks})
	}
	loaded := []session.Cell{{Name: "f.go", Line: 6, Source: "x := 1"}, {Name: "f.go", Line: 9, Source: "x\ny", Ranks: []int{0, 2}}}
	if !reflect.DeepEqual(cells, loaded) {
		t.Errorf("loaded %+v, want %+v", cells, loaded)
	}
	if files, _ := filepath.Glob("*"); !reflect.DeepEqual(files, []string{"f.go"}) {
		t.Errorf("files %v", files)
	}
}

// A range before the file's name chooses cells.
func TestSaveRange(t *testing.T) {
	t.Chdir(t.TempDir())
	c, _, out := newConsole()
	for i := range 5 {
		c.Run(context.Background(), fmt.Sprintf("x%d", i+1))
	}
	for _, entry := range []string{":save 2-4 part.go", ":save! 3 part.go", ":save 8-11 none.go", ":save 4-2 none.go", ":save 2-3",
		":save 2-a", ":save 1,4-9 list.go", ":save 1, gap.go"} {
		c.Run(context.Background(), entry)
	}
	want := "part.go: 3 cells\npart.go: 1 cell\n:save: there is no cell with such a number; :history shows the numbers\n" +
		":save: numbers of cells such as 8-11 or 1,3 are expected, not 4-2\n:save: the name of a file is expected after the cells 2-3\n2-a: 5 cells\n" +
		"list.go: 3 cells\n1, gap.go: 5 cells\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	if text, err := os.ReadFile("list.go"); err != nil || !strings.Contains(string(text), "x1\n\n// %%\nx4\n\n// %%\nx5\n") {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := os.ReadFile("part.go"); err != nil || !strings.Contains(string(text), "x3") || strings.Contains(string(text), "x2") {
		t.Errorf("%s, %v", text, err)
	}
}

// If a file cannot be written, its old content remains.
func TestSaveFails(t *testing.T) {
	t.Chdir(t.TempDir())
	c, _, out := newConsole()
	for _, entry := range []string{":save none/f.go", ":save !", ":load g.go"} {
		if got := c.Run(context.Background(), entry); got != console.Failed {
			t.Errorf("%s: outcome %v", entry, got)
		}
	}
	want := []string{":save: open none/f.go: no such file or directory", ":save: the name of a file is expected",
		":load: open g.go: no such file or directory"}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("printed %q, want %q", line, want[i])
		}
	}
	os.Mkdir("dir", 0o755)
	os.WriteFile("dir/f.go", nil, 0o644)
	if c.Run(context.Background(), ":save! dir"); !strings.Contains(out.String(), ":save: write dir: is a directory") {
		t.Error(out)
	}
	if files, _ := filepath.Glob("*"); !reflect.DeepEqual(files, []string{"dir"}) {
		t.Errorf("files %v", files)
	}
}
