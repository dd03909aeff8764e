package symbols

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/interp/symbols/missing"
)

// TestFresh checks that the tables match the present packages.
func TestFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no table was made", err)
	}
	for _, f := range files {
		got, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Base(f))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not the table of the present API; run go generate in interp/symbols", filepath.Base(f))
		}
	}
}

// TestStandardLibrary checks that the tables have everything that the standard library of the Go
// installation exports.
func TestStandardLibrary(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	lacks, err := missing.Names(missing.Join(Sets()...))
	if err != nil {
		t.Fatal(err)
	}
	for importPath, names := range lacks {
		t.Errorf("the table of %s lacks %q; run go generate in interp/symbols", importPath, names)
	}
}
