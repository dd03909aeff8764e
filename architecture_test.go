package symmrepl

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// quoted matches what docs/architecture.md names as code.
var quoted = regexp.MustCompile("`([a-z]+/[^` ]*)`")

// chosen matches the rest of a path from the first part that its writer chooses, such as NAME.
var chosen = regexp.MustCompile(`/[^/]*(NAME|NN).*`)

// TestArchitecture holds that the files and folders that docs/architecture.md names exist.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	names := quoted.FindAllStringSubmatch(string(text), -1)
	if len(names) < 40 {
		t.Errorf("docs/architecture.md names %d files; the expression that finds them misses most", len(names))
	}
	for _, name := range names {
		path := strings.TrimSuffix(chosen.ReplaceAllString(name[1], ""), "/")
		if _, err := os.Stat(path); err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there", path)
		}
	}
}

// TestRooms holds that docs/architecture.md gives a reason for each room, which is a part of the
// table of TestImports.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if p.folder != "." && !strings.Contains(string(text), "\n| `"+p.folder+"` | ") {
			t.Errorf("docs/architecture.md gives no reason for the room %s: add a row below \"Rooms\" that says why it is apart", p.folder)
		}
	}
}
