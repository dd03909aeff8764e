package symmrepl

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// notRoot matches the beginning of a statement that runs if the process does not run as root.
var notRoot = regexp.MustCompile(`if os\.Gete?uid\(\) != 0 {`)

// TestNeedsRoot checks that a test that needs root calls needs.Root: by its reason .ci/test-root finds
// the tests to run after make test has run as another user.
func TestNeedsRoot(t *testing.T) {
	for _, file := range tree(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if notRoot.Match(text) {
			t.Errorf("%s compares the user with root: call needs.Root", file)
		}
	}
}
