package kerneltext

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Headers stand in the place of their directives, once, with the lines of their files.
func TestHeaders(t *testing.T) {
	dir := write(t, map[string]string{
		"b.cuh":       "#include \"c.cuh\"\nstruct b;\n",
		"c.cuh":       "#include \"b.cuh\"\nstruct c;",
		"inc/d/e.cuh": "struct e;\n",
	})
	name := filepath.Join(dir, "a.cu")
	text := "#include \"b.cuh\"\n#include <d/e.cuh>\n#include \"symm.cuh\"\n#include <vector>\n/*\n#include \"c.cuh\"\n*/\n__device__ int a;\n"
	got, err := Of(name, text, Options{Folders: []string{filepath.Join(dir, "inc")}, Defines: []string{"N=3", "DEBUG"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "#define N 3\n#define DEBUG 1\n\nstruct c;\nstruct b;\n\nstruct e;\n\n#include \"symm.cuh\"\n\n/*\n#include \"c.cuh\"\n*/\n__device__ int a;\n"
	if got.Source != want {
		t.Errorf("%q, want %q", got.Source, want)
	}
	for line, want := range map[int]string{3: dir + "/c.cuh:1", 4: dir + "/c.cuh:2", 5: dir + "/b.cuh:2", 7: dir + "/inc/d/e.cuh:1", 9: name + ":3", 14: name + ":8"} {
		if file, number := got.At(line); fmt.Sprint(file, ":", number) != want {
			t.Errorf("line %d is %s:%d, want %s", line, file, number, want)
		}
	}
	if !slices.Equal(got.Lacks, []string{"vector"}) || len(got.Headers) != 3 {
		t.Errorf("lacks %v, headers %v", got.Lacks, got.Headers)
	}
}

// Headers without end, and wrong macros, are refused.
func TestRefused(t *testing.T) {
	files := map[string]string{}
	for i := range maxDepth + 5 {
		files["h"+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10))] = ""
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for i := range names[:len(names)-1] {
		files[names[i]] = "#include \"" + names[i+1] + "\"\n"
	}
	dir := write(t, files)
	if _, err := Of(filepath.Join(dir, "a.cu"), "#include \"h000\"\n", Options{}); err == nil || !strings.Contains(err.Error(), "more than 100 deep") {
		t.Error(err)
	}
	if _, err := Of("a.cu", "", Options{Defines: []string{"a b"}}); err == nil || err.Error() != "-D a b: a name is expected, or NAME=VALUE" {
		t.Error(err)
	}
	if _, err := Of("a.cu", strings.Repeat("x", MaxSize+1), Options{}); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Error(err)
	}
	if got, err := Of("a.cu", "#include \"/dev/zero\"\n#include \"a.cu/b\"\n", Options{}); err != nil || len(got.Lacks) != 2 {
		t.Error(got.Lacks, err)
	}
}

// What is for the host becomes blanks, and what is for the device stays, on its lines.
func TestWithoutHost(t *testing.T) {
	const text = `#include <vector>
#define DEVICE __device__ inline
#define FOR_ALL DEVICE
using namespace std;
using namespace mine;
using torch::Tensor;
using T = float;
typedef unsigned int u32;
constexpr int kN = 4;
const float kScale = 2.0f;
static int counter = 0;
std::vector<int> all;
__constant__ float table[4] = {1, 2, 3, 4};
template <class T> struct Pair { T a; T b; };
enum class Kind : int { kA, kB };
struct Forward;
namespace mine {
DEVICE int twice(int x) { return 2 * x; }
FOR_ALL float half_of(float x) { return x / 2; }
void host_in_namespace(std::vector<int>& v) { v.push_back(1); }
}  // namespace mine
extern "C" {
__global__ void k(float* x) { x[0] = mine::twice(1); }
void c_host() { k<<<1, 1>>>(nullptr); }
}
extern "C" __global__ void __launch_bounds__(256) bounded(float* p) { p[0] = 1; }
template <int N, class U = float, bool = (N > 1)> __global__ void many(U* p) {
  if (N > 1) p[0] = U{2};
}
void prototype(float* x);
__device__ float later(float x);
struct Launcher { int n; };
Launcher make(int n) : n{n} { many<2, float><<<1, 1>>>(nullptr); }
template <class U> void launch(U* p) { many<2, U><<<dim3(1), 32>>>(p); }
PYBIND11_MODULE(x, m) { m.def("launch", "} text {"); }
int main(int argc, char** argv) {
  const char* s = R"x(
} // )" )x";
  k<<<1, 1>>>(nullptr);
  return '}' - 1'000;
}
__device__ float later(float x) { return x; }
struct Failure : public std::runtime_error { Failure(const char* m) : std::runtime_error(m) {} };
using Key = std::array<char, sizeof(cudaIpcMemHandle_t)>;
static_assert(sizeof(Key) == 64);
class Communicator {
  std::vector<float*> all;
  void run() { many<2, float><<<1, 1>>>(all[0]); }
};
constexpr CUpointer_attribute kAttribute = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
struct Uses { Communicator* of; };
struct Plain { std::array<int, 4> of; int vector; };
#define LAUNCH(name) \
  name<<<1, 1>>>()
static constexpr int largest() { return std::numeric_limits<int>::max(); }
`
	got, err := Of("a.cu", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines, was := strings.Split(got.Source, "\n"), strings.Split(text, "\n")
	gone := map[int]bool{1: true, 4: true, 6: true, 11: true, 12: true, 20: true, 24: true, 30: true, 33: true, 34: true, 35: true}
	for i := 36; i <= 41; i++ {
		gone[i] = true
	}
	for _, i := range []int{43, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54} {
		gone[i] = true
	}
	if len(lines) != len(was) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(was), got.Source)
	}
	for i, line := range lines {
		want := was[i]
		if gone[i+1] {
			want = ""
		}
		if strings.TrimSpace(line) != strings.TrimSpace(want) {
			t.Errorf("line %d is %q, want %q", i+1, line, want)
		}
	}
}

// A file of kernels alone stays as it is.
func TestUntouched(t *testing.T) {
	const text = "// a<<<1, 1>>>()\nvoid host() {}\n__global__ void k() {}\n"
	got, err := Of("a.cu", text, Options{})
	if err != nil || got.Source != text {
		t.Errorf("%q, %v", got.Source, err)
	}
}

func FuzzWithoutHost(f *testing.F) {
	f.Add("int main() { k<<<1, 1>>>(); }\n#define A \\\n {\nnamespace a { struct B { int c; }; }")
	f.Add("template <class T> void f(T x) : a{b} { \"}\" } /* */ R\"x( } )x\" '}'")
	f.Fuzz(func(t *testing.T, text string) {
		got := withoutHost(text)
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q has other lines than %q", got, text)
		}
	})
}
