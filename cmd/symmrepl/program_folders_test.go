package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program of several files that imports packages of its module is started by its folder or by its
// files, as with go run.
func TestProgramOfSeveralFiles(t *testing.T) {
	t.Parallel()
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
	if r.status != 1 || r.out != want || !strings.HasPrefix(r.err,
		place+":95:2: panic: nothing: sold out [recovered]\n    panic: no such thing: sold out\n") {
		t.Errorf("its folder: %+v, want %q", r, want)
	}
	r = h.run("", "run", "-n", "1", "--device", device(), filepath.Join(dir, "main.go"), filepath.Join(dir, "more.go"), "x")
	if r.status != 1 || r.out != want {
		t.Errorf("its files: %+v, want %q", r, want)
	}
	r = h.run("", "run", "-n", "2", "--device", device(), dir, "y")
	for rank := range 2 { // a busy machine may hold one rank back, so that lines are not folded
		if all := strings.Replace(want, "[x]", "[y]", 1); r.status != 1 || linesOf(t, rank, 2, r.out) != all {
			t.Errorf("rank %d of two: %+v, want %q", rank, r, all)
		}
	}
}
