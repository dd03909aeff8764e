package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What lies at the path of an output stays, unless it is the output that is to be replaced.
func TestOutputsSpare(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	cells := h.script("cells.go", "1\n")
	notes := h.script("notes.txt", "mine")
	link := filepath.Join(h.dir, "link")
	if err := os.Symlink(notes, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mcp", "-n", "1", "--device", device(), "--socket", notes}, "exists and is no socket"},
		{[]string{"dap", "-n", "1", "--device", device(), "--socket", link}, "exists and is no socket"},
		{[]string{"export", cells, "-o", cells}, "would overwrite the cells"},
		{[]string{"trace", cells, "--out", cells, "-n", "1", "--device", device()}, "would overwrite the script"},
	} {
		if r := h.run("", c.args...); r.status == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: %+v, want %s", c.args, r, c.want)
		}
	}
	for file, want := range map[string]string{cells: "1\n", notes: "mine", link: "mine"} {
		if text, err := os.ReadFile(file); string(text) != want {
			t.Errorf("%s has %q (%v)", filepath.Base(file), text, err)
		}
	}
}
