//go:build linux && (amd64 || arm64)

package cpu

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Programs that were not linked with the emulator open it as a library: an exported session, and
// Python. Such a library gets its threads' static storage from a reserve of a few hundred bytes.
func TestOpensAsLibrary(t *testing.T) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++")
	}
	var made Libraries
	defer made.Close()
	library, err := made.Emulator(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const most = 256
	for _, p := range file.Progs {
		if p.Type == elf.PT_TLS && p.Memsz > most {
			t.Errorf("a thread has %d bytes of static storage, want at most %d", p.Memsz, most)
		}
	}
	source, program := filepath.Join(dir, "opens.c"), filepath.Join(dir, "opens")
	const opens = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char** v) { if (dlopen(v[1], RTLD_NOW)) return 0; puts(dlerror()); return 1; }\n"
	if err := os.WriteFile(source, []byte(opens), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-x", "c", "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program, library).CombinedOutput(); err != nil {
		t.Errorf("a program of C: %v\n%s", err, out)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 for the second part")
	}
	if out, err := exec.Command(python, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library).CombinedOutput(); err != nil {
		t.Errorf("python3: %v\n%s", err, out)
	}
}
