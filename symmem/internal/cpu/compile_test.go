//go:build linux && (amd64 || arm64)

package cpu

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func TestCompileErrors(t *testing.T) {
	b := open(t)
	const gpu = "on the cpu device"
	for _, c := range []struct {
		name, text   string
		line, column int
		message      string // of g++|of clang++
	}{
		{"undeclared", "__global__ void f(int* p) {\n  *p = y;\n}", 2, 8, "'y' was not declared|undeclared identifier 'y'"},
		{"syntax", "__global__ void f(int* p) {\n  *p = 1\n}", 2, 9, "expected ';'"},
		{"in a template", "template <class T> __device__ T g(T v) { return v.x; }\n__global__ void f(int* p) {\n  *p = g(1);\n}",
			1, 0, "request for member|member reference"},
		{"in a header", "struct Big { long a, b; };\n__global__ void f(Big* p) {\n  *p = __shfl_sync(~0u, *p, 0);\n}", 3, 0, "up to 8 bytes"},
		{"no such header", "#include <vector>\n__global__ void f() {}", 1, 10, "No such file|'vector' file not found"},
		{"undefined function", "__device__ int g(int);\n__global__ void f(int* p) {\n  *p = g(1);\n}", 3, 0, "undefined reference to `g(int)'"},
		{"unfinished", "__global__ void f(int* p) {", 1, 0, ""},
		{"inline PTX", "__device__ void g() {\n  int x; /* asm( */ asm volatile(\"mov.u32 %0, %envreg1;\" : \"=r\"(x));\n}", 2,
			21, "%envreg1 is neither an operand"},
		{"inline PTX of multimem", "__device__ void g(float* p, float v) {\n  asm volatile (\"multimem.st.global.b32 [%0], %1;\" :: \"l\"(p), \"f\"(v));\n}", 2, 3, "use symm::multimem_sum(p) and symm::multimem_store"},
		{"inline PTX in a macro", "#define A(op) asm(op \" 0;\")\n__global__ void g() {\n  A(\"mbarrier.wait\");\n}", 3, 3, "use __syncthreads()"},
		{"inline PTX in a macro's macro",
			"#define A(op) asm(op \" 0;\")\n#define B \\\n  A(\"exit\")\n__global__ void g(int x) {\n  if (x) B; else x = 0;\n}",
			5, 10, "return from the kernel in C++"},
		{"inline PTX with characters that symbols have",
			"__global__ void g(int* x) {\n  asm(\"@!%envreg9 mov.u32 %0, 1;\" : \"=r\"(x[0]));\n}", 2, 3, "%envreg9"},
		{"inline PTX with quotes", "__global__ void g(int* x) {\n  asm(\"mov.u32 %0, 1;\" : \"=@\"(x[0]));\n}", 2, 3, "\"=@\" is not a constraint"},
		{"inline PTX in a helper", "__device__ __forceinline__ void h() { asm(\"exit;\"); }\n__global__ void g() {\n  h();\n}", 1,
			39, "return from the kernel in C++"},
		{"an operand of inline PTX", "__global__ void g(double* x) {\n  asm(\"mov.u32 %0, 1;\" : \"=r\"(x[0]));\n}", 2, 0,
			"an operand's size is not that of its constraint"},
		{"inline PTX with an #if inside",
			"__global__ void g(int* x) {\n  asm(\"mov.u32 %0, 1;\" :\n#ifdef A\n \"=r\"(x[0])\n#endif\n);\n}", 3, 1, "put whole statements behind #if"},
		{"nested launch", "__global__ void f() {}\n__global__ void g() { f<<<1, 1>>>(); }", 2, 24, "cannot be launched from device code"},
		{"texture", "__global__ void f(cudaTextureObject_t t) {}", 1, 19, gpu},
		{"tensor cores", "#include <mma.h>\n__global__ void f() {}", 1, 1, "hardware"},
		{"CUB", "#include <cstdint>\n#include <cub/block/block_reduce.cuh>\n__global__ void f() {}", 2, 1, "cooperative_groups/reduce.h"},
		{"cluster", "__global__ void __cluster_dims__(2, 1, 1) f() {}", 1, 17, gpu},
	} {
		_, err := b.Compile(device.Source{Name: "cell[9]", Line: 20, Text: c.text})
		var e *device.CompileError
		if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d := e.Diagnostics[0]
		wantSource := strings.Split(c.text, "\n")[c.line-1]
		told := slices.ContainsFunc(strings.Split(c.message, "|"), func(m string) bool { return strings.Contains(d.Text, m) })
		if d.File != "cell[9]" || d.Line != c.line+19 || c.column > 0 && d.Column != c.column || !told || d.Source != wantSource {
			t.Errorf("%s: %+v; want line %d, column %d, %q", c.name, d, c.line+19, c.column, c.message)
		}
	}
}

// Code that only a GPU could run is accepted where the cpu device does not compile it.
func TestNotRefused(t *testing.T) {
	for _, text := range []string{
		"// asm(\"x\")\n__global__ void f() {}",
		"__global__ void f() { printf(\"asm( <<< %s\\n\", \"texture<\"); }",
		"#ifndef SYMM_CPU\n#include <mma.h>\nasm(\"\");\n#endif\n__global__ void f() {}",
		"#ifdef SYMM_CPU\nint a;\n#else\nasm(\"\");\n#endif",
		"#if !defined(SYMM_CPU)\nasm(\"\");\n#else\nint a;\n#endif",
		"int texture; bool b = 1 << 3 < texture;",
		"const char* s = R\"x(asm(\"\"))x\";",
		"int plasma(int); int v = plasma (1);",
	} {
		if err := refuse(device.Source{Name: "c", Line: 1, Text: text}); err != nil {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
}

// TestConstructs: every construct says what it is, each once.
func TestConstructs(t *testing.T) {
	list, err := Constructs()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range list {
		key := c.Kind + " " + c.Name
		if c.Says == "" || seen[key] {
			t.Errorf("%+v", c)
		}
		seen[key] = true
	}
	for _, want := range []string{"header cuda/atomic", "header cuda/std/limits", "inline PTX ld", "inline PTX multimem", "construct CUB and Thrust"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

// Dynamic shared memory may be declared in several ways, in templates and namespaces, too.
func TestDynamicShared(t *testing.T) {
	b := open(t)
	const rest = " s[threadIdx.x] = threadIdx.x; __syncthreads(); x[threadIdx.x] = s[31 - threadIdx.x]; }"
	const cast = " int* s = reinterpret_cast<int*>(raw);"
	for _, c := range []struct{ name, text string }{
		{"k", "__global__ void k(int* x) { extern __shared__ int s[];" + rest},
		{"k", "__global__ void k(int* x) { extern int __shared__ s[];" + rest},
		{"k", "__global__ void k(int* x) { extern __shared__ __align__(16) int s[];" + rest},
		{"k", "__global__ void k(int* x) {\n  extern __shared__ unsigned char\n    raw[\n];" + cast + rest},
		{"k", "extern __shared__ int s[];\n__global__ void k(int* x) {" + rest},
		{"n::m::k", "namespace n::m { extern __shared__ volatile int s[]; __global__ void k(int* x) {" + rest + "}"},
		{"n::k", "namespace n { __global__ void k(int* x) { extern __shared__ int s[];" + rest + "}"},
		{"k", "namespace n { extern \"C\" { extern __shared__ int s[]; } }\nusing n::s;\n__global__ void k(int* x) {" + rest},
		{"k<int>", "template <class T> __global__ void k(T* x) { extern __shared__ T s[];" + rest},
		{"n::k<int, 2>", "namespace n {\ntemplate <class T, int N> __global__ void k(T* x) { extern __shared__ char raw[];" + cast + rest + "}"},
		{"k<int>", "template <class T> __device__ T* shared() { extern __shared__ T all[]; return all; }\n" +
			"template <class T> __global__ void k(T* x) { T* s = shared<T>();" + rest},
	} {
		var instances []string
		if strings.Contains(c.name, "<") {
			instances = []string{c.name}
		}
		k := b.compile(c.text, instances...)[c.name]
		p := upload(b, make([]int32, 32))
		b.launchShared(k, [3]int{1, 1, 1}, [3]int{32, 1, 1}, 128, p)
		if got := download[int32](b, p, 32); got[0] != 31 || got[31] != 0 {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

// A helper that no kernel uses may have inline PTX that the cpu device does not run.
func TestUnusedPTX(t *testing.T) {
	b := open(t)
	if _, err := b.Compile(device.Source{Name: "c", Line: 1, Text: `
__device__ __forceinline__ void tma(void* p) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "l"(p)); }
template <class T> __device__ void cluster(T p) { asm volatile("barrier.cluster.arrive;"); if constexpr (sizeof(T) == 3) tma(&p); }
__global__ void f(int* x) { asm volatile("st.u32 [%0], 1;" :: "l"(x)); }`}); err != nil {
		t.Error(err)
	}
}

// A snippet may include every public header of package kernels by name, and C's, but no header of
// the operations.
func TestHeaders(t *testing.T) {
	b := open(t)
	text := ""
	for _, h := range kernels.Headers() {
		text += "#include \"" + h.Name + "\"\n"
	}
	for _, h := range kernels.CHeaders() {
		text += "#include <" + h.Name + ">\n"
	}
	if _, err := b.Compile(device.Source{Name: "c", Line: 1,
		Text: text + "__global__ void f(symm::Handle h, symm::Multicast m, uint64_t n, float* x) { *x = sqrtf(*x); assert(n > 0); }"}); err != nil {
		t.Error(err)
	}
	if _, err := b.Compile(device.Source{Name: "c", Line: 1, Text: "#include \"reduce/reduce.cuh\"\n__global__ void f() {}"}); err == nil {
		t.Error("a snippet includes a header of the operations")
	}
}

// countedCompiler gives the test its own cache and a compiler that counts what it compiles, from
// its standard input.
func countedCompiler(t *testing.T) (folder string, runs func() int) {
	t.Helper()
	real, err := FindCXX()
	if err != nil {
		t.Skip(err)
	}
	folder = t.TempDir()
	t.Setenv("SYMMREPL_CACHE", folder)
	script, log := filepath.Join(folder, filepath.Base(real.Path)), filepath.Join(folder, "runs")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncase \" $* \" in *' - '*) echo >>"+log+";; esac\nexec "+real.Path+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYMMREPL_CXX", script)
	return folder, func() int {
		lines, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return len(lines)
	}
}

// The same text in another cell is found in the cache, and becomes a separate module.
func TestCache(t *testing.T) {
	folder, runs := countedCompiler(t)
	const text = "__device__ int total;\n__global__ void f(int* p) { *p = ++total; }"
	b := open(t)
	compile := func(name string, line int) device.Kernel {
		m, err := b.Compile(device.Source{Name: name, Line: line, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return m.Kernels()[0]
	}
	first, second := compile("cell[1]", 1), compile("cell[2]", 10)
	if n := runs(); n != 1 {
		t.Errorf("one text was compiled %d times", n)
	}
	if found, err := filepath.Glob(filepath.Join(folder, "cpu", "*.so")); err != nil || len(found) != 1 {
		t.Errorf("the libraries of one text are %v (%v)", found, err)
	}
	p := b.alloc(4)
	b.launch(first, 1, 1, p)
	b.launch(first, 1, 1, p)
	if got := download[int32](b, p, 1)[0]; got != 2 {
		t.Errorf("first module: %d, want 2", got)
	}
	b.launch(second, 1, 1, p)
	if got := download[int32](b, p, 1)[0]; got != 1 {
		t.Errorf("modules share variables: %d, want 1", got)
	}
}

// Kernels and functions of a text do not collide with C functions of the same names.
func TestNamesOfC(t *testing.T) {
	b := open(t)
	kernels := b.compile(`
		extern "C" __device__ __noinline__ int abort(int* p) { return *p + 3; }
		extern "C" __global__ __noinline__ void puts(int* p) { *p = 1; }
		extern "C" __global__ __noinline__ void gamma(int* p) { *p = abort(p); }
		extern "C" __global__ __noinline__ void index(int* p) { *p *= 5; }`)
	p := b.alloc(4)
	for _, name := range []string{"puts", "gamma", "index"} {
		b.launch(kernels[name], 1, 1, p)
	}
	if got := download[int32](b, p, 1)[0]; got != 20 {
		t.Errorf("%d, want 20", got)
	}
}

// If several ranks compile the same text at once, it is compiled once.
func TestConcurrentCompile(t *testing.T) {
	folder, runs := countedCompiler(t)
	var wg sync.WaitGroup
	for range 4 {
		b := open(t) // each has a compiler of its own, as processes have
		wg.Go(func() {
			if _, err := b.Compile(device.Source{Name: "c", Line: 1, Text: "__global__ void f() {}"}); err != nil {
				t.Error(err)
			}
			b.Device.(*cpu).compiler.close()
		})
	}
	wg.Wait()
	if n := runs(); n != 1 {
		t.Errorf("the compiler ran %d times", n)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "cpu", "new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("SYMMREPL_CXX", "no-such-compiler")
	b := open(t)
	_, err := b.Compile(device.Source{Name: "c", Line: 1, Text: "__global__ void f() {}"})
	var e *device.UnavailableError
	if !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if _, err := b.Builtin("fill", 0); err != nil {
		t.Errorf("operations need a compiler: %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("snippet.cu:3:4: error: no\n   required from here\n", "a\nb\nc")
	f.Add("emu.h:3:4: error: no\nsnippet.cu:2:9:   required from here\n", "a\nb")
	f.Add("/tmp/x.o: in function `f':\nsnippet.cu:1: undefined reference to `g'\n", "x")
	f.Add("snippet.cu:99999999999999999999:1: fatal error: x", "")
	f.Fuzz(func(t *testing.T, log, text string) {
		e := readLog(device.Source{Name: "c", Line: 1, Text: text}, log)
		if e.Log != log {
			t.Error("the log was changed")
		}
		_ = e.Error()
	})
}

// TestHealedCache checks that a damaged library or header in the cache is made again, and that no
// library is loaded from a damaged file.
func TestHealedCache(t *testing.T) {
	folder, runs := countedCompiler(t)
	source := device.Source{Name: "c", Line: 1, Text: "__global__ void f(int* p) { *p = 7; }"}
	b := open(t)
	check := func(what string) {
		t.Helper()
		m, err := b.Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		p := b.alloc(4)
		b.launch(m.Kernels()[0], 1, 1, p)
		if got := download[int32](b, p, 1)[0]; got != 7 {
			t.Errorf("%s: the kernel gives %d", what, got)
		}
	}
	check("a new library")
	for i, size := range []int64{0, 100, 5000} {
		for _, pattern := range []string{"cpu/*.so", "cpu/headers-*/cuda_on_cpu.h"} {
			found, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s are %v (%v)", pattern, found, err)
			}
			if info, err := os.Stat(found[0]); err != nil || info.Size() <= size {
				continue // it would not be cut
			}
			if err := os.Truncate(found[0], size); err != nil {
				t.Fatal(err)
			}
		}
		check("a library cut to " + strconv.FormatInt(size, 10))
		if n := runs(); n != i+2 {
			t.Errorf("the compiler ran %d times, want %d", n, i+2)
		}
	}
}

// Code that would run when a snippet is loaded or unloaded is refused with its line, as NVRTC does,
// and does not run.
func TestConstructors(t *testing.T) {
	b := open(t)
	const kernel = "__global__ void f(int* p) {}\n"
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"crashes", kernel + "__device__ int crash(volatile int* p) { return *p; }\n\n__device__ int x = crash(nullptr);", 4},
		{"traps", kernel + "__device__ int trap() { __builtin_trap(); }\n__device__ int x = trap();", 3},
		{"never ends", kernel + "__device__ volatile int go = 1;\n__device__ int loop() { while (go) {} return 1; }\n__device__ int x = loop();", 4},
		{"constructor", "struct S {\n  int v;\n  __device__ S() { v = clock(); }\n};\n" + kernel + "__device__ S s;", 6},
		{"destructor", "struct S {\n  __device__ ~S() { printf(\"x\"); }\n};\n" + kernel + "__device__ S s;", 5},
		{"attribute", kernel + "__attribute__((constructor)) static void run() { for (;;) clock(); }", 2},
		{"attribute at the end", kernel + "__attribute__((destructor)) static void run() { __builtin_trap(); }", 2},
		{"_init", kernel + "extern \"C\" __attribute__((visibility(\"default\"))) void _init() { __builtin_trap(); }", 2},
		{"shared", kernel + "__global__ void k(int* p) {\n  __shared__ int all[32];\n  __shared__ int sum = 1;\n  all[threadIdx.x] = sum;\n  p[0] = all[1] + sum++;\n}", 4},
		{"shared constructor", "struct S {\n  int v;\n  __device__ S() { v = clock(); }\n};\n__global__ void k(int* p) {\n  __shared__ S s;\n  p[0] = s.v;\n}", 6},
		{"ifunc", kernel + "static void g() {}\nextern \"C\" { void (*pick())() { return clock() & 1 ? g : nullptr; } void h() __attribute__((ifunc(\"pick\"))); }\n__global__ void k() { h(); }", 3},
	} {
		_, err := b.Compile(device.Source{Name: "cell[9]", Line: 20, Text: c.text})
		var e *device.CompileError
		if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		line := c.line
		if c.name == "destructor" && b.Device.(*cpu).compiler.clang {
			line = 1 // clang++ records no line for it
		}
		if d := e.Diagnostics[0]; !strings.Contains(d.Text, "not supported") || d.Line != line+19 {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	for _, text := range []string{
		"__device__ int x = 3, y[4] = {1, 2};\n__constant__ float c = 1.5f;\n" + kernel,
		"struct S { int v; constexpr S(int v) : v(v) {} };\n__device__ S s{4};\n" + kernel,
		"__global__ void g(int* p) { static int n = p[0]; p[1] = n; }",
	} {
		if _, err := b.Compile(device.Source{Name: "cell[9]", Line: 20, Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// If the folder in SYMMREPL_CACHE is not safe, it is not used; the process with the first device
// reports that once.
func TestCacheNote(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "cpu"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "cpu"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYMMREPL_CACHE", root)
	t.Setenv("TMPDIR", t.TempDir())
	said := filepath.Join(root, "said")
	f, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = f
	for _, index := range []int{0, 1} {
		d, err := Open(index)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, text := range []string{"__global__ void f() {}", "__global__ void g() {}"} {
			if _, err := d.Compile(device.Source{Name: "c", Line: 1, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := os.ReadFile(said)
	if n := strings.Count(string(got), "SYMMREPL_CACHE is not used: "+filepath.Join(root,
		"cpu")+": others may write to it"); err != nil || n != 1 || strings.Count(string(got), "\n") != 1 {
		t.Errorf("it is said: %q (%v)", got, err)
	}
}
