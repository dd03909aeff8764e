package symmemtest

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// templatesCase: template kernels are launched by the names of their instances, whether the text or
// Compile instantiates them.
func templatesCase(t *T) {
	const text = `
struct Pair { int a, b; };
template <typename T, int N = 2> __global__ void scale(T* x, int n, T by) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * by + N;
}
template <typename T> __device__ T one() { return 1; }
namespace mine { template <typename... T> __global__ void sum(int* out, T... all) { *out = (0 + ... + all); } }
template <typename T> __global__ void known(int* out) { *out = 1; }
template <> __global__ void known<Pair>(int* out) { *out = sizeof(Pair); }
template __global__ void scale<int>(int*, int, int);
template __global__ void scale<double, 5>(double*, int, double);
template __global__ void mine::sum<int, short>(int*, int, short);
#ifdef SYMM_NOWHERE
template <typename T> __global__ void absent(T* x) {}
#endif
`
	one := symmem.Block(32)
	k := symmem.Compile(text)
	if got := k.String(); !strings.HasPrefix(got, "known<Pair>(int* out)") {
		t.Errorf("the first is %s", got)
	}
	x := symmem.Local(symmem.I32, 5).Arange()
	k.Kernel("scale< int >").Launch(symmem.Grid(1), one, x, 5, 10)
	t.equal("scale<int>", x.Ints(), []int{2, 12, 22, 32, 42})
	k.Kernel("mine::sum<int,short>").Launch(symmem.Grid(1), symmem.Block(1), x, 40, 2)
	k.Launch(symmem.Grid(1), symmem.Block(1), x.Slice(1, 2))
	t.equal("sum and known", x.Ints()[:2], []int{42, 8})
	d := symmem.Local(symmem.F64, 3).Arange()
	k.Kernel("scale<double, 5>").Launch(symmem.Grid(1), one, d, 3, 2)
	t.equal("scale<double, 5>", fmt.Sprint(d.Float64s()), "[5 7 9]")
	t.refused(symmem.KindMisuse, func() { k.Kernel("scale<int>").Launch(symmem.Grid(1), one, d, 3, 2) },
		"scale<int>(int* x, int n, int by)", "f64")

	named := symmem.Compile(text, "scale<float,4>", "known<float>", "scale<int>")
	if got := named.String(); !strings.HasPrefix(got, "scale<float, 4>(float* x, int n, float by)") {
		t.Errorf("the instance is %s", got)
	}
	f := symmem.Local(symmem.F32, 3).Arange()
	named.Launch(symmem.Grid(1), one, f, 3, 2)
	t.equal("scale<float, 4>", f.Ints(), []int{4, 6, 8})
	named.Kernel("known<float>").Launch(symmem.Grid(1), symmem.Block(1), x)
	t.equal("known<float>", x.Ints()[0], 1)
	if symmem.Compile(text, "scale<float,4>", "known<float>", "scale<int>") != named {
		t.Errorf("the same instances are compiled twice")
	}

	t.refused(symmem.KindCompile, func() { symmem.Compile("\ntemplate <class T> __global__ void alone(T* x) {}") },
		"kernel:2", "alone is a template, and the text has no instance of it", `Compile(text, "alone<float>")`)
	t.refused(symmem.KindCompile, func() {
		symmem.Compile("template <class T> __global__ void f(T* x) {}\ntemplate __global__ void f(int*);")
	},
		"kernel:2", "write the arguments of the template behind f")
	for instance, why := range map[string]string{
		"other<int>":         `the text has no kernel that is a template "other"; it has scale, mine::sum, known, absent`,
		"scale<>":            "scale<> lacks its argument 1, T",
		"scale<int, 2, 3>":   "scale takes 2 arguments, and scale<int, 2, 3> gives 3",
		"mine::sum<int>":     "mine::sum takes any number of arguments: instantiate it in the text",
		"known<Unheard>":     "the compiler knows no known<Unheard>",
		"absent<int>":        "the compiler knows no absent<int>",
		"one<int>":           `the text has no kernel that is a template "one"`,
		"scale<int>; int z;": "is no instance of a template",
	} {
		t.refused(symmem.KindMisuse, func() { symmem.Compile(text, instance) }, why)
	}
	t.refused(symmem.KindMisuse, func() { k.Kernel("scale<float>") }, `the text has no kernel "scale<float>"`,
		"it has known<Pair>, scale<int>, scale<double, 5>, mine::sum<int, short>")
}
