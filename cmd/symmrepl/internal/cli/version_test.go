package cli

import (
	"os"
	"strings"
	"testing"
)

// The Python package has the program's version.
func TestRelease(t *testing.T) {
	for file, want := range map[string]string{"pyproject.toml": `version = "` + release + `"`, "symmrepl/__init__.py": `__version__ = "` + release + `"`} {
		text, err := os.ReadFile("../../../../python/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n"+want+"\n") {
			t.Errorf("python/%s has no line %s", file, want)
		}
	}
}
