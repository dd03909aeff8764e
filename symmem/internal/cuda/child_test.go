package cuda

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A process cannot change its driver, so a test that needs another driver, or that destroys its
// context, runs in a new process: this binary again, with childVariable set.
const childVariable = "SYMMTEST_CUDA_CHILD"

// inChild reports whether this process was started to run one test.
func inChild(t *testing.T) bool { return os.Getenv(childVariable) == t.Name() }

// command returns a command that runs one test of this binary.
func command(name string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v", "-test.timeout=2m")
	c.Env = append(append(os.Environ(), childVariable+"="+name), env...)
	return c
}

// again runs the calling test in a new process and fails if it fails there. The process may end while
// NVRTC starts, and leave a file.
func again(t *testing.T, env ...string) {
	t.Helper()
	out, err := command(t.Name(), append(env, "TMPDIR="+t.TempDir())...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
}

//go:embed testdata/fakecuda.c
var fakeSource []byte

// fakeDriver builds the driver of testdata and returns its path.
func fakeDriver(t *testing.T, flags ...string) string {
	t.Helper()
	return fakeLibrary(t, fakeSource, "fakecuda.lib", append([]string{"-lpthread"}, flags...)...)
}

// fakes has the libraries that fakeLibrary has built, by name and flags. Each is in a folder of its own.
var fakes = struct {
	sync.Mutex
	built map[string]string
}{built: map[string]string{}}

// removeFakes removes the libraries that fakeLibrary has built.
func removeFakes() {
	for _, library := range fakes.built {
		os.RemoveAll(filepath.Dir(library))
	}
}

// fakeLibrary builds a library of testdata, if it is not built yet, and returns its path.
func fakeLibrary(t *testing.T, text []byte, name string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build the stand-ins with")
	}
	fakes.Lock()
	defer fakes.Unlock()
	key := strings.Join(append([]string{name}, flags...), " ")
	if library := fakes.built[key]; library != "" {
		return library
	}
	dir, err := os.MkdirTemp("", "symmrepl-test-")
	if err != nil {
		t.Fatal(err)
	}
	source, library := filepath.Join(dir, "source.c"), filepath.Join(dir, name)
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-O1", "-o", library, source}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		t.Fatalf("%s does not build: %v\n%s", name, err, out)
	}
	fakes.built[key] = library
	return library
}
