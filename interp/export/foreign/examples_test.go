package foreign

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var update = flag.Bool("update", false, "write testdata/*.py anew")

// cellsOf cuts a file of testdata into its cells.
func cellsOf(t *testing.T, name string) (cells []session.Cell) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(content), "// %%")[1:] {
		_, source, _ := strings.Cut(part, "\n")
		cells = append(cells, session.Cell{ID: i + 1, Source: source})
	}
	return cells
}

// TestExamples compares the modules of whole sessions.
func TestExamples(t *testing.T) {
	for _, name := range []string{"all_reduce", "ring", "reduce_scatter"} {
		files, err := Python(name+".py", cellsOf(t, filepath.Join("testdata", name+".cells")), 4)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".py")
		if *update {
			if err := os.WriteFile(golden, files[name+".py"], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got := files[name+".py"]; string(got) != string(want) {
			t.Errorf("%s is\n%s", golden, got)
		}
	}
}
