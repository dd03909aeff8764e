package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program of several files, with packages of its module, runs as go run has it: its folder is given, or its files.
func TestProgramOfSeveralFiles(t *testing.T) {
	h := newHome(t, 2)
	dir := filepath.Join("..", "..", "interp", "testdata", "module")
	text, err := os.ReadFile(filepath.Join(dir, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	place := filepath.Join(dir, "stock", "stock.go")
	if place, err = filepath.Abs(place); err != nil {
		t.Fatal(err)
	}
	r := h.run("", "run", "-n", "1", "--device", device(), dir, "x")
	if r.status != 1 || r.out != want || !strings.HasPrefix(r.err, place+":95:2: panic: nothing: sold out [recovered]\n    panic: no such thing: sold out\n") {
		t.Errorf("its folder: %+v, want %q", r, want)
	}
	r = h.run("", "run", "-n", "1", "--device", device(), filepath.Join(dir, "main.go"), filepath.Join(dir, "more.go"), "x")
	if r.status != 1 || r.out != want {
		t.Errorf("its files: %+v, want %q", r, want)
	}
	r = h.run("", "run", "-n", "2", "--device", device(), dir, "y")
	if all := "[0,1] " + strings.ReplaceAll(strings.TrimSuffix(strings.Replace(want, "[x]", "[y]", 1), "\n"), "\n", "\n[0,1] ") + "\n"; r.status != 1 || r.out != all {
		t.Errorf("on two ranks: %+v, want %q", r, all)
	}
}

// What is no program of several files is refused, or runs as it did: files among the arguments of one are its arguments.
func TestProgramFolders(t *testing.T) {
	h := newHome(t, 1)
	for _, sub := range []string{"none", "pkg", "nomain"} {
		if err := os.Mkdir(filepath.Join(h.dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.script("pkg/p.go", "package p\n")
	h.script("nomain/m.go", "package main\n\nvar x = 1\n")
	for sub, want := range map[string]string{
		"none":   "there are no files of Go in ",
		"pkg":    "is package p, and a program is package main",
		"nomain": "has no function main",
	} {
		if r := h.run("", "run", filepath.Join(h.dir, sub)); r.status != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %q", sub, r, want)
		}
	}
	args := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(len(os.Args), os.Args[len(os.Args)-1]) }\n"
	file, cells := h.script("main.go", args), h.script("cells.go", "import \"os\"\nlen(os.Args)\n// %%\nos.Args[1] == os.Args[0]\n")
	if r := h.run("", "run", "-n", "1", "--device", device(), file, "data.go", "-n", "1"); r != (result{0, "2 data.go\n", ""}) {
		t.Errorf("a file that is not there: %+v", r)
	}
	if r := h.run("", "run", "-n", "1", "--device", device(), cells, cells); r != (result{0, "2\ntrue\n", ""}) {
		t.Errorf("cells: %+v", r)
	}
	if r := h.run("", "run", "-n", "1", "--device", device(), file, cells); r != (result{0, "2 " + cells + "\n", ""}) {
		t.Errorf("a program and cells: %+v", r)
	}
	other := h.script("other.go", "package main\n\nfunc unused() int { return x }\n")
	if r := h.run("", "run", "-n", "1", "--device", device(), file, other); r.status != 1 || !strings.Contains(r.err, "other.go:3:28: undefined: x") {
		t.Errorf("two files: %+v", r)
	}
}
