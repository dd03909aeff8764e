package controller

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of doc.go says for each file which process runs it.
func TestFiles(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "// # Files\n")
	if !found {
		t.Fatal("doc.go has no table of files")
	}
	listed := regexp.MustCompile(`[a-z]+\.go`).FindAllString(table, -1)
	slices.Sort(listed)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return name == "doc.go" || strings.HasSuffix(name, "_test.go") })
	if !slices.Equal(listed, files) {
		for _, name := range files {
			if n := strings.Count(" "+strings.Join(listed, " ")+" ", " "+name+" "); n != 1 {
				t.Errorf("doc.go names %s %d times", name, n)
			}
		}
		for _, name := range listed {
			if !slices.Contains(files, name) {
				t.Errorf("doc.go names %s, which is not there", name)
			}
		}
	}
}
