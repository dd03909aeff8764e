package modules

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The archive is that of the versions that go.mod asks for, and of what programs can import.
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

// Every module says under which terms it may be passed on, and no file is without content.
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
