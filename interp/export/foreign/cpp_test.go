package foreign

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
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
		unsafe.Offsetof(h.Bytes), unsafe.Offsetof(h.PadBytes), unsafe.Offsetof(h.Buffers), unsafe.Offsetof(h.Pads),
		unsafe.Offsetof(h.Signals), unsafe.Offsetof(h.Net),
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

// quotedInclude matches an include of a file beside the one that includes it.
var quotedInclude = regexp.MustCompile(`(?m)^#include "(.*)"`)

// TestCppFolder lists the files of a program, and looks for the files that they include.
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
	want := []string{"Makefile", "cell2.cu", "cell2.cubin", "cell2_cpu.cpp", "main.cpp", "symm_host.h", "symm_host.hpp",
		"symm_operations.cu", "symm_operations.cubin", "symm_operations_cpu.cpp"}
	if !slices.Equal(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
	for _, name := range []string{"symm_include/symm/abi.cuh", "symm_include/stdint.h", "emulator/include/stdint.h",
		"emulator/cpu/emu/api.cpp", "emulator/cpu/emu/include/cuda_on_cpu.h",
		"emulator/cpu/emu/switch_amd64.S", "emulator/net/proxy/watcher.h"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for name, text := range files {
		if path.Dir(name) != "emulator/cpu/emu" && path.Dir(name) != "emulator/net/proxy" {
			continue
		}
		for _, include := range quotedInclude.FindAllStringSubmatch(string(text), -1) {
			if _, ok := files[path.Join(path.Dir(name), include[1])]; !ok {
				t.Errorf("%s includes %s, which is not in the folder", name, include[1])
			}
		}
	}
	if got := string(files["cell2.cubin"]); got != "cell2 for sm_90" {
		t.Errorf("cell2.cubin is %q", got)
	}
}

// TestWindows runs a program of two ranks whose symmetric memory is NCCL's, with a stand-in for the
// driver and NCCL.
func TestWindows(t *testing.T) {
	const program = `
#include "symm_host.hpp"
int main(int argc, char**) {
  const symm::Tensor x = symm::empty(symm::I32, {3}).fill(symm::rank() + 10);
  if (argc > 1) symm::window(symm::local(symm::I32, {3}));
  symm::meet();
  const symm_handle h = symm::rendezvous(x).fill(1);
  for (int p = 0; p < 2; p++) symm::println(*(int*)h.buffers[p], (h.pads[p] - h.buffers[p]) / 256, symm::window(x) != nullptr, symm::communicator() != nullptr);
  symm::meet();
}
`
	dir := t.TempDir()
	source, binary, fake := filepath.Join(dir, "program.cpp"), filepath.Join(dir, "program"), filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", fake, "testdata/fake_gpu.c"},
		{"g++", "-std=c++17", "-I", "runtime", "-o", binary, source, "-ldl"},
	} {
		if out, err := exec.Command(compiler(t, args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	job := filepath.Base(filepath.Dir(dir)) + filepath.Base(dir)
	run := func(rank, size int, env []string, args ...string) (*exec.Cmd, *strings.Builder) {
		var said strings.Builder
		c := exec.Command(binary, args...)
		c.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dir, "SYMM_MEMORY=nccl", "SYMM_NCCL="+fake, "FAKE_NCCL_ID="+job, "MASTER_PORT="+job,
			fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", size)), env...)
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &said
	}
	first, said := run(0, 2, nil)
	second, also := run(1, 2, nil)
	if err := first.Wait(); err != nil || said.String() != "[0] 10 1 true true\n[0] 11 1 true true\n" {
		t.Errorf("rank 0: %v, %s", err, said)
	}
	if err := second.Wait(); err != nil || also.String() != "[1] 10 1 true true\n[1] 11 1 true true\n" {
		t.Errorf("rank 1: %v, %s", err, also)
	}
	for _, wrong := range []struct {
		env  []string
		args []string
		want string
	}{
		{env: []string{"SYMM_MEMORY=windows"}, want: "SYMM_MEMORY is windows: it is nccl, or it is not set\n"},
		{env: []string{"SYMM_DEVICE=cpu"}, want: "SYMM_MEMORY=nccl needs a GPU: leave out SYMM_DEVICE=cpu\n"},
		{env: []string{"FAKE_NCCL_FAILS=1"}, want: "ncclCommInitRank: error 5 of NCCL: the stand-in says no\n"},
		{args: []string{"local"}, want: "a window is of a tensor of symm::empty\n"},
	} {
		c, said := run(0, 1, wrong.env, wrong.args...)
		if err := c.Wait(); c.ProcessState.ExitCode() != 1 || said.String() != wrong.want {
			t.Errorf("%q: %v, %q, want %q", wrong.env, err, said, wrong.want)
		}
	}
}
