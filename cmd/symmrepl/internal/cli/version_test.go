package cli

import (
	"os"
	"strings"
	"testing"
)

// TestRelease checks that the Python package has the program's version, and that the newest section of
// CHANGELOG.md is that of this version.
func TestRelease(t *testing.T) {
	for file, want := range map[string]string{
		"python/pyproject.toml":       `version = "` + release + `"`,
		"python/symmrepl/__init__.py": `__version__ = "` + release + `"`,
	} {
		if !strings.Contains(root(t, file), "\n"+want+"\n") {
			t.Errorf("%s has no line %s", file, want)
		}
	}
	_, newest, _ := strings.Cut(root(t, "CHANGELOG.md"), "\n## ")
	if version, _, _ := strings.Cut(newest, ","); version != release {
		t.Errorf("the newest section of CHANGELOG.md is that of %q, and the program's version is %s", version, release)
	}
}

// root returns the text of a file of the repository.
func root(t *testing.T, file string) string {
	text, err := os.ReadFile("../../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
