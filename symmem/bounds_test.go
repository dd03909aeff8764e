package symmem

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/signature"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/checked"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// checkingDevice is the cpu device as one that can check bounds and nothing else. Handles have
// plain pointers.
type checkingDevice struct {
	device.Device
	launched *[]byte // the arguments of the latest launch
}

type checkingStream struct {
	device.Stream
	launched *[]byte
}

type checkedModule struct {
	device.Module
	kernels []device.Kernel
}

type checkedKernel struct {
	device.Kernel
	params []device.Param
}

func (d checkingDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return checkingStream{s, d.launched}, err
}

func (s checkingStream) Launch(k device.Kernel, l device.Launch) error {
	*s.launched = bytes.Clone(l.Args)
	if c, ok := k.(checkedKernel); ok {
		k = c.Kernel
	}
	return s.Stream.Launch(k, l)
}

func (d checkingDevice) CompileChecked(src device.Source) (device.Module, error) {
	kernels, err := signature.Parse(src.Text)
	if err != nil {
		return nil, err
	}
	text, which := checked.Rewrite(src.Text, kernels)
	src.Text = fmt.Sprintf("#include \"symm/bounds.cuh\"\n#line %d\n%s", src.Line, text)
	src.Line = 1
	m, err := d.Device.Compile(src)
	if err != nil {
		return nil, err
	}
	out := checkedModule{Module: m}
	for i, k := range m.Kernels() {
		c := checkedKernel{Kernel: k}
		for j, p := range k.Params() {
			p.Type, p.Checked = kernels[i].Params[j].Type, which[i][j]
			c.params = append(c.params, p)
		}
		out.kernels = append(out.kernels, c)
	}
	return out, nil
}

func (m checkedModule) Kernels() []device.Kernel { return m.kernels }
func (k checkedKernel) Params() []device.Param   { return k.params }

func newChecking(t *testing.T) (*Runtime, *[]byte) {
	d, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := devices.Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	launched := new([]byte)
	rt, err := newRuntime(kind, checkingDevice{d, launched}, 0, Config{Caller: func() int { return 77 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	return rt, launched
}

const checkedText = `
__global__ void set(float* x, int n, const float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == n) x[i] = 1;
  if (i == n + 1)
    x[0] = y[-1];
}
struct Three { double a, b, c; };
__global__ void wide(Three* x) {
  x[0].a = 3; // symm:allow out of bounds: this is one
}
`

// TestBounds: what kernels do outside of what they were given is found, and harms nobody, while it
// is asked for.
func TestBounds(t *testing.T) {
	rt, launched := newChecking(t)
	x, y := rt.Local(F32, 4, 250), rt.Local(F32, 100)
	set := rt.CompileAt("cell[3]", 21, checkedText)
	set.Launch(Grid(1), Block(4), x, 2, uintptr(y.Ptr()+4))
	rt.Synchronize()
	if n := len(*launched); n != 24 {
		t.Errorf("unchecked, %d bytes of arguments were given", n)
	}
	rt.Sanitize(true, 0)
	find := func(want ...Finding) {
		t.Helper()
		rt.Synchronize()
		got := rt.Findings()
		for i := range got {
			got[i].Address = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("found\n%+v, want\n%+v", got, want)
		}
	}
	set.Launch(Grid(8), Block(128), x, 999, y.Slice(50, 100))
	find()
	set.Launch(Grid(8), Block(128), x, 1000, y)
	access := func(kernel, op string, bytes, line int, source string, block, thread int) []Access {
		return []Access{{Kernel: kernel, Caller: 77, File: "cell[3]", Line: line, Source: source, Block: [3]int{block},
			Thread: [3]int{thread}, Threads: 1, Op: op, Bytes: bytes}}
	}
	const repair = "compare the index with the number of elements before the access"
	find(Finding{Accesses: access("set", "reads or writes", 4, 24, "  if (i == n) x[i] = 1;", 7, 104),
		Memory: "right behind f32[4, 250], where element 1000 would be", Repair: repair},
		Finding{Accesses: access("set", "reads", 4, 26, "    x[0] = y[-1];", 7, 105), Memory: "4 bytes in front of f32[100]", Repair: repair})
	find() // told already
	given := func(x, y *Tensor, call uint32) []byte {
		args := struct {
			x abi.Checked
			n int32
			y abi.Checked
		}{abi.Checked{At: core.Operand(x).Addr()}, 5, abi.Checked{At: core.Operand(y).Addr()}}
		args.x.Extent = abi.Extent{First: device.Ptr(x.Ptr()), Bytes: 4000, Watch: device.Ptr(uintptr(unsafe.Pointer(rt.dev.Watch()))), Call: call}
		args.y.Extent = abi.Extent{First: device.Ptr(y.Ptr()) - 200, Bytes: 400, Watch: args.x.Watch, Call: call}
		return bytes.Clone(launch.Bytes(&args))
	}
	part := y.Slice(50, 100)
	set.Launch(Grid(1), Block(1), x, 5, part)
	if want := given(x, part, 3); !bytes.Equal(*launched, want) {
		t.Errorf("the arguments are\n%x, want\n%x", *launched, want)
	}
	// An address that is a number has no known extent.
	set.Launch(Grid(1), Block(8), x, 5, y.Ptr()+4)
	find()
	if got := y.Float32s(); !reflect.DeepEqual(got, make([]float32, 100)) {
		t.Errorf("the tensor beside it is %v", got)
	}
	// An access may begin inside; and a comment is the session's to see.
	wide := set.Kernel("wide")
	z := rt.Local(F64, 2)
	wide.Launch(Grid(1), Block(1), z)
	find(Finding{Accesses: access("wide", "reads or writes", 24, 30, "  x[0].a = 3; // symm:allow out of bounds: this is one", 0, 0),
		Memory: "right behind f64[2], where element 2 would be", Repair: repair})
	if got := z.Float64s(); !reflect.DeepEqual(got, []float64{0, 0}) {
		t.Errorf("the tensor is %v", got)
	}
	rt.Sanitize(false, 0)
	set.Launch(Grid(1), Block(4), x, 2, y.Ptr()+4)
	if n := len(*launched); n != 24 {
		t.Errorf("unchecked again, %d bytes of arguments were given", n)
	}
	find()
	var refused *Error
	if err := Maybe(func() { rt.Sanitize(true, 7) }); !errors.As(err, &refused) || refused.Kind != KindMisuse || refused.Arg != "seed" {
		t.Errorf("a seed gives %v", err)
	}
}

// TestPlainPointers: a text that takes plain pointers only runs as it is, and it is said once that
// it is not checked.
func TestPlainPointers(t *testing.T) {
	rt, _ := newChecking(t)
	x := rt.Local(I32, 4)
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	stderr := os.Stderr
	os.Stderr = said
	defer func() { os.Stderr = stderr }()
	rt.Sanitize(true, 0)
	k := rt.CompileAt("cell[3]", 7, `template <class T> __device__ void put(T* x) { *x = 3; }
__global__ void first(int* x) {
  put(x);
}
__global__ void second(int* x) { x[1] = 4; }`)
	k.Launch(Grid(1), Block(1), x)
	k.Kernel("second").Launch(Grid(1), Block(1), x)
	if got := x.Ints(); !reflect.DeepEqual(got, []int{3, 4, 0, 0}) {
		t.Errorf("the tensor is %v", got)
	}
	if found := rt.Findings(); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	text, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	const want = "symmrepl: accesses of first, second are not checked: with pointers that know their bounds the text does not compile: cell[3]:9:"
	if !strings.HasPrefix(string(text), want) || strings.Count(string(text), "symmrepl:") != 1 {
		t.Errorf("it is said:\n%s", text)
	}
}
