package modules

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCurrent checks that the archive has the versions in go.mod and the packages that programs can
// import.
func TestCurrent(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to ask for packages")
	}
	name := filepath.Join(t.TempDir(), "modules.tar.gz")
	if text, err := exec.Command("go", "run", "./gen", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	fresh, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh, archive) {
		t.Error("modules.tar.gz is stale; renew it by: go generate ./interp/export/modules")
	}
}

// TestAll checks that every module has a licence, and that no file is empty.
func TestAll(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		licence := false
		for name, content := range m.Files {
			licence = licence || strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING")
			if len(content) == 0 {
				t.Errorf("%s: %s is empty", m.Path, name)
			}
		}
		if !licence || m.Version == "" {
			t.Errorf("%s@%s has no licence among its files", m.Path, m.Version)
		}
	}
}
