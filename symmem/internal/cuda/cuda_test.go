package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// compiler returns a compiler for the H200's architecture, with its own cache.
func compiler(t *testing.T) *cubin.Compiler {
	t.Helper()
	return compilerFor(t, "sm_90")
}

func compilerFor(t *testing.T, arch string) *cubin.Compiler {
	t.Helper()
	t.Setenv("SYMMREPL_CACHE", t.TempDir())
	host := libs.ThisHost()
	if len(host.Find(libs.NVRTC())) == 0 {
		t.Skip("NVRTC was not found: " + libs.NVRTC().Hint)
	}
	return cubin.New(host, arch, 13, "")
}

func TestEveryBuiltinCompiles(t *testing.T) {
	for arch, ranks := range map[string]int{"sm_90": 4, "sm_100": 16} { // group size, for kernels that are compiled for one
		t.Run(arch, func(t *testing.T) { builtinsCompile(t, compilerFor(t, arch), arch, ranks) })
	}
}

func builtinsCompile(t *testing.T, c *cubin.Compiler, arch string, ranks int) {
	type unit struct {
		name  string
		ranks int
	}
	for _, file := range kernels.Files() {
		op := file.Operation()
		units := []unit{{op, 0}}
		switch {
		case op == "all_to_all_vdev":
			units = append(units, unit{op, ranks})
		case op == "matmul_f8e4m3":
			units = []unit{{op + "_f32", 0}, {op + "_bf16", 0}}
		case strings.Contains(file.Text, "SYMM_FOR_DTYPES("), strings.Contains(file.Text, "SYMM_FOR_REDUCED("):
			if units = []unit{{op + "_bf16", ranks}}; arch == "sm_90" {
				units = append(units, unit{op + "_f32", ranks}, unit{op + "_u8", ranks}, unit{op + "_i64", 0})
			}
			if strings.Contains(file.Text, "SYMM_FOR_REDUCED(") {
				units = append(units, unit{op + "_f8e4m3", ranks}, unit{op + "_f8e5m2", 0})
			}
		}
		for _, u := range units {
			name := u.name
			unit, ok := kernels.Source(name, u.ranks)
			if !ok {
				t.Errorf("%s has no source", name)
				continue
			}
			compiles(t, c, arch, builtin(unit), name)
		}
	}
}

func TestSnippetKernels(t *testing.T) {
	c := compiler(t)
	found, unit, unread := snippet(device.Source{Name: "cell[3]", Line: 5, Instances: []string{"any<float>"}, Text: `#include <cstdint>
#include <math.h>
extern "C" __global__ void scale(float* x, int n, float a) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
template <class T> __global__ void any(T* x) {}
template __global__ void any<int>(int*);
namespace mine { __global__ void mangled(symm::Handle h, const uint32_t* y) {} }
`})
	if unread != nil {
		t.Fatal(unread)
	}
	var names []string
	for _, k := range found {
		names = append(names, k.String())
	}
	want := "scale(float* x, int n, float a)|any<int>(int* x)|mine::mangled(symm::Handle h, const uint32_t* y)|any<float>(float* x)"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("kernels are %s, want %s", got, want)
	}
	code, err := c.Compile(unit)
	if err != nil {
		t.Fatal(err)
	}
	lowered := code.Lowered["mine::mangled"]
	if !strings.HasPrefix(lowered, "_ZN4mine7mangledE") {
		t.Errorf("lowered name is %q", lowered)
	}
	for _, name := range []string{"scale", lowered, code.Lowered["any<int>"], code.Lowered["any<float>"]} {
		if !strings.Contains(string(code.Cubin), "\x00.text."+name+"\x00") {
			t.Errorf("the cubin has no kernel %s", name)
		}
	}
}

// TestRemoteFunctions: all functions of symm/remote.cuh compile, for all teams.
func TestRemoteFunctions(t *testing.T) {
	c := compiler(t)
	text := "template <class Team> __device__ bool all(symm::Handle h, char* p) {\n" +
		"  return symm::put<Team>(h, 1, 8, p, 100) && symm::put<Team>(h, 1, 8, p, 100, symm::signal_set(1, 2), symm::Counter{3}) && symm::get<Team>(h, 1, 8, p, 100, symm::Counter{3}) && symm::flush<Team>(h);\n}\n"
	for _, team := range []string{"Thread", "Warp", "Block"} {
		text += "__global__ void by_" + team + "(symm::Handle h, char* p) { all<symm::" + team + ">(h, p); }\n"
	}
	_, unit, _ := snippet(device.Source{Name: "c", Line: 1, Text: text + `__global__ void others(symm::Handle h, char* p, unsigned long long* out) {
  symm::put_value(h, 1, 4, 1.5), symm::put_value(h, 1, 3, (unsigned char)1, symm::weak(symm::signal_add(1, 2)), symm::Counter{3});
  symm::signal(h, 1, symm::signal_add(1, 2)), symm::put_with_signal(h, 1, 0, p, 8, 1, 2), symm::wait_for_signal(h, 1, 2, true);
  symm::wait_counter(h, symm::Counter{3}, 1), out[0] = symm::read_counter(h, symm::Counter{3}), symm::reset_counter(h, symm::Counter{3});
  symm::put_signal(h, 1, 0), symm::wait_signal(h, 1, 0), symm::barrier(h, 0);
}`})
	if _, err := c.Compile(unit); err != nil {
		t.Error(err)
	}
}

// TestHeaders: a snippet may include every public header of package kernels by its name, and C's,
// but no header of the operations.
func TestHeaders(t *testing.T) {
	c := compiler(t)
	text := ""
	for _, h := range kernels.Headers() {
		text += "#include \"" + h.Name + "\"\n"
	}
	for _, h := range kernels.CHeaders() {
		text += "#include <" + h.Name + ">\n"
	}
	_, unit, _ := snippet(device.Source{Name: "c", Line: 1,
		Text: text + "__global__ void f(symm::Handle h, symm::Multicast m, uint64_t n, float* x) { *x = sqrtf(*x); assert(n > 0); }"})
	if _, err := c.Compile(unit); err != nil {
		t.Error(err)
	}
	_, unit, _ = snippet(device.Source{Name: "c", Line: 1, Text: "#include \"reduce/reduce.cuh\"\n__global__ void f() {}"})
	if _, err := c.Compile(unit); err == nil {
		t.Error("a snippet includes a header of the operations")
	}
}

func TestUnavailable(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"=/nonexistent/libcuda.so")
		return
	}
	_, err := Open(0, "", false)
	var un *device.UnavailableError
	if !errors.As(err, &un) || un.Kind != "cuda" || un.Hint != "install the NVIDIA driver, of CUDA 12 or newer" ||
		!strings.Contains(un.Why, "/nonexistent/libcuda.so") || un.Absent {
		t.Errorf("Open gives %v", err)
	}
	if _, err := Count(); !errors.As(err, &un) {
		t.Errorf("Count gives %v", err)
	}
}
