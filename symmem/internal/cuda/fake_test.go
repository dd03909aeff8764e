package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func dup(fd int) (int, error) { return syscall.Dup(fd) }

// live returns the fake driver's count of objects.
func live(t *testing.T) int {
	t.Helper()
	n, err := clib.DeviceAttribute(0, 9001)
	must(t, err)
	return n
}

// fakeKernel loads a kernel that the fake driver knows.
func fakeKernel(t *testing.T, d *Device, name string) *kernel {
	t.Helper()
	c, err := d.c.LoadModule([]byte("any"))
	must(t, err)
	m := &module{c: c}
	k, err := m.kernel(name, name)
	must(t, err)
	must(t, k.describe(nil, nil))
	return k
}

func TestFakeDevice(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t))
		return
	}
	if n, err := Count(); n != 2 || err != nil {
		t.Fatalf("Count is %d (%v)", n, err)
	}
	before := live(t)
	d := opened(t, 1)
	t.Run("info", func(t *testing.T) { fakeInfo(t, d) })
	t.Run("memory", func(t *testing.T) { testMemory(t, d) })
	t.Run("copies", func(t *testing.T) { testCopies(t, d) })
	t.Run("many held", func(t *testing.T) { testManyHeld(t, d) })
	t.Run("staging", func(t *testing.T) { testStaging(t, d) })
	t.Run("events", func(t *testing.T) { testEvents(t, d) })
	t.Run("capture", func(t *testing.T) { testCapture(t, d) })
	t.Run("segments", func(t *testing.T) { testSegments(t, d, 0) })
	t.Run("threads", func(t *testing.T) { testThreads(t, d) })
	must(t, d.Close())
	if n := live(t) - before; n != 1 { // the 16 bytes that testCapture leaves
		t.Errorf("%d objects were left behind, want 1", n)
	}
	d = opened(t, 1)
	t.Run("launch", func(t *testing.T) { fakeLaunch(t, d) })
	t.Run("wait", func(t *testing.T) { fakeWait(t, d) })
	t.Run("copier", func(t *testing.T) { fakeCopier(t, d) })
	t.Run("failures", func(t *testing.T) { fakeFailures(t, d) })
	t.Run("advice", func(t *testing.T) { fakeAdvice(t, d) })
	t.Run("load", func(t *testing.T) { fakeLoad(t, d) })
	t.Run("probe", fakeProbe)
	t.Run("place", func(t *testing.T) { fakePlace(t, d) })
	t.Run("fabric", func(t *testing.T) { fakeFabric(t, d) })
	t.Run("reopen", func(t *testing.T) {
		must(t, d.Close())
		d := opened(t, 0)
		testEvents(t, d)
		must(t, d.Close())
	})
}

func fakeInfo(t *testing.T, d *Device) {
	got := d.Info()
	want := device.Info{Kind: "cuda", Name: "Fake 1", Index: 1, Arch: "sm_90", Processors: 132, MaxThreads: 1024,
		MaxGrid: [3]int{2147483647, 65535, 65535}, MaxBlock: [3]int{1024, 1024, 64}, SharedPerBlock: 232448, Memory: 8 << 30,
		Multicast: false, MulticastWhy: got.MulticastWhy, Driver: got.Driver}
	if got != want {
		t.Errorf("Info is %+v, want %+v", got, want)
	}
	if !strings.HasPrefix(got.Driver, "CUDA driver 13.0, ") {
		t.Errorf("Driver is %q", got.Driver)
	}
	if w := d.Watch(); *w != (device.Watch{}) {
		t.Errorf("the watch page is not zero: %+v", w)
	}
	for _, index := range []int{-1, 2} {
		var un *device.UnavailableError
		if _, err := Open(index, "", false); !errors.As(err, &un) || !strings.Contains(un.Hint, "0 to 1") {
			t.Errorf("Open(%d) gives %v", index, err)
		}
	}
}

// fakeFabric exports memory by a token once the driver permits it.
func fakeFabric(t *testing.T, d *Device) {
	before := live(t)
	var refused *device.DriverError
	if err := d.c.JoinFabric(); !errors.As(err, &refused) || refused.Code != 800 {
		t.Errorf("joining without permission gives %v", err)
	}
	plain, err := d.NewSegment(1)
	must(t, err)
	if _, err := plain.(device.FabricSegment).Token(); err == nil {
		t.Error("a segment made before has a token")
	}
	t.Setenv("FAKE_CUDA_FABRIC", "1")
	must(t, d.c.JoinFabric())
	own, err := d.NewSegment(3 << 20)
	must(t, err)
	token, err := own.(device.FabricSegment).Token()
	must(t, err)
	mapped, err := d.ImportToken(token, own.Size())
	must(t, err)
	stream, err := d.NewStream()
	must(t, err)
	s := stream.(*Stream)
	must(t, s.Write(own.Ptr()+100, pattern(1000, 3)))
	wants(t, s, mapped.Ptr()+100, pattern(1000, 3), "what the owner wrote")
	fd, err := own.Export() // descriptors still work
	must(t, err)
	again, err := d.ImportSegment(fd, own.Size())
	must(t, err)
	wants(t, s, again.Ptr()+100, pattern(1000, 3), "by its descriptor")
	if _, err := d.ImportToken([]byte("nothing"), own.Size()); err == nil {
		t.Error("a token of nothing was mapped")
	}
	for _, c := range []interface{ Close() error }{s, plain, own, mapped, again} {
		must(t, c.Close())
	}
	if n := live(t) - before; n != 0 {
		t.Errorf("%d objects were left behind", n)
	}
}

func TestDomainOf(t *testing.T) {
	joined := nvml.GpuFabricInfo_v2{ClusterUuid: [16]uint8{0xab, 1}, CliqueId: 7, State: nvml.GPU_FABRIC_STATE_COMPLETED}
	alone, starting, failed := joined, joined, joined
	alone.ClusterUuid, starting.State, failed.Status = [16]uint8{}, nvml.GPU_FABRIC_STATE_IN_PROGRESS, uint32(nvml.ERROR_UNKNOWN)
	if got := domainOf(joined); got != "ab010000000000000000000000000000/7" {
		t.Errorf("the domain is %q", got)
	}
	for _, info := range []nvml.GpuFabricInfo_v2{alone, starting, failed} {
		if got := domainOf(info); got != "" {
			t.Errorf("%+v is of domain %q", info, got)
		}
	}
}

func fakeCopier(t *testing.T, d *Device) {
	add, atomic, wait := fakeKernel(t, d, "signal_add"), fakeKernel(t, d, "net_atomic"), fakeKernel(t, d, "wait")
	before := live(t)
	c, err := d.c.OpenCopier(add.c, atomic.c)
	must(t, err)
	testCopier(t, d, c.Face())
	testLoad(t, d, c.Face(), wait, cubin.Binary{Cubin: []byte("any")}, 10*time.Second)
	must(t, c.Close())
	if n := live(t) - before; n != 0 {
		t.Errorf("%d objects were left behind", n)
	}
}

func fakeLaunch(t *testing.T, d *Device) {
	s := newStream(t, d)
	k := fakeKernel(t, d, "record")
	want := []device.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 4}, {Offset: 16, Size: 8}}
	if got := k.Params(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("Params are %v, want %v", got, want)
	}
	if got, want := k.Attributes(), (device.Attributes{Registers: 40, Local: 16, MaxThreads: 512}); got != want {
		t.Errorf("Attributes are %v, want %v", got, want)
	}
	out, err := d.Alloc(256)
	must(t, err)
	args := binary.NativeEndian.AppendUint64(nil, uint64(out))
	args = binary.NativeEndian.AppendUint32(args, 42)
	args = binary.NativeEndian.AppendUint32(args, 0)
	args = binary.NativeEndian.AppendUint64(args, math.Float64bits(2.5))
	launch := device.Launch{Grid: [3]int{7, 6, 5}, Block: [3]int{4, 3, 2}, Shared: 100000, Args: args}
	must(t, s.Launch(k, launch))
	var seen []byte
	for _, v := range []uint32{7, 6, 5, 4, 3, 2, 100000, 24} {
		seen = binary.NativeEndian.AppendUint32(seen, v)
	}
	wants(t, s, out, append(seen, args...), "what the kernel saw") // 100000 bytes of shared memory were allowed first
	launch.Args = args[:20]
	if err := s.Launch(k, launch); err == nil || err.Error() != "kernel record takes 24 bytes of arguments, 20 were given" {
		t.Errorf("too few arguments give %v", err)
	}
	launch.Args, launch.Shared = args, 300000
	if err := s.Launch(k, launch); code(err) != 1 {
		t.Errorf("300000 bytes of shared memory give %v", err)
	}
	launch.Shared = 0
	if n := testing.AllocsPerRun(100, func() { s.Launch(k, launch) }); n != 0 {
		t.Errorf("a launch allocates %v times", n)
	}
	none := fakeKernel(t, d, "empty")
	must(t, s.Launch(none, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}}))
	if len(none.Params()) != 0 {
		t.Errorf("a kernel without parameters has %v", none.Params())
	}
	must(t, s.Close())
	must(t, d.Free(out))
}

// fakeWait: a kernel waits on the watch page; the host raises the word and a blocked Synchronize
// returns.
func fakeWait(t *testing.T, d *Device) {
	s := newStream(t, d)
	k := fakeKernel(t, d, "wait")
	p, err := d.Alloc(1 << 12)
	must(t, err)
	args := binary.NativeEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(d.Watch()))))
	must(t, s.Launch(k, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: args}))
	must(t, s.Write(p, pattern(1<<12, 6))) // does not wait for the kernel
	if idle, err := s.Idle(); idle || err != nil {
		t.Errorf("Idle is %v (%v) while a kernel waits", idle, err)
	}
	done := make(chan error)
	go func() { done <- s.Synchronize() }()
	select {
	case err := <-done:
		t.Fatalf("Synchronize returned %v while a kernel waits", err)
	case <-time.After(20 * time.Millisecond):
	}
	atomic.StoreUint32(&d.Watch().Abort, 1)
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("Synchronize does not return after the abort")
	}
	wants(t, s, p, pattern(1<<12, 6), "memory written behind the kernel")
	must(t, s.Close())
}

func code(err error) int {
	var failed *device.DriverError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return 0
}

// fakeFailures: each driver call of an operation fails in turn; the operation names it and leaves
// no objects behind.
func fakeFailures(t *testing.T, d *Device) {
	add := fakeKernel(t, d, "signal_add")
	closed := func(c interface{ Close() error }, err error) error {
		if err == nil {
			err = c.Close()
		}
		return err
	}
	for _, c := range []struct {
		op    string
		do    func() error
		calls string
	}{
		{"Alloc", func() error { _, err := d.Alloc(4096); return err }, "cuMemAlloc_v2 cuMemsetD8Async cuStreamSynchronize"},
		{"NewSegment", func() error { return closed(d.NewSegment(4096)) },
			"cuMemGetAllocationGranularity cuMemCreate cuMemAddressReserve cuMemMap cuMemSetAccess cuMemsetD8Async cuStreamSynchronize"},
		{"ImportSegment", func() error { return importOwn(t, d) },
			"cuMemImportFromShareableHandle cuMemAddressReserve cuMemMap cuMemSetAccess"},
		{"MapHost", func() error { return mapOnce(t, d) }, "cuMemHostRegister_v2 cuMemHostGetDevicePointer_v2"},
		{"NewStream", func() error { return closed(d.NewStream()) }, "cuStreamCreate cuEventCreate"},
		{"NewEvent", func() error { return closed(d.NewEvent()) }, "cuEventCreate"},
		{"OpenCopier", func() error { return closed(d.c.OpenCopier(add.c, add.c)) },
			"cuCtxGetStreamPriorityRange cuStreamCreateWithPriority cuEventCreate cuMemHostAlloc cuMemHostGetDevicePointer_v2"},
		{"Load", func() error { return closed(d.Load([]byte("any"), "record")) }, "cuModuleLoadData cuModuleGetFunction cuFuncGetAttribute cuFuncGetParamInfo"},
		{"Write", func() error { return writeOnce(d) }, "cuMemHostAlloc cuEventCreate cuMemcpyHtoDAsync_v2"},
		{"EndCapture", func() error { return captureOnce(d) }, "cuStreamBeginCapture_v2 cuGraphInstantiateWithFlags"},
		{"Open", func() error { return closed(Open(0, "", false)) },
			"cuDevicePrimaryCtxSetFlags_v2 cuDevicePrimaryCtxRetain cuCtxSetCurrent cuCtxGetStreamPriorityRange cuStreamCreateWithPriority cuMemHostAlloc cuMemHostGetDevicePointer_v2"},
	} {
		for _, call := range strings.Fields(c.calls) {
			before, files := live(t), openFiles(t)
			d = opened(t, 1) // a device without kept staging memory
			os.Setenv("FAKE_CUDA_FAIL", call+"=2")
			err := c.do()
			os.Unsetenv("FAKE_CUDA_FAIL")
			must(t, d.Close())
			if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(call, "_v2")) ||
				!strings.Contains(err.Error(), "CUDA_ERROR_OUT_OF_MEMORY (2)") {
				t.Errorf("%s with a failing %s gives %v", c.op, call, err)
			}
			if n := live(t) - before; n != 0 {
				t.Errorf("%s with a failing %s leaves %d objects behind", c.op, call, n)
			}
			if n := openFiles(t) - files; n != 0 {
				t.Errorf("%s with a failing %s leaves %d files open", c.op, call, n)
			}
		}
	}
	os.Setenv("FAKE_CUDA_APART", "1")
	_, err := Open(0, "", false)
	os.Unsetenv("FAKE_CUDA_APART")
	if err == nil || !strings.Contains(err.Error(), "sees pinned host memory at another address") {
		t.Errorf("host memory seen at another address gives %v", err)
	}
}

// mapOnce maps two pages and unmaps them.
func mapOnce(t *testing.T, d *Device) error {
	pages, err := syscall.Mmap(-1, 0, 8192, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	must(t, err)
	defer syscall.Munmap(pages)
	if _, err := d.MapHost(unsafe.Pointer(&pages[0]), len(pages)); err != nil {
		return err
	}
	return d.UnmapHost(unsafe.Pointer(&pages[0]))
}

// fakeAdvice tests which results lose the context, and the hints.
func fakeAdvice(t *testing.T, d *Device) {
	for _, c := range []struct {
		code     string
		poisoned bool
		hint     string
	}{
		{"1", false, ""},
		{"2", false, "free tensors that are not needed, or use smaller ones"},
		{"209", false, "remove the cache folder"},
		{"220", true, "dmesg"},
		{"700", true, "check its indices"},
		{"701", false, "use smaller blocks"},
		{"710", true, "assert"},
		{"716", true, "run it on the cpu device"},
		{"719", true, "a new one can"},
		{"900", false, "cannot be captured"},
	} {
		os.Setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2="+c.code)
		_, err := d.Alloc(16)
		os.Unsetenv("FAKE_CUDA_FAIL")
		var failed *device.DriverError
		if !errors.As(err, &failed) || failed.Poisoned != c.poisoned || !strings.Contains(failed.Hint, c.hint) ||
			(c.hint == "") != (failed.Hint == "") {
			t.Errorf("%s gives %+v", c.code, failed)
		}
		if errors.Is(err, device.ErrOutOfMemory) != (c.code == "2") {
			t.Errorf("%s is out of memory: %v", c.code, c.code != "2")
		}
	}
}

func fakeProbe(t *testing.T) {
	r := Probe()
	if r.Problem != nil || len(r.GPUs) != 2 || !strings.HasPrefix(r.Driver, "CUDA 13.0") {
		t.Fatalf("Probe finds %+v", r)
	}
	g := r.GPUs[1]
	if g.Name != "Fake 1" || g.UUID != "GPU-11111111-1111-1111-1111-111111111111" || g.Memory != 8<<30 || g.Capability != "9.0" ||
		!slices.Equal(g.Access, []bool{true, true}) {
		t.Errorf("GPU 1 is %+v", g)
	}
	if len(r.Libraries) != 5 {
		t.Errorf("%d libraries are reported", len(r.Libraries))
	}
}

// fakePlace tests which GPUs are out of reach, and whether MPS runs.
func fakePlace(t *testing.T, d *Device) {
	place := func(env ...string) device.Place {
		for i := 0; i < len(env); i += 2 {
			t.Setenv(env[i], env[i+1])
		}
		p, err := d.Place()
		must(t, err)
		return p
	}
	one, none := "GPU-11111111-1111-1111-1111-111111111111", []string(nil)
	pipes := t.TempDir()
	for _, c := range []struct {
		env    []string
		apart  []string
		beside bool
	}{
		{nil, none, false},
		{[]string{"FAKE_CUDA_ISLANDS", "1"}, []string{"GPU-10101010-1010-1010-1010-101010101010"}, false},
		{[]string{"FAKE_CUDA_ISLANDS", "2", "FAKE_CUDA_MPS", "1"}, none, true},
		{[]string{"FAKE_CUDA_MPS", "unknown", "CUDA_MPS_PIPE_DIRECTORY", pipes}, none, false},
	} {
		if got := place(c.env...); got.ID != one || !slices.Equal(got.Apart, c.apart) || got.Beside != c.beside {
			t.Errorf("with %v the place is %+v", c.env, got)
		}
	}
	must(t, os.WriteFile(pipes+"/control", nil, 0o600))
	if !place().Beside {
		t.Error("a driver that cannot say uses no MPS although its daemon's pipe is there")
	}
	d.visible = 8
	defer func() { d.visible = 2 }()
	if got := place("FAKE_CUDA_DEVICES", "8", "FAKE_CUDA_ISLANDS", "4").Apart; len(got) != 4 ||
		got[0] != "GPU-14141414-1414-1414-1414-141414141414" {
		t.Errorf("of two islands of four GPUs these are out of reach: %v", got)
	}
}

func importOwn(t *testing.T, d *Device) error {
	f, err := os.CreateTemp(t.TempDir(), "segment")
	must(t, err)
	must(t, f.Truncate(2<<20))
	fd, err := dup(int(f.Fd()))
	must(t, err)
	f.Close()
	_, err = d.ImportSegment(fd, 2<<20)
	return err
}

func writeOnce(d *Device) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	err = s.Write(device.Ptr(uintptr(unsafe.Pointer(d.Watch()))), make([]byte, 64))
	os.Unsetenv("FAKE_CUDA_FAIL")
	return errors.Join(err, s.Close())
}

func captureOnce(d *Device) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	g, err := (device.Graph)(nil), s.BeginCapture()
	if err == nil {
		err = s.Write(device.Ptr(uintptr(unsafe.Pointer(d.Watch()))), make([]byte, 64))
	}
	if err == nil {
		g, err = s.EndCapture()
	}
	if g != nil {
		err = errors.Join(err, g.Close())
	}
	return errors.Join(err, s.Close())
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

// TestFakeFault: a fault is named, marked and final.
func TestFakeFault(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t))
		return
	}
	d := opened(t, 0)
	s := newStream(t, d)
	k := fakeKernel(t, d, "fault")
	err := s.Launch(k, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}})
	if err == nil {
		err = s.Synchronize()
	}
	var failed *device.DriverError
	if !errors.As(err, &failed) || failed.Code != 700 || failed.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || !failed.Poisoned ||
		failed.Text != "an illegal memory access was encountered" || !strings.Contains(failed.Hint, "a new one can") {
		t.Errorf("a fault gives %+v", err)
	}
	if _, err := d.Alloc(16); code(err) != 700 {
		t.Errorf("Alloc after a fault gives %v", err)
	}
}

// TestFakeOldDriver: without cuFuncGetParamInfo the layout comes from the types.
func TestFakeOldDriver(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t, "-DOLD_DRIVER"))
		return
	}
	d := opened(t, 0)
	k := fakeKernel(t, d, "record")
	if len(k.Params()) != 0 {
		t.Errorf("a built-in kernel has parameters %v that nobody knows", k.Params())
	}
	for _, c := range []struct {
		params string
		which  []bool
		want   []int // offset, size
	}{
		{"float* x, int n, double a", nil, []int{0, 8, 8, 4, 16, 8}},
		{"bool a, short b, float4 c, float3 d, const symm::bf16* e", nil, []int{0, 1, 2, 2, 16, 16, 32, 12, 48, 8}},
		{"int n, float* x, int* y, bool b", []bool{false, true, false, false}, []int{0, 4, 8, 40, 48, 8, 56, 1}},
	} {
		list, err := signature.Parse("__global__ void f(" + c.params + ") {}")
		must(t, err)
		k := &kernel{name: "f", c: k.c}
		must(t, k.describe(list[0].Params, c.which))
		for i, p := range k.params {
			if p.Offset != c.want[2*i] || p.Size != c.want[2*i+1] || p.Type != list[0].Params[i].Type ||
				p.Checked != (c.which != nil && c.which[i]) {
				t.Errorf("%s: parameter %d is %+v", c.params, i, p)
			}
		}
	}
	list, err := signature.Parse("__global__ void f(Mine m) {}")
	must(t, err)
	var un *device.UnavailableError
	if err := (&kernel{name: "f", c: k.c}).describe(list[0].Params, nil); !errors.As(err, &un) || !strings.Contains(un.Why, `"Mine m"`) {
		t.Errorf("a parameter of unknown size gives %v", err)
	}
}

// TestFakeCompile runs all steps of a snippet except the launch.
func TestFakeCompile(t *testing.T) {
	compiler(t) // skips without NVRTC
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t))
		return
	}
	d := opened(t, 0)
	m, err := d.Compile(device.Source{Name: "cell[3]", Line: 5, Text: `
__global__ void record(float* x, int n, const double a) {}
#if 0 + 0
extern "C" __global__ void nowhere() {}
__global__ void older() {}
#endif
`})
	must(t, err)
	k := m.Kernels()[0]
	want := []device.Param{{Name: "x", Type: "float*", Offset: 0, Size: 8}, {Name: "n", Type: "int", Offset: 8, Size: 4},
		{Name: "a", Type: "const double", Offset: 16, Size: 8}}
	if len(m.Kernels()) != 1 || k.Name() != "record" || len(k.Params()) != 3 || k.Params()[0] != want[0] ||
		k.Params()[1] != want[1] || k.Params()[2] != want[2] {
		t.Errorf("the kernel is %s with %+v", k.Name(), k.Params())
	}
	must(t, m.Close())
	_, err = d.Compile(device.Source{Name: "cell[3]", Line: 5, Text: "__global__ void f(int* x) {\n\tx[0] = y;\n}"})
	var wrong *device.CompileError
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) != 1 {
		t.Fatalf("an error gives %v", err)
	}
	if got, want := wrong.Diagnostics[0], (device.Diagnostic{File: "cell[3]", Line: 6, Column: 9,
		Text: `identifier "y" is undefined`, Source: "\tx[0] = y;"}); got != want {
		t.Errorf("the diagnostic is %+v, want %+v", got, want)
	}
	_, err = d.Compile(device.Source{Name: "cell[3]", Line: 5, Text: "__global__ void f(int* x) {}\n__global__ void f(float* x) {}"})
	if err == nil || err.Error() != "cell[3]:6: kernel f is also on line 5: kernels are launched by name, so give each its own" {
		t.Errorf("two kernels of a name give %v", err)
	}
	b, err := d.Builtin("fill", 0)
	must(t, err)
	if again, err := d.Builtin("fill", 0); again != b || err != nil {
		t.Errorf("asked again, fill is another kernel (%v)", err)
	}
	if _, err := d.Builtin("fill_up", 0); err == nil || err.Error() != "there is no built-in kernel fill_up" {
		t.Errorf("an unknown name gives %v", err)
	}
	must(t, d.Close())
}
