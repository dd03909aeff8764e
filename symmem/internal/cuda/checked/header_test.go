package checked

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
)

// host lets the host's compiler compile bounds.cuh: a program with one thread, which prints the
// accesses that are published.
const host = `
#include <cstdio>
#include <cstring>
#define SYMM_CPU
#define __device__
#define __forceinline__ inline
#define __noinline__
struct { unsigned x, y, z; } blockIdx = {1, 2, 3}, threadIdx = {4, 5, 6};
inline unsigned atomicCAS(unsigned* p, unsigned from, unsigned to) { unsigned was = *p; if (was == from) *p = to; return was; }
namespace emu { template <class T> void loaded(const T*, T) {} }
#include "symm/bounds.cuh"

symm::Watch watch;
float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
struct Pair { int a, b; };
void poke(float* p) { *p = 50; }
float twice(const float* p) { return 2 * *p; }

// seen prints the accesses published since its last call.
void seen() {
  for (auto& o : watch.outside) {
    if (!o.state) continue;
    if (o.line == symm::kNoLine) o.line = 0;
    printf(" %u:%+lld,%u%s", o.line, (long long)(o.address - o.first), o.bytes, o.reads ? ",reads" : "");
    if (o.call != 7 || o.first != (symm::u64)(data + 2) || o.block[0] != 1 || o.block[2] != 3 || o.thread[0] != 4 || o.thread[2] != 6) printf("?");
    o.state = o.line = 0;
  }
}

template <class T> symm::Checked<T> middle() { return symm::Checked<T>((T*)(data + 2), symm::Extent{(symm::u64)(data + 2), 16, &watch, 7, 0}); }

int main() {
  auto x = middle<float>();
  auto r = middle<const float>();
  auto v = middle<Pair>();
  auto d = middle<volatile double>();
  symm::Checked<float> free = data + 2;
  float got = 0;
#line 1 "body"
`

// A body is the body of a kernel. It uses x, four floats in the middle of data, whose element 0 is
// 2; r, which cannot write; v, two Pairs; d, two doubles; and free, whose extent is not known.
func TestAccesses(t *testing.T) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("there is no g++: ", err)
	}
	dir := t.TempDir()
	for _, f := range kernels.Headers() {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A published access has the form line:offset,bytes.
	lines := []struct{ body, want string }{
		{"x[0] = 10; x[3] = 11; x[1] += x[0]; got = *x + r[3];", ""},
		{"x[4] = 99;", " 2:+16,4"},
		{"x[-1] = 99;", " 3:-4,4"},
		{"got = x[1u << 31];", " 4:+8589934592,4"},
		{"got = x[-1ll];", " 5:-4,4"},
		{"got = x[~0ull >> 2];", " 6:-4,4"}, // the address wraps around
		{"*(x + 4) = 99;", " 7:+16,4"},
		{"*(x - 1) = *(2 + x);", " 8:-4,4"},
		{"got = *(r + 4) + r[0];", " 9:+16,4,reads"},
		{"for (auto p = x; p <= x + 4; p++) got += *p;", " 10:+16,4"},
		{"for (auto p = x + 3; p >= x; --p) got += *p;", ""},
		{"v[1].b = 3; (*v).a = v->b; got = v[2].a;", " 12:+16,8"},
		{"got = (v + 2)->a;", " 0:+16,8"}, // the line of this access is not known
		{"d[1] = d[0]; d[2] = 1;", " 14:+16,8"},
		{"got = ((symm::Checked<double>)(x + 3))[0];", " 15:+12,8"},
		{"poke(x + 1); got = twice(x) + twice(r + 3); memcpy(x, r + 2, 8);", ""},
		{"free[-2] = 5; free[5] = *free + 1; got = *(free + 5);", ""},
		{"float* p = x + 3; const float* q = x; const void* w = x; double* e = (double*)x; got = p - q + (w == e);", ""},
		{"if (!x || x == nullptr || x != x || r != x || x + 1 <= x || (x + 3) - x != 3) got = x[100];", ""},
		{"symm::Checked<const float> c = x; c = r; x += 4; got = c[0] + *x--;", " 20:+16,4"},
		{"x -= 3; if ((symm::u64)x != (symm::u64)(data + 2)) got = x[100];", ""},
		{"for (int i = 0; i < 6; i++) x[i] = i; x[8] = 1;", " 22:+16,4"}, // only the first access of a line
		{"float* p = x; if (p != x || x < p || p + 1 <= x || (p + 3) - x != 3 || x - (p + 1) != -1) got = x[100];", ""},
		{"got = symm::recast<const double>(x + 3)[0] + *symm::recast<double>(data + 6);", " 24:+12,8,reads"},
		{"got = *(symm::Checked<float>)(symm::u64)x + *(symm::Checked<float>)(void*)data;", ""},
	}
	var program, want strings.Builder
	program.WriteString(host)
	for _, l := range lines {
		program.WriteString("{ " + l.body + " seen(); puts(\"\"); }\n")
		want.WriteString(l.want + "\n")
	}
	// No access has changed memory outside of the four floats.
	program.WriteString("printf(\"%g %g %g %g\\n\", data[0], data[1], data[6], data[7]);\n}\n")
	want.WriteString("5 1 6 14\n")
	source, binary := filepath.Join(dir, "test.cc"), filepath.Join(dir, "test")
	if err := os.WriteFile(source, []byte(program.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-std=c++17", "-Wall", "-Wno-unused", "-Werror", "-I", dir, "-o", binary,
		source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(binary).CombinedOutput()
	if err != nil || string(out) != want.String() {
		t.Errorf("%v: got\n%s\nwant\n%s", err, out, want.String())
	}
}
