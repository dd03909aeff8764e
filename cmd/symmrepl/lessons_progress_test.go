package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// A lesson that is solved in a notebook counts as solved in the list of lessons: in a notebook, which
// shows it with links, and at the prompt.
func TestSolvedNotebookCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("short: executes notebooks")
	}
	t.Parallel()
	lesson, err := tutorial.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	all, err := tutorial.All()
	if err != nil {
		t.Fatal(err)
	}
	exercises := 0
	for _, l := range all {
		exercises += len(l.Exercises())
	}
	contents, err := os.ReadFile("../../notebooks/" + tutorial.Contents)
	if err != nil {
		t.Fatal(err)
	}
	h := jupyter(t)
	text, err := solved(lesson).Notebook(recorded(t, lesson, 2))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(h.dir, lesson.Name+".ipynb")
	if err := os.WriteFile(file, withCellsOf(t, text, contents), 0o644); err != nil {
		t.Fatal(err)
	}
	executed := notebookOf(t, h.executeNotebooks(2, "first", []string{file})[[2]string{file, "first"}])
	var shown string
	for _, c := range executed.Cells {
		for _, o := range c.Outputs {
			if table, ok := o.Data["text/markdown"]; ok {
				shown = fmt.Sprint(table)
			}
		}
	}
	n := len(lesson.Exercises())
	for _, want := range []string{
		fmt.Sprintf("| [01 Hello, ranks](01-hello-ranks.ipynb) | one program, many processes, one prompt. | %d of %d ✓ |\n", n, n),
		fmt.Sprintf("\n\n%d of %d exercises are solved. Go on with lesson [02](02-symmetric-memory.ipynb).", n, exercises),
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the contents show\n%s\nwant %s", shown, want)
		}
	}
	if r := h.run("", "tutorial"); r.status != 0 || !strings.Contains(r.out, fmt.Sprintf("%d of %d  Hello, ranks", n, n)) {
		t.Errorf("the prompt says %+v", r)
	}
}

// withCellsOf returns a notebook with the cells of another after its own.
func withCellsOf(t *testing.T, first, second []byte) []byte {
	t.Helper()
	var a, b map[string]any
	for text, nb := range map[string]*map[string]any{string(first): &a, string(second): &b} {
		if err := json.Unmarshal([]byte(text), nb); err != nil {
			t.Fatal(err)
		}
	}
	a["cells"] = append(a["cells"].([]any), b["cells"].([]any)...)
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
