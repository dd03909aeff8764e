//go:build linux && (amd64 || arm64)

package cpu

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Programs that were not linked with the emulator open it as a library: an exported session, and
// Python. Such a library gets its threads' static storage from a reserve of a few hundred bytes.
func TestOpensAsLibrary(t *testing.T) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++")
	}
	sources, _ := filepath.Glob("emu/*.cpp")
	assembly, _ := filepath.Glob("emu/*.S")
	dir := t.TempDir()
	library, unit := filepath.Join(dir, "emulator.so"), filepath.Join(dir, "emulator.cpp")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder // one unit: most of the time goes into the library's headers
	for _, source := range sources {
		fmt.Fprintf(&text, "#include %q\n", filepath.Join(here, source))
	}
	if err := os.WriteFile(unit, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-std=c++20", "-O0", "-w", "-fno-exceptions", "-fno-rtti", "-o", library, unit}, assembly...)
	if out, err := exec.Command(compiler, append(args, "-ldl", "-lm", "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
