package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// python returns a home whose programs of Python find the package symmrepl and this program.
func python(t *testing.T, ranks int) home {
	t.Helper()
	if os.Getenv(pythonVariable) == "" {
		t.Skipf("%s does not name a Python with numpy and Jupyter's libraries; make test installs one", pythonVariable)
	}
	folder, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, ranks)
	h.env = []string{"SYMMREPL=" + program, "PYTHONPATH=" + folder, "SYMMREPL_SHM=" + filepath.Join(h.dir, "run"), "PYTHONDONTWRITEBYTECODE=1", "HOME=" + h.dir,
		"IPYTHONDIR=" + filepath.Join(h.dir, "ipython"), "JUPYTER_RUNTIME_DIR=" + filepath.Join(h.dir, "runtime"), "SYMMREPL_TEST_DEVICE=" + device()}
	return h
}

// runPackage runs the tests of a file of the Python package's, with further variables.
func runPackage(t *testing.T, ranks int, file string, env ...string) {
	t.Parallel()
	h := python(t, ranks)
	h.env = append(h.env, env...)
	_, errs, err := h.runPython(5*time.Minute, "../../python/tests", "-m", "unittest", "-v", file)
	if err != nil {
		t.Errorf("%v\n%s", err, errs)
	}
	for line := range strings.Lines(errs) {
		if strings.Contains(line, "skipped") || measured.MatchString(line) {
			t.Log(strings.TrimSpace(line))
		}
	}
	h.expectNothingLeft()
}

func TestPythonSession(t *testing.T)    { runPackage(t, 2, "test_session") }
func TestPythonOperations(t *testing.T) { runPackage(t, 2, "test_operations") }
func TestPythonWrongCalls(t *testing.T) { runPackage(t, 2, "test_wrong_calls") }
func TestPythonEmulator(t *testing.T)   { runPackage(t, 0, "test_emulator") }
func TestPythonTorchrun(t *testing.T)   { runPackage(t, 0, "test_torchrun") }
func TestPythonAttach(t *testing.T)     { runPackage(t, 0, "test_attach") }
func TestPythonMagics(t *testing.T)     { runPackage(t, 4, "test_magics") }

// TestPythonViews runs on the fake driver, because the tests read the memory of GPUs on the host.
func TestPythonViews(t *testing.T) {
	runPackage(t, 0, "test_views", fakeGPUs(t, 2).env...)
}

func TestPythonDocs(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the examples name the cpu device")
	}
	runPackage(t, 4, "test_docs")
}
