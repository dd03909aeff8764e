package checked

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/signature"
)

func rewrite(t *testing.T, text string) (string, [][]bool) {
	kernels, err := signature.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return Rewrite(text, kernels)
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		name, params, want string
		which              []bool
	}{
		{"none", "", "", []bool{}},
		{"void", "void", "void", []bool{}},
		{"pointer", "float* x", "symm::Checked<float> x", []bool{true}},
		{"style", "int n, float *x", "int n, symm::Checked<float >x", []bool{false, true}},
		{"const", "const float* __restrict__ x, float const *y", "symm::Checked<const float>  x, symm::Checked<float const >y",
			[]bool{true, true}},
		{"of words", "unsigned long long* x, volatile unsigned* const flag",
			"symm::Checked<unsigned long long> x, symm::Checked<volatile unsigned> const flag", []bool{true, true}},
		{"qualified", "symm::bf16* x, const symm::Handle* h, struct S* s, ::T* t",
			"symm::Checked<symm::bf16> x, symm::Checked<const symm::Handle> h, symm::Checked<struct S> s, symm::Checked<::T> t",
			[]bool{true, true, true, true}},
		{"unnamed", "int*, float", "symm::Checked<int>, float", []bool{true, false}},
		{"attribute", "[[maybe_unused]] int* x", "[[maybe_unused]] symm::Checked<int> x", []bool{true}},
		{"default", "int* x = nullptr, int n = 3", "symm::Checked<int> x = nullptr, int n = 3", []bool{true, false}},
		{"lines", "\n  int*  // from\n\tx,\n  int\n  *\n  y\n",
			"\n  symm::Checked<int>  // from\n\tx,\n  symm::Checked<int\n  >\n  y\n", []bool{true, true}},
		{"comments", "int /* * */ * /*a*/ x", "symm::Checked<int /* * */ > /*a*/ x", []bool{true}},
		{"others", "void* p, char** q, int a[4], int* b[2], int (*f)(int*), X<int>* x, const T& r, symm::Handle h",
			"void* p, char** q, int a[4], int* b[2], int (*f)(int*), X<int>* x, const T& r, symm::Handle h",
			[]bool{false, false, false, false, false, false, false, false}},
		{"constant", "const __grid_constant__ float* x", "const __grid_constant__ float* x", []bool{false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const around = "__device__ float* f(float* y);\nextern \"C\" __global__ void k(%s) { float* y = (float*)x; }\n"
			got, which := rewrite(t, fmt.Sprintf(around, c.params))
			if want := fmt.Sprintf(around, c.want); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if c.which != nil && !reflect.DeepEqual(which, [][]bool{c.which}) {
				t.Errorf("checked are %v, want %v", which, c.which)
			}
		})
	}
	text := "__global__ void a(int* x) {}\ntemplate <class T> __global__ void b(T* x) {}\nnamespace n { __global__ void c(int n, int* x) {} }\n"
	want := "__global__ void a(symm::Checked<int> x) {}\ntemplate <class T> __global__ void b(T* x) {}\nnamespace n { __global__ void c(int n, symm::Checked<int> x) {} }\n"
	if got, which := rewrite(t, text); got != want || !reflect.DeepEqual(which, [][]bool{{true}, {false}, {false, true}}) {
		t.Errorf("several kernels: %v\n%s", which, got)
	}
}

// Instances of a template share its text, and are instantiated by name.
func TestRewriteInstances(t *testing.T) {
	for _, c := range []struct {
		text, want string
		instances  []string
		which      [][]bool
	}{
		{"template <class T> __global__ void f(T* x, int* y) {}\nM(x) template __global__\nvoid f<int>(int*, int*); int z;",
			"template <class T> __global__ void f(symm::Checked<T> x, symm::Checked<int> y) {}\nM(x) \n int z;",
			[]string{"f<float>"}, [][]bool{{false, false}, {true, true}, {true, true}}},
		{"template <class T> __global__ void f(T* x, T y) {}", "template <class T> __global__ void f(T* x, T y) {}",
			[]string{"f<float>", "f<int*>"}, [][]bool{{false, false}, {false, false}, {false, false}}},
		{"template <class... T> __global__ void f(T*... x) {}\ntemplate __global__ void f<int>(int*);",
			"template <class... T> __global__ void f(T*... x) {}\n", nil, [][]bool{{false}, {false}}},
	} {
		kernels, err := signature.Parse(c.text, c.instances...)
		if err != nil {
			t.Fatal(err)
		}
		if got, which := Rewrite(c.text, kernels); got != c.want || !reflect.DeepEqual(which, c.which) {
			t.Errorf("%s\nbecame %v\n%s", c.text, which, got)
		}
	}
}

// FuzzRewrite: the lines stay, and the inserted text can be removed again.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{
		"__global__ void f(float* x, int n) { x[n] = 1; }",
		"__global__ void f(\n const int *__restrict__ x /* y */, [[a]] int *) {}", "__global__ void f([[ int* x) {}",
		"__global__ void f(int* ]] x) {}", "__global__ void f(int*", "#define P int*\n__global__ void f(P x, int* y) {}",
		"__global__ void f(int* x = (1, 2), T<int*> y, int* z) {}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kernels, err := signature.Parse(text)
		if err != nil || strings.Contains(text, "symm::Checked<") ||
			slices.ContainsFunc(kernels, func(k signature.Kernel) bool { return k.Instantiation != nil }) {
			return
		}
		out, which := Rewrite(text, kernels)
		if strings.Count(out, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q became %q", text, out)
		}
		checked := 0
		for i, k := range which {
			if len(k) != len(kernels[i].Params) {
				t.Fatalf("%q: %v of %v", text, k, kernels[i])
			}
			for _, is := range k {
				if is {
					checked++
				}
			}
		}
		if strings.Count(out, "symm::Checked<") != checked {
			t.Errorf("%q became %q, with %d checked", text, out, checked)
		}
		// For each pointer only the star and the pointer's qualifiers change.
		changed := strings.NewReplacer("symm::Checked<", "", "__restrict__", "", "__restrict", "", "volatile", "", "*", "", ">", "")
		if changed.Replace(out) != changed.Replace(text) {
			t.Errorf("%q became %q", text, out)
		}
	})
}
