package checked

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

func TestRewriteAll(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"x[1] = 2; int y = x[1] * 3, *z = x;", ""},
		{"float* p = x + 3; const float *__restrict__ const q = x;", "symm::Checked<float> p = x + 3; symm::Checked<const float > const q = x;"},
		{"for (float* p = x; p < x + 3; p++) { unsigned int* q = y; }",
			"for (symm::Checked<float> p = x; p < x + 3; p++) { symm::Checked<unsigned int> q = y; }"},
		{"symm::u64* p = f(a, b);\n  struct S* s = {};", "symm::Checked<symm::u64> p = f(a, b);\n  symm::Checked<struct S> s = {};"},
		// Several pointers at once, without a value, to a type without a size, in named memory, to
		// an unknown type.
		{"float* p = x, q; float* p; float* p(x); void* p = x; extern __shared__ float* p; float** p = x; auto* p = x; static int* q = 0; X<int>* p = x;", ""},
		{"a * b; f(a * b == c); x = y * z; if (n) float* p = x; return x * y;", ""},
		{"y = *(float4*)(x + i) + *(const float4 *)&x[i] + ((int*)x)[3];",
			"y = *(symm::Checked<float4>)(x + i) + *(symm::Checked<const float4 >)&x[i] + ((symm::Checked<int>)x)[3];"},
		{"return (T*)x;", "return (symm::Checked<T>)x;"},
		{"f(int*); sizeof(int*); (void*)x; (int**)x; (a * b) + (c *) ; g<int>(a * b); x[2](a*)b; (a) (b*)c;", ""},
		{"*reinterpret_cast<float4*>(x) = static_cast<const V*>(y)[1];", "*symm::recast<float4>(x) = symm::recast<const V>(y)[1];"},
		{"static_cast<int>(x); reinterpret_cast<float&>(x); static_cast<void*>(x); const_cast<int*>(x);", ""},
		{"struct S { float* a = nullptr; void m() { float* b = a; } }; float* c = x;",
			"struct S { float* a = nullptr; void m() { symm::Checked<float> b = a; } }; symm::Checked<float> c = x;"},
		{"auto f = [](int* p) { int* q = p; return q; }; // int* r = p;",
			"auto f = [](int* p) { symm::Checked<int> q = p; return q; }; // int* r = p;"},
		{"int* p = x", ""},
	} {
		const before, after = "float* x = nullptr; namespace n { float* y = x; __device__ float* f(float* x, int n) { ", " } }\n"
		if c.want == "" {
			c.want = c.body
		}
		if got := RewriteAll(before + c.body + after); got != before+c.want+after {
			t.Errorf("of %s\ngot  %s\nwant %s", c.body, got[len(before):], c.want+after)
		}
	}
}

// FuzzRewriteAll: the lines stay, and only stars, the text put before them, and qualifiers of
// pointers change.
func FuzzRewriteAll(f *testing.F) {
	for _, s := range []string{
		"void f() { float* p = x; }", "void f() { for (int * const __restrict__ p = (a, b); (T*)x; ) static_cast<T\n*>(x) ; }",
		"{ struct { } int* p = [] { ; }, 3; } }", "f() { *(float4*)&x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "symm::") {
			return
		}
		out := RewriteAll(text)
		if strings.Count(out, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q became %q", text, out)
		}
		changed := strings.NewReplacer("symm::Checked<", "", "symm::recast", "", "reinterpret_cast", "", "static_cast", "",
			"__restrict__", "", "__restrict", "", "*", "", ">", "")
		if changed.Replace(out) != changed.Replace(text) {
			t.Errorf("%q became %q", text, out)
		}
		if _, err := cudalex.Tokens(text); err != nil && out != text {
			t.Errorf("%q cannot be read and became %q", text, out)
		}
	})
}
