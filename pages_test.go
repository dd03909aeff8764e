package symmrepl

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages lists the pages of the repository. Other folders have parts of pages.
func pages(t *testing.T) []string {
	return slices.DeleteFunc(tree(t), func(name string) bool {
		top, _, below := strings.Cut(name, "/")
		return path.Ext(name) != ".md" || below && top != "docs" && top != "tutorials"
	})
}

// conflict matches a line by which git marks a conflict of a merge.
var conflict = regexp.MustCompile(`(?m)^(<{7}|={7}|>{7})( .*)?$`)

// TestPagesMerged holds that no page has the marks of a merge that was not resolved. In Go the compiler
// refuses them.
func TestPagesMerged(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if mark := conflict.Find(text); mark != nil {
			t.Errorf("%s has the line %q of a merge: choose between the two texts", page, mark)
		}
	}
}

// TestPageIndex holds that docs/README.md has every page of the folder docs.
func TestPageIndex(t *testing.T) {
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"docs/*.md", "docs/notes/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v, %v", pattern, pages, err)
		}
		for _, page := range pages {
			name := strings.TrimPrefix(page, "docs/")
			if name != "README.md" && !strings.Contains(string(index), "["+name+"]("+name+")") {
				t.Errorf("docs/README.md does not list %s: add a row with the question that it answers", page)
			}
		}
	}
}

var (
	// link matches a link of a page to a file of the repository: its path, and the section if there is one.
	link = regexp.MustCompile(`\]\(([\w./-]*)(?:#([^)\s]+))?\)`)
	// notInAnchor matches the characters that a heading has and its anchor does not.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks holds that the files and sections that pages link to exist.
func TestLinks(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(strings.Join(pageLines(text), "\n"), -1) {
			target := page
			if m[1] != "" {
				target = path.Join(path.Dir(page), m[1])
			}
			found++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if m[2] != "" && !hasSection(t, target, m[2]) {
				t.Errorf("%s links to the section %s of %s, which has no such heading", page, m[2], target)
			}
		}
	}
	if found < 300 {
		t.Errorf("pages have %d links; the expression that finds them misses most", found)
	}
}

// hasSection reports whether a page has a heading with an anchor.
func hasSection(t *testing.T, page, anchor string) bool {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range pageLines(text) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		heading = link.ReplaceAllString(heading, "]") // a link in a heading counts by its words
		heading = strings.ToLower(notInAnchor.ReplaceAllString(strings.TrimSpace(heading), ""))
		if strings.ReplaceAll(heading, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// requirement matches a line of go.mod that requires a module for the sources of this one.
var requirement = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// TestDependencies holds that docs/dependencies.md gives a reason for each module that the sources and
// the tools of go.mod need.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	needed := requirement.FindAllStringSubmatch(string(mod), -1)
	if len(needed) == 0 {
		t.Fatal("go.mod requires no module; the expression that finds them misses them")
	}
	for _, m := range needed {
		if !strings.Contains(string(page), m[1]) {
			t.Errorf("docs/dependencies.md does not have %s: add a row with the reason why it is needed", m[1])
		}
	}
}
