package signature

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string // signatures with line and flags
	}{
		{"plain", "__global__ void f(float* x, int n) { }", []string{"1 f(float* x, int n)"}},
		{"extern C", "extern \"C\" __global__ void scale(float *x, int n, float a) {}", []string{"1c scale(float* x, int n, float a)"}},
		{"extern C block", "extern \"C\" {\n__global__ void f() {}\nstatic __global__ void g(void) {}\n}\n__global__ void h() {}",
			[]string{"2c f()", "3c g()", "5 h()"}},
		{"order of specifiers", "static __global__ void __launch_bounds__(256, 2) f(int) {}\nvoid __global__ g(int a) {}",
			[]string{"1 f(int)", "2 g(int a)"}},
		{"attributes", "[[nodiscard]] __global__ __attribute__((used)) [[gnu::hot]] __cluster_dims__(2,1,1) void f([[maybe_unused]] int n) {}",
			[]string{"1 f(int n)"}},
		{"name on another line", "__global__\nvoid\nf\n(\n int n)\n{\n}", []string{"3 f(int n)"}},
		{"namespaces", "namespace a { namespace b::c { __global__ void f() { if (1) { } } } __global__ void g() {} } __global__ void h() {}",
			[]string{"1 a::b::c::f()", "1 a::g()", "1 h()"}},
		{"template", "template <typename T, int N = 3> __global__ void f(T* x) {}\n__global__ void g() {}",
			[]string{"1t f(T* x)", "2 g()"}},
		{"specialisation", "template <> __global__ void f<float, (1 > 2)>(float* x) {}", []string{"1 f<float, (1> 2)>(float* x)"}},
		{"instantiation and declaration", "template __global__ void f<int>(int*);\n__global__ void g(int);\n__global__ void g(int n) {}",
			[]string{"1 f<int>(int*)", "3 g(int n)"}},
		{"instantiation of a template", "template <class T, int N>\n__global__ void f(const T* x, T y[N], int n = N) {}\ntemplate __global__ void f< unsigned  long,4 >(const unsigned long*, unsigned long*, int);",
			[]string{"2t f(const T* x, T* y, int n)", "3 f<unsigned long, 4>(const unsigned long* x, unsigned long* y, int n)"}},
		{"instantiation of what a macro writes", "TEMPLATE(f)\ntemplate __global__ void n::f<int>(int*);", []string{"2 n::f<int>(int*)"}},
		{"comments", "// __global__ void a() {}\n/* __global__ void b() {} */\n__global__ /* x */ void f(int /*n*/ m, // last\n float) {}",
			[]string{"3 f(int m, float)"}},
		{"continued comment", "// one \\\n__global__ void a() {}\n__global__ void f() {}", []string{"3 f()"}},
		{"literals", "const char* s = \"__global__ void a() {}\\\"\"; char c = '\"'; char d = '\\'';\n__global__ void f() {}", []string{"2 f()"}},
		{"raw string", "const char* s = R\"x(\n)\" __global__ void a() {} )x\";\n__global__ void f() {}", []string{"3 f()"}},
		{"prefixed", "auto a = u8\"{\"; auto b = L'{'; auto c = u8R\"({)\";namespace z { __global__ void f() {} }", []string{"1 z::f()"}},
		{"digit separators", "int n = 1'000'000; int m = 0x1p-3;\n__global__ void f() {}", []string{"2 f()"}},
		{"preprocessor", "#define K __global__ void a() {} \\\n __global__ void b() {}\n#if 0 // off\n__global__ void c() {}\n#if 1\n#else\n#endif\n#else\n__global__ void d() {}\n#endif\n# if 0\n__global__ void e() {}\n#endif\n__global__ void f() {}",
			[]string{"9 d()", "14 f()"}},
		{"unnamed", "__global__ void f(float*, unsigned int, const T, unsigned long long, symm::Handle, size_t) {}",
			[]string{"1 f(float*, unsigned int, const T, unsigned long long, symm::Handle, size_t)"}},
		{"qualifiers", "__global__ void f(const float * __restrict__ x, float const*const y, const __grid_constant__ Args args, struct P p) {}",
			[]string{"1 f(const float* __restrict__ x, float const* const y, const __grid_constant__ Args args, struct P p)"}},
		{"arrays", "__global__ void f(float x[4], int* y[], const int z[2][3]) {}", []string{"1 f(float* x, int** y, const int* z)"}},
		{"defaults", "__global__ void f(int a = (1, 2), int b = 3 < 4, float c = g(1, 2)) {}", []string{"1 f(int a, int b, float c)"}},
		{"nested templates", "__global__ void f(std::array<int, 4> a, X<Y<int>, (2)>* b) {}", []string{"1 f(std::array<int, 4> a, X<Y<int>, (2)>* b)"}},
		{"lambda and struct", "struct S { int x; void m() { auto f = [](int a) { return a; }; } };\n__global__ void f(S s) {}", []string{"2 f(S s)"}},
		{"nothing", "int main() { return 0; }", nil},
		{"not a function", "__global__ int x;\n__global__ void f() {}", []string{"2 f()"}},
		{"carriage returns", "__global__ void f(int a)\r\n{\r\n}\r\n#if 0\r\n__global__ void g() {}\r\n#endif\r\n__global__ void h() {}", []string{"1 f(int a)", "7 h()"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kernels, err := Parse(tt.src)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range kernels {
				got = append(got, show(k))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func show(k Kernel) string {
	s := strconv.Itoa(k.Line)
	if k.ExternC {
		s += "c"
	}
	if k.Template {
		s += "t"
	}
	return s + " " + k.String()
}

func TestInstances(t *testing.T) {
	const src = `namespace n { template <typename T, int N = 3, typename U = X<T>> __global__ void f(T* x, const U& u, std::array<T, N> a, typename S<T>::T t) {} }
template <> __global__ void g<int>(int* x) {}
template <class... T> __global__ void many(T... all) {}
__global__ void h() {}`
	const more = `; it has n::f, many`
	for name, want := range map[string]string{
		"n::f<float>":                  "n::f<float>(float* x, const X<float>& u, std::array<float, 3> a, typename S<float>::T t)",
		" n :: f<unsigned  int,(4>2)>": "n::f<unsigned int, (4> 2)>(unsigned int* x, const X<unsigned int>& u, std::array<unsigned int, (4> 2)> a, typename S<unsigned int>::T t)",
		"n::f<Y<int>, 2, char>":        "n::f<Y<int>, 2, char>(Y<int>* x, const char& u, std::array<Y<int>, 2> a, typename S<Y<int>>::T t)",
		"g<int>":                       "", // is there
		"h":                            "",
		"g<float>":                     `the text has no kernel that is a template "g"` + more,
		"f<float>":                     `the text has no kernel that is a template "f"` + more,
		"n::f":                         `"n::f" is no instance of a template: write its name and arguments, as in f<float>`,
		"n::f<float> x":                `"n::f<float> x" is no instance of a template: write its name and arguments, as in f<float>`,
		"n::f<int":                     `"n::f<int" is no instance of a template: write its name and arguments, as in f<float>`,
		"<int>":                        `"<int>" is no instance of a template: write its name and arguments, as in f<float>`,
		"":                             `"" is no instance of a template: write its name and arguments, as in f<float>`,
		"n::f<>":                       "n::f<> lacks its argument 1, T",
		"n::f<int, 1, int, 2>":         "n::f takes 3 arguments, and n::f<int, 1, int, 2> gives 4",
		"many<int, int>":               "many takes any number of arguments: instantiate it in the text, as in template __global__ void many<int, int>(...);",
	} {
		kernels, err := Parse(src, name)
		got := ""
		switch {
		case err != nil:
			got = err.(*cudalex.Error).Msg
		case len(kernels) > 4:
			got = kernels[4].String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for src, want := range map[string]string{
		"int a;\n/* open":                   "line 2: comment is not closed",
		"\n\nchar* s = \"open\n\";":         "line 3: literal is not closed",
		"auto s = R\"x(open)y\";":           "line 1: raw string is not closed",
		"__global__ void f(int n":           "line 1: the parameters of f are not closed",
		"\n__global__ int f(int n) {":       "line 2: a __global__ function returns void: give f a pointer to write to",
		"float __global__ f() { }":          "line 1: a __global__ function returns void: give f a pointer to write to",
		"int x;\n__global__":                "line 2: __global__ without a function",
		"template __global__ void f(int*);": "line 1: write the arguments of the template behind f, as in f<float>(...): a kernel is launched by its name",
		"__global__ void f<int(float* x)":   "line 1: the parameters of f are not closed",
	} {
		_, err := Parse(src)
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %s", src, err, want)
		}
	}
}

func TestClassify(t *testing.T) {
	for text, want := range map[string]Type{
		"int":                               {Base: Int, Size: 4, Lanes: 1},
		"const float* __restrict__":         {Base: Float, Size: 4, Lanes: 1, Pointers: 1, Const: true},
		"float* const":                      {Base: Float, Size: 4, Lanes: 1, Pointers: 1},
		"double":                            {Base: Float, Size: 8, Lanes: 1},
		"unsigned":                          {Base: Uint, Size: 4, Lanes: 1},
		"long unsigned int long":            {Base: Uint, Size: 8, Lanes: 1},
		"unsigned short":                    {Base: Uint, Size: 2, Lanes: 1},
		"signed char":                       {Base: Int, Size: 1, Lanes: 1},
		"unsigned char*":                    {Base: Uint, Size: 1, Lanes: 1, Pointers: 1},
		"std::uint64_t":                     {Base: Uint, Size: 8, Lanes: 1},
		"cuda::std::int8_t*":                {Base: Int, Size: 1, Lanes: 1, Pointers: 1},
		"::size_t":                          {Base: Uint, Size: 8, Lanes: 1},
		"bool":                              {Base: Bool, Size: 1, Lanes: 1},
		"void*":                             {Base: Void, Lanes: 1, Pointers: 1},
		"void**":                            {Base: Void, Lanes: 1, Pointers: 2},
		"symm::Handle":                      {Base: Handle, Lanes: 1},
		"const symm::Handle*":               {Base: Handle, Lanes: 1, Pointers: 1, Const: true},
		"symm::bf16*":                       {Base: BFloat16, Size: 2, Lanes: 1, Pointers: 1},
		"__half2*":                          {Base: Half, Size: 2, Lanes: 2, Pointers: 1},
		"float4*":                           {Base: Float, Size: 4, Lanes: 4, Pointers: 1},
		"ulonglong2":                        {Base: Uint, Size: 8, Lanes: 2},
		"__nv_fp8_e4m3*":                    {Base: Float8E4M3, Size: 1, Lanes: 1, Pointers: 1},
		"T*":                                {Lanes: 1, Pointers: 1},
		"mine::int32_t":                     {},
		"int&":                              {},
		"std::array<int, 4>":                {},
		"auto":                              {Lanes: 1},
		"":                                  {Lanes: 1},
		"volatile unsigned int *__restrict": {Base: Uint, Size: 4, Lanes: 1, Pointers: 1},
	} {
		if got := Classify(text); got != want {
			t.Errorf("Classify(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("extern \"C\" __global__ void f(float* x, int n = 3) { x[0] = '\"'; }")
	f.Add("template <class T, int N = 4, class... U> __global__ void f(T* x) {}\ntemplate __global__ void f<int, 3>(int*);\ntemplate <> __global__ void f<float>(float*) {}")
	f.Add("#if 0\n__global__\n#endif\ntemplate <int N> __global__ void f(R\"(\" x[[]]) {}")
	f.Fuzz(func(t *testing.T, src string) {
		kernels, err := Parse(src)
		if err != nil {
			return
		}
		lines := strings.Count(src, "\n") + 1
		for _, k := range kernels {
			if k.Line < 1 || k.Line > lines || k.Name == "" {
				t.Errorf("kernel %q at line %d of %d", k.Name, k.Line, lines)
			}
			for _, p := range k.Params {
				Classify(p.Type)
			}
			if !k.Template {
				continue
			}
			made, err := Parse(src, k.Name+"<int, 2>")
			if err == nil && !slices.ContainsFunc(made, func(o Kernel) bool { return o.Name == k.Name+"<int, 2>" && len(o.Params) == len(k.Params) }) {
				t.Errorf("%s has no instance", k.Name)
			}
		}
	})
}
