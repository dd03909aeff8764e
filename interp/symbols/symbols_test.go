package symbols

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/symbols/missing"
)

var tables = flag.Bool("tables", false, "write the tables of this module's packages again and compare them, which takes half a minute of processor time")

// TestFresh checks that the tables of this module's packages are those that go generate writes now. Without
// -tables TestOwnPackages has to do.
func TestFresh(t *testing.T) {
	if !*tables {
		t.Skip("give -tables; make test-long does")
	}
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

// TestOwnPackages checks that the tables have everything that this module's packages export to cells.
func TestOwnPackages(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	all := missing.Join(Sets()...)
	var paths []string
	for key := range all {
		if strings.HasPrefix(key, "github.com/symmrepl/symmrepl/") {
			paths = append(paths, path.Dir(key))
		}
	}
	if len(paths) < 5 {
		t.Errorf("only %q have tables", paths)
	}
	lacks, err := missing.Of(all, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for importPath, names := range lacks {
		t.Errorf("the table of %s lacks %q, or has other values of them; run go generate in interp/symbols", importPath, names)
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
