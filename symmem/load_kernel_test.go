package symmem

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// loadingDevice is the cpu device as a GPU of sm_90 that loads kernels: for code it compiles what the
// kernel of that name does. The kernels have the layouts of the files.
type loadingDevice struct {
	device.Device
	loads  *int
	shared *int // of the latest launch
}

type loadingStream struct {
	device.Stream
	shared *int
}

// anonymous is a kernel as a driver knows it.
type anonymous struct{ device.Kernel }

type loadedModule struct{ device.Module }

func (m loadedModule) Kernels() []device.Kernel {
	return []device.Kernel{anonymous{m.Module.Kernels()[0]}}
}

func (k anonymous) Params() (list []device.Param) {
	for _, p := range k.Kernel.Params() {
		list = append(list, device.Param{Offset: p.Offset, Size: p.Size})
	}
	return list
}

func (d loadingDevice) Info() device.Info {
	i := d.Device.Info()
	i.Arch = "sm_90"
	return i
}

func (d loadingDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return loadingStream{s, d.shared}, err
}

func (s loadingStream) Launch(k device.Kernel, l device.Launch) error {
	*s.shared = l.Shared
	if a, ok := k.(anonymous); ok {
		k = a.Kernel
	}
	return s.Stream.Launch(k, l)
}

// standIns are the kernels of testdata/loaded, one thread of which does the work of all. Triton's
// write what the pointers are that it adds.
var standIns = map[string]string{
	"scale": `(float* x, signed char c, long long n, short s, float a) { if (!threadIdx.x && !blockIdx.x) for (int i = 0; i < n; i++) x[i] = x[i] * a + c + s; }`,
	"add_scaled": `(float* x, float* y, long long n, float a, void* scratch, void* profile) {
		if (!threadIdx.x && !blockIdx.x) for (int i = 0; i < n; i++) x[i] += scratch || profile ? -1 : a * y[i];
	}`,
	"row_sums": `(float* x, float* out, int n, void* scratch, void* profile) {
		extern __shared__ float s[];
		if (threadIdx.x) return;
		s[0] = 0;
		for (int i = 0; i < n; i++) s[0] += x[blockIdx.x * n + i];
		out[blockIdx.x] = scratch || profile ? -1 : s[0];
	}`,
	"nothing": "() {}",
}

func (d loadingDevice) Load(code []byte, name string) (device.Module, error) {
	*d.loads++
	m, err := d.Device.Compile(device.Source{Name: name, Line: 1, Text: `extern "C" __global__ void ` + name + standIns[name]})
	return loadedModule{m}, err
}

func newLoading(t *testing.T) (rt *Runtime, loads, shared *int) {
	d, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := devices.Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	loads, shared = new(int), new(int)
	rt, err = newRuntime(kind, loadingDevice{d, loads, shared}, 0, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	return rt, loads, shared
}

// wants compares a tensor's elements.
func wants(t *testing.T, what string, x *Tensor, want func(i int) int) {
	t.Helper()
	for i, got := range x.Ints() {
		if got != want(i) {
			t.Fatalf("%s: element %d is %d, want %d", what, i, got, want(i))
		}
	}
}

const loadedFolder = "symmemtest/testdata/loaded/"

// TestLoadKernel launches kernels with the parameters of real files: every argument arrives at its
// place, and the pointers that Triton adds are null.
func TestLoadKernel(t *testing.T) {
	rt, loads, shared := newLoading(t)
	x, y := rt.Local(F32, 100), rt.Local(F32, 100).Fill(2)
	for i, file := range []string{"scale.fatbin", "packed.fatbin", "scale.ptx"} {
		scale := rt.LoadKernel(loadedFolder+file, "scale", Params("*f32", "i8", "i64", "short", "fp32"))
		if *loads != i+1 || scale.Name() != "scale" || !strings.HasPrefix(scale.String(), "scale(*f32, i8, i64, short, fp32)") {
			t.Errorf("%s, loaded %d times, is %v", file, *loads, scale)
		}
		if again := rt.LoadKernel(loadedFolder+file, "scale", Params("*f32", "i8", "i64", "short", "fp32")); again != scale || *loads != i+1 {
			t.Errorf("%s was loaded again", file)
		}
		x.Arange()
		scale.Launch(Grid(2), Block(32), x, -3, 99, int16(300), 2.0)
		wants(t, file, x, func(i int) int { return map[bool]int{true: 2*i + 297, false: 99}[i < 99] })
	}
	x.Arange()
	for i, c := range []struct {
		file   string
		params ParamList
	}{{"add_scaled.json", Params("ptr", "ptr", "i64", "fp32")}, {"add_scaled.json", Params("ptr", "ptr", "i64", "fp32", "null", "null")},
		{"add_scaled.cubin", Params("*fp32", "*fp32", "u64", "float", "null", "null")}} {
		rt.LoadKernel(loadedFolder+c.file, "add_scaled", c.params).Launch(Grid(1), Block(128), x, y.Ptr(), 100, 5)
		wants(t, c.file, x, func(e int) int { return e + 10*(i+1) })
	}
	sums := rt.Local(F32, 2)
	rows := rt.LoadKernel(loadedFolder+"row_sums.json", "", Params("ptr", "ptr", "i32"))
	rows.Launch(Grid(2), Block(128), rt.Local(F32, 2, 50).Fill(3), sums, 50)
	if wants(t, "row_sums", sums, func(int) int { return 150 }); *shared != 16 {
		t.Errorf("a launch asks for %d bytes of shared memory, and the metadata say 16", *shared)
	}
	rows.Launch(Grid(2), Block(128), y, sums, 50, SharedBytes(64))
	if wants(t, "row_sums", sums, func(int) int { return 100 }); *shared != 64 {
		t.Errorf("a launch with SharedBytes(64) asks for %d", *shared)
	}
	rt.LoadKernel(loadedFolder+"scale.fatbin", "nothing", Params()).Launch(Grid(1), Block(1))
	rt.Synchronize()
}

// TestLoadKernelAgain: a file that changed is another kernel.
func TestLoadKernelAgain(t *testing.T) {
	rt, loads, _ := newLoading(t)
	file := filepath.Join(t.TempDir(), "k")
	for i, from := range []string{"scale.ptx", "scale.fatbin", "scale.ptx"} {
		data, err := os.ReadFile(loadedFolder + from)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		rt.LoadKernel(file, "nothing", Params())
		if want := min(i+1, 2); *loads != want {
			t.Errorf("after %d files %d kernels were loaded, want %d", i+1, *loads, want)
		}
	}
}

func TestLoadKernelRefused(t *testing.T) {
	rt, loads, _ := newLoading(t)
	load := func(file, name string, params ...string) func() {
		return func() { rt.LoadKernel(loadedFolder+file, name, Params(params...)) }
	}
	x := rt.Local(F32, 8)
	scale := rt.LoadKernel(loadedFolder+"scale.ptx", "scale", Params("*f32", "i8", "i64", "i16", "f32"))
	add := rt.LoadKernel(loadedFolder+"add_scaled.json", "", Params("ptr", "ptr", "i64", "fp32"))
	*loads = 0
	for _, c := range []struct {
		f     func()
		words []string
	}{
		{load("none.cubin", "k"), []string{"none.cubin: no such file", "rank 0 works in"}},
		{load("scale.ptx", "scale\x00"), []string{`a name cannot be "scale\x00"`}},
		{load("scale.ptx", "scal"), []string{"it has scale, nothing"}},
		{load("scale.ptx", "scale", "ptr", "i32", "i64", "i16", "f32"),
			[]string{`parameter 2 has 1 byte in the file, "i32" has 4`, "parameters of 8, 1, 8, 2, 4 bytes"}},
		{load("scale.ptx", "scale", "ptr"), []string{"Params lists 1 parameter, the file has 5"}},
		{load("scale.ptx", "nothing", "ptr"), []string{"the file has none"}},
		{load("scale.ptx", "scale", "ptr", "Mine"), []string{`parameter 2 has no type that a launch can give: "Mine"`}},
		{load("add_scaled.cubin", "add_scaled", "ptr", "ptr", "i64", "fp32"), []string{"Params lists 4 parameters, the file has 6", `"null", "null"`}},
		{load("add_scaled.json", "add_scaled", "ptr", "ptr", "i64"), []string{"Params lists 3 parameters, the file has 6"}},
		{load("add_scaled.json", "", "ptr", "ptr", "i64", "fp32", "null"), []string{"Params lists 5 parameters, the file has 6"}},
		{func() { scale.Launch(Grid(1), Block(32), x, 1, 8, 1) }, []string{"takes 5 arguments, not 4"}},
		{func() { scale.Launch(Grid(1), Block(32), x, 128, 8, 1, 1) }, []string{`argument 2, "i8"`, "it does not fit"}},
		{func() { scale.Launch(Grid(1), Block(32), rt.Local(F64, 8), 1, 8, 1, 1) }, []string{`argument 1, "*f32"`, "give it a tensor of f32"}},
		{func() { scale.Kernel("nothing") }, []string{"scale was loaded from", "LoadKernel loads another kernel of the file"}},
		{func() { add.Launch(Grid(1), Block(64, 2), x, x, 8, 1) }, []string{"compiled for blocks of 128 threads, not of 64,2", "symm.Block(128)"}},
	} {
		err := Maybe(c.f)
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindMisuse || slices.ContainsFunc(c.words, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
			t.Errorf("refused with %v, want %q", err, c.words)
		}
	}
	if *loads != 0 {
		t.Errorf("%d of the files came to the driver", *loads)
	}
	// Of packed code only the driver knows the parameters.
	if err := Maybe(load("packed.fatbin", "scale", "ptr", "i8")); err == nil ||
		!strings.Contains(err.Error(), "Params lists 2 parameters, the file has 5") || *loads != 1 {
		t.Errorf("packed code gives %v after %d loads", err, *loads)
	}
}

// A type of Params has the size that compilers give it.
func TestParamTypes(t *testing.T) {
	for word, want := range map[string]signature.Type{
		"ptr": {Base: signature.Void, Pointers: 1, Lanes: 1}, "null": {Base: signature.Void, Pointers: 1, Lanes: 1},
		"*f32": {Base: signature.Float, Size: 4, Lanes: 1, Pointers: 1}, "*fp16": {Base: signature.Half, Size: 2, Lanes: 1, Pointers: 1},
		"*i64": {Base: signature.Int, Size: 8, Lanes: 1, Pointers: 1}, "const float*": {Base: signature.Float, Size: 4, Lanes: 1, Pointers: 1, Const: true},
		"i8": {Base: signature.Int, Size: 1, Lanes: 1}, "u16": {Base: signature.Uint, Size: 2, Lanes: 1}, "i1": {Base: signature.Bool, Size: 1, Lanes: 1},
		"bf16": {Base: signature.BFloat16, Size: 2, Lanes: 1}, "fp32": {Base: signature.Float, Size: 4, Lanes: 1},
		"f64":     {Base: signature.Float, Size: 8, Lanes: 1},
		"fp8e4nv": {Base: signature.Float8E4M3, Size: 1, Lanes: 1}, "f8e5m2": {Base: signature.Float8E5M2, Size: 1, Lanes: 1},
		"unsigned long long": {Base: signature.Uint, Size: 8, Lanes: 1}, "float4": {Base: signature.Float, Size: 4, Lanes: 4},
	} {
		size := want.Size * want.Lanes
		if want.Pointers > 0 {
			size = 8
		}
		if got, n := paramType(word); got != want || n != size {
			t.Errorf("%q is %+v of %d bytes, want %+v of %d", word, got, n, want, size)
		}
	}
	if _, n := paramType("handle"); n != int(unsafe.Sizeof(abi.Handle{})) {
		t.Errorf("a handle has %d bytes", n)
	}
	for _, word := range []string{"", "*", " ", "struct S", "Mine", "void", "int&", "ptr64", "handles", "std::vector<int>", "*i65*&", "f32 f32"} {
		if got, n := paramType(word); n != 0 {
			t.Errorf("%q is %+v of %d bytes, want none", word, got, n)
		}
	}
	if s := Params("ptr", "i64").String(); s != "ptr, i64" {
		t.Errorf("the list is %q", s)
	}
}
