package foreign

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// compiler returns a C++ compiler, or the C compiler of the same name.
func compiler(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("there is no " + name)
	}
	return path
}

// TestCppCompiles has a compiler check the programs of the examples, each in a namespace of its own.
func TestCppCompiles(t *testing.T) {
	cxx := compiler(t, "g++")
	all := "#include \"symm_host.hpp\"\n"
	for _, name := range []string{"all_reduce", "ring", "reduce_scatter", "constructs", "nccl"} {
		all += fmt.Sprintf("namespace %s {\n#include \"%[1]s.cpp\"\n}\n", name)
	}
	cmd := exec.Command(cxx, "-std=c++17", "-Wall", "-Wextra", "-Wno-unused", "-Werror", "-fsyntax-only", "-I", "runtime", "-I", "testdata", "-xc++", "-")
	cmd.Stdin = strings.NewReader(all)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHeader compares the layouts of symm_host.h, in C and in C++, with those of package abi.
func TestHeader(t *testing.T) {
	var h abi.Handle
	c := unsafe.Offsetof(h.Context)
	want := fmt.Sprintln(abi.Version, unsafe.Sizeof(h.Context), unsafe.Sizeof(h), abi.MaxRanks, abi.Counters,
		c+unsafe.Offsetof(h.Watch), c+unsafe.Offsetof(h.TimeoutNs), c+unsafe.Offsetof(h.Rank), c+unsafe.Offsetof(h.WorldSize), c+unsafe.Offsetof(h.Ordinal),
		c+unsafe.Offsetof(h.Channels), c+unsafe.Offsetof(h.Swaps), c+unsafe.Offsetof(h.Unannounced),
		unsafe.Offsetof(h.Bytes), unsafe.Offsetof(h.PadBytes), unsafe.Offsetof(h.Buffers), unsafe.Offsetof(h.Pads), unsafe.Offsetof(h.Signals), unsafe.Offsetof(h.Net),
		unsafe.Offsetof(h.Start), unsafe.Offsetof(h.Window), 8*(64*(2*3+1)+2)/2+512)
	const program = `
#include "symm_host.h"
#include <stdio.h>
#define AT(f) (size_t)offsetof(symm_handle, f)
int main(void) {
  const unsigned abi[4] = SYMM_ABI;
  printf("%u %u %u %u %d", abi[0], abi[1], abi[2], abi[3], SYMM_COUNTERS);
  const size_t at[] = {AT(context.watch), AT(context.timeout_ns), AT(context.rank), AT(context.world_size), AT(context.ordinal), AT(context.channels), AT(context.swaps),
    AT(context.unannounced), AT(bytes), AT(pad_bytes), AT(buffers), AT(pads), AT(signals), AT(net), AT(start), AT(window), SYMM_SIGNAL_BYTES(64, 3)};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) printf(" %zu", at[i]);
  printf("\n");
  return 0;
}
`
	for _, args := range [][]string{{"gcc", "-std=c11", "-xc"}, {"g++", "-std=c++11", "-xc++"}} {
		dir := t.TempDir()
		source, binary := filepath.Join(dir, "program"), filepath.Join(dir, "binary")
		if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(compiler(t, args[0]), append(args[1:], "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", "runtime", "-o", binary, source)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		got, err := exec.Command(binary).Output()
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, %s, want %s", args[0], err, got, want)
		}
	}
}

// TestCppFolder lists the files of a program.
func TestCppFolder(t *testing.T) {
	files, err := Cpp(cellsOf(t, "testdata/ring.cells"), 4, nothing)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	want := []string{"Makefile", "cell2.cu", "cell2.cubin", "cell2_cpu.cpp", "main.cpp", "symm_host.h", "symm_host.hpp", "symm_operations.cu", "symm_operations.cubin", "symm_operations_cpu.cpp"}
	if !slices.Equal(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
	for _, name := range []string{"symm_include/symm/abi.cuh", "symm_include/stdint.h", "emulator/include/stdint.h", "emulator/cpu/emu/api.cpp", "emulator/cpu/emu/include/cuda_on_cpu.h",
		"emulator/cpu/emu/switch_amd64.S", "emulator/net/proxy/watcher.h"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	if got := string(files["cell2.cubin"]); got != "cell2 for sm_90" {
		t.Errorf("cell2.cubin is %q", got)
	}
}
