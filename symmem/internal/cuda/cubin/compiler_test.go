package cubin

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// compiler returns a compiler with the given cache folder.
func compiler(t testing.TB, dir, arch string) *Compiler {
	t.Helper()
	t.Setenv("SYMMREPL_CACHE", dir)
	host := libs.ThisHost()
	if len(host.Find(libs.NVRTC())) == 0 {
		t.Skip("NVRTC was not found: " + libs.NVRTC().Hint)
	}
	return New(host, arch, 13, "")
}

func compile(t testing.TB, c *Compiler, u Unit) Binary {
	t.Helper()
	b, err := c.Compile(u)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var scale = Unit{
	Name: "cell[3]", Line: 5, Includes: []string{"symm.cuh"},
	Headers:     [][2]string{{"symm.cuh", "#pragma once\n#define TWICE(x) ((x) + (x))\n"}},
	Text:        "__global__ void scale(float* x) { x[threadIdx.x] = TWICE(x[threadIdx.x]); }",
	Expressions: []string{"scale"},
}

func TestCompile(t *testing.T) {
	b := compile(t, compiler(t, t.TempDir(), "sm_90"), scale)
	if got := b.Lowered["scale"]; got != "_Z5scalePf" {
		t.Errorf("the lowered name is %q", got)
	}
	const elf, cuda = "\x7fELF\x02\x01\x01", 190 // 64-bit, little-endian; e_machine EM_CUDA
	if !bytes.HasPrefix(b.Cubin, []byte(elf)) || b.Cubin[18] != cuda {
		t.Errorf("the result is no cubin: % x", b.Cubin[:20])
	}
	if !bytes.Contains(b.Cubin, []byte("\x00.text._Z5scalePf\x00")) {
		t.Error("the cubin has no kernel")
	}
}

func TestErrors(t *testing.T) {
	c := compiler(t, t.TempDir(), "sm_90")
	for _, test := range []struct {
		name, text string
		want       []device.Diagnostic
	}{
		{"two errors, tabs", "__global__ void k(float* x) {\n\tx[0] = yy;\n  \tfoo(3,\n 4);\n}", []device.Diagnostic{
			{File: "cell[3]", Line: 6, Column: 9, Text: `identifier "yy" is undefined`, Source: "\tx[0] = yy;"},
			{File: "cell[3]", Line: 7, Column: 4, Text: `identifier "foo" is undefined`, Source: "  \tfoo(3,"},
		}},
		{"a warning beside an error", "__global__ void k(int* x) { int unused;\nx = 1.0f; }", []device.Diagnostic{
			{File: "cell[3]", Line: 6, Column: 3, Text: `a value of type "float" cannot be assigned to an entity of type "int *"`,
				Source: "x = 1.0f; }"},
		}},
		{"a missing file", "#include <nowhere.h>\n", []device.Diagnostic{
			{File: "cell[3]", Line: 5, Column: 21, Text: `could not open source file "nowhere.h" (no directories in search list)`,
				Source: "#include <nowhere.h>"},
		}},
		{"the assembler", "__global__ void k(float* x) { __shared__ float big[100000]; big[threadIdx.x] = *x; __syncthreads(); x[1] = big[2]; }", []device.Diagnostic{
			{File: "cell[3]", Line: 5, Text: "Entry function '_Z1kPf' uses too much shared data (0x61a80 bytes, 0xc000 max)"},
		}},
		{"an unfinished kernel", "__global__ void k(int* x) {\n  *x = 1;\n\n", []device.Diagnostic{
			{File: "cell[3]", Line: 6, Text: `expected a "}" at the end`, Source: "  *x = 1;"},
		}},
		{"a header", "__global__ void k(float* x) { BAD; }", []device.Diagnostic{
			{File: "cell[3]", Line: 5, Column: 31, Text: `identifier "undeclared" is undefined`, Source: "__global__ void k(float* x) { BAD; }"},
		}},
	} {
		_, err := c.Compile(Unit{Name: "cell[3]", Line: 5, Text: test.text, Includes: []string{"symm.cuh"}, Expressions: []string{"k"},
			Headers: [][2]string{{"symm.cuh", "#define BAD undeclared\n"}}})
		var wrong *device.CompileError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if len(wrong.Diagnostics) != len(test.want) {
			t.Errorf("%s: %d diagnostics, want %d:\n%s", test.name, len(wrong.Diagnostics), len(test.want), wrong.Log)
			continue
		}
		for i, got := range wrong.Diagnostics {
			want := test.want[i]
			if strings.HasPrefix(want.Text, "could not open") { // followed by the searched folders
				got.Text, want.Text = cut(got.Text), cut(want.Text)
			}
			if got != want {
				t.Errorf("%s: diagnostic %d is\n%+v, want\n%+v", test.name, i, got, want)
			}
		}
	}
}

func cut(s string) string {
	s, _, _ = strings.Cut(s, " (")
	return strings.Replace(s, "cannot", "could not", 1)
}

// TestCache: a hit gives the same binary without loading the compiler, and a change of any input
// makes another entry.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	first := compiler(t, dir, "sm_90")
	want := compile(t, first, scale)
	second := compiler(t, dir, "sm_90")
	got := compile(t, second, scale)
	if second.nvrtc != nil {
		t.Error("a hit loaded the compiler")
	}
	if !bytes.Equal(got.Cubin, want.Cubin) || got.Lowered["scale"] != want.Lowered["scale"] {
		t.Error("the cache gives another binary")
	}

	keys := map[string]string{first.key(scale): "scale"}
	different := func(what string, c *Compiler, change func(*Unit)) {
		u := scale
		change(&u)
		if other, taken := keys[c.key(u)]; taken {
			t.Errorf("%s has the key of %s", what, other)
		}
		keys[c.key(u)] = what
	}
	different("another text", first, func(u *Unit) { u.Text += " " })
	different("another line", first, func(u *Unit) { u.Line++ })
	different("another name", first, func(u *Unit) { u.Name = "cell[4]" })
	different("another header", first, func(u *Unit) { u.Headers = [][2]string{{"symm.cuh", "#define TWICE(x) (2 * (x))\n"}} })
	different("other expressions", first, func(u *Unit) { u.Expressions = nil })
	different("another architecture", compiler(t, dir, "sm_80"), func(*Unit) {})
	elsewhere := Compiler{options: first.options, found: []libs.Library{{Path: first.found[0].Path + ".copy"}}}
	different("another compiler", &elsewhere, func(*Unit) {})

	damaged := first.cache.Path(first.key(scale))
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-100] ^= 1
	if err := os.WriteFile(damaged, data, 0o600); err != nil {
		t.Fatal(err)
	}
	third := compiler(t, dir, "sm_90")
	if got := compile(t, third, scale); !bytes.Equal(got.Cubin, want.Cubin) || third.nvrtc == nil {
		t.Error("a damaged entry was used")
	}
}

// TestIncludedFiles: a snippet that includes the user's file is compiled each time.
func TestIncludedFiles(t *testing.T) {
	c := compiler(t, t.TempDir(), "sm_90")
	t.Chdir(t.TempDir())
	u := scale
	u.Text = "#include \"mine.h\"\n__global__ void scale(float* x) { *x = VALUE; }"
	var last []byte
	for _, value := range []string{"1.0f", "2.0f"} {
		if err := os.WriteFile("mine.h", []byte("#define VALUE "+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := compile(t, c, u)
		if bytes.Equal(b.Cubin, last) {
			t.Error("a change of the included file was not seen")
		}
		last = b.Cubin
	}
}

// TestLeftOut: a kernel that the preprocessor leaves out is missing from the names, without an
// error.
func TestLeftOut(t *testing.T) {
	b := compile(t, compiler(t, t.TempDir(), "sm_90"), Unit{Name: "cell[3]", Line: 1,
		Text: `#ifdef NEVER
__global__ void old(int* x) {}
namespace a { __global__ void older(int* x) {} }
#endif
namespace a { __global__ void k(int* x) {} }`,
		Expressions: []string{"old", "a::older", "a::k"}})
	if want := map[string]string{"a::k": "_ZN1a1kEPi"}; !maps.Equal(b.Lowered, want) {
		t.Errorf("the names are %v, want %v", b.Lowered, want)
	}
}

// TestHeadersBeside: CUDA's headers are found beside the library.
func TestHeadersBeside(t *testing.T) {
	c := compiler(t, t.TempDir(), "sm_90") // skips without NVRTC
	dir := t.TempDir()
	for path, text := range map[string]string{
		"include/cuda_fp16.h":    "#include <nv/target>\nstruct __half { unsigned short x; };\n",
		"include/cccl/nv/target": "#define TARGET 7\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Dir(c.found[0].Path), filepath.Join(dir, "lib")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYMMREPL_NVRTC", filepath.Join(dir, "lib"))
	compile(t, compiler(t, t.TempDir(), "sm_90"), Unit{Name: "cell[3]", Line: 1,
		Text: "#include <cuda_fp16.h>\n__global__ void k(__half* x) { x->x = TARGET; }"})
}

const racer = "SYMMTEST_CUBIN_RACER"

// TestRacers: if several processes need the same unit at once, only one compiles it.
func TestRacers(t *testing.T) {
	dir := os.Getenv(racer)
	if dir != "" { // this is one of the processes: wait for the start, then report whether it compiled
		c := compiler(t, dir, "sm_90")
		start := []byte{0}
		os.Stdin.Read(start)
		compile(t, c, scale)
		if c.nvrtc != nil {
			os.Stdout.WriteString("\ncompiled\n")
		}
		return
	}
	dir = t.TempDir()
	compiler(t, dir, "sm_90") // skips without NVRTC
	const n = 4
	ready, start, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out [n]bytes.Buffer
	var racers [n]*exec.Cmd
	for i := range racers {
		c := exec.Command(os.Args[0], "-test.run=^TestRacers$", "-test.timeout=2m")
		c.Env = append(os.Environ(), racer+"="+dir)
		c.Stdin, c.Stdout, c.Stderr = ready, &out[i], &out[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		racers[i] = c
	}
	start.Close() // all at once
	compiled := 0
	for i, c := range racers {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, out[i].String())
		}
		compiled += strings.Count(out[i].String(), "\ncompiled\n")
	}
	if compiled != 1 {
		t.Errorf("%d processes compiled, want 1", compiled)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("SYMMREPL_CACHE", t.TempDir())
	t.Setenv("SYMMREPL_NVRTC", "/nonexistent")
	c := New(libs.ThisHost(), "sm_90", 13, "")
	_, err := c.Compile(scale)
	var un *device.UnavailableError
	if !errors.As(err, &un) || un.Why != "SYMMREPL_NVRTC is /nonexistent, which has no NVRTC" || un.Hint != libs.NVRTC().Hint {
		t.Errorf("without NVRTC: %v", err)
	}
	if got := c.Describe(); got != "no NVRTC" {
		t.Errorf("Describe is %q", got)
	}
	bad := t.TempDir() + "/libnvrtc.so.13"
	if err := os.WriteFile(bad, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYMMREPL_NVRTC", bad)
	_, err = New(libs.ThisHost(), "sm_90", 13, "").Compile(scale)
	if !errors.As(err, &un) || !strings.Contains(un.Why, "does not load: "+bad) {
		t.Errorf("with a file that is no library: %v", err)
	}
}

func TestPrefer(t *testing.T) {
	found := []libs.Library{{Soname: "libnvrtc.so.13"}, {Soname: "libnvrtc.so.12"}}
	for major, want := range map[int]string{12: "libnvrtc.so.12", 13: "libnvrtc.so.13", 14: "libnvrtc.so.13"} {
		if got := prefer(found, major); len(got) != 2 || got[0].Soname != want {
			t.Errorf("a driver of CUDA %d gets %v first, want %s", major, got, want)
		}
	}
}

func BenchmarkHit(b *testing.B) {
	c := compiler(b, b.TempDir(), "sm_90")
	compile(b, c, scale)
	for b.Loop() {
		compile(b, c, scale)
	}
}

// TestErrorsInHeaders: what a template of a header refuses is reported at the line that uses it, also
// through another template.
func TestErrorsInHeaders(t *testing.T) {
	u := scale
	u.Headers = [][2]string{{"symm.cuh", "#pragma once\ntemplate <class T> struct Never { static const bool value = false; };\n" +
		"template <class T> __device__ int refused(T) { static_assert(Never<T>::value, \"write y\"); return 1; }\n" +
		"template <class T> __device__ int outer(T x) { return refused(x); }\n"}}
	u.Text = "__global__ void k(int* x) {\n  x[0] = refused(1);\n  x[1] = outer(1.f);\n}"
	_, err := compiler(t, t.TempDir(), "sm_90").Compile(u)
	var e *device.CompileError
	if !errors.As(err, &e) || len(e.Diagnostics) != 2 {
		t.Fatalf("%v", err)
	}
	for i, source := range []string{"  x[0] = refused(1);", "  x[1] = outer(1.f);"} {
		want := device.Diagnostic{File: "cell[3]", Line: 6 + i, Text: `static assertion failed with "write y"`, Source: source}
		if e.Diagnostics[i] != want {
			t.Errorf("%+v, want %+v", e.Diagnostics[i], want)
		}
	}
}
