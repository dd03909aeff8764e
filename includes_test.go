package symmrepl

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quotedInclude = regexp.MustCompile(`(?m)^#include "(.*)"`)

// definitionsOf are headers with the definitions of another one, which includes them at its end.
var definitionsOf = map[string]string{
	"kernels/include/symm/patience.cuh": "kernels/include/symm/wait.cuh",
	"kernels/include/symm/far.cuh":      "kernels/include/symm/remote.cuh",
}

// TestIncludes holds that headers build on each other in one direction, and so do, in the network's
// engine, the files in C: a file and the header of its name are one room, and what a room includes
// does not lead back to it. The files of the emulator still call each other in circles.
func TestIncludes(t *testing.T) {
	uses := map[string][]string{} // rooms by room: a path without its extension
	room := func(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
	roots := []string{"kernels", "kernels/include", "symmem/internal/cpu/emu/include"}
	for _, file := range tree(t) {
		isHeader := strings.HasSuffix(file, ".h") || strings.HasSuffix(file, ".cuh")
		if !isHeader && !(strings.HasSuffix(file, ".c") && strings.HasPrefix(file, "symmem/internal/net/")) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quotedInclude.FindAllStringSubmatch(string(text), -1) {
			for _, folder := range append([]string{filepath.Dir(file)}, roots...) {
				included := filepath.Join(folder, m[1])
				if _, err := os.Stat(included); err != nil {
					continue
				}
				if room(included) != room(file) && definitionsOf[included] != file {
					uses[room(file)] = append(uses[room(file)], room(included))
				}
				break
			}
		}
	}
	if len(uses) < 100 {
		t.Fatalf("only %d rooms include others", len(uses))
	}
	over := map[string]bool{}
	var visit func(way []string)
	visit = func(way []string) {
		at := way[len(way)-1]
		if i := slices.Index(way, at); i < len(way)-1 {
			t.Errorf("a circle of includes: %s", strings.Join(way[i:], " → "))
			return
		}
		if over[at] {
			return
		}
		for _, next := range uses[at] {
			visit(append(slices.Clip(way), next))
		}
		over[at] = true
	}
	for start := range uses {
		visit([]string{start})
	}
}
