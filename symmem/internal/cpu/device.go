//go:build linux && (amd64 || arm64)

package cpu

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/builtin"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	maxThreads     = 1024
	sharedPerBlock = 227 << 10
)

type cpu struct {
	info     device.Info
	watch    *device.Watch // in page
	page     emu.Memory
	emu      *emu.Device
	builtin  *emu.Module
	kernels  map[string]*kernel // the built-in kernels
	program  string             // the file that contains them
	compiler compiler
	sampled  sampled
	sanitizing

	mu      sync.Mutex
	memory  map[device.Ptr]emu.Memory
	open    map[interface{ Close() error }]struct{} // streams and segments
	modules map[string]*module                      // by the name under which the library is loaded
}

// The interfaces of package device that the cpu device implements.
var (
	_ device.Device         = (*cpu)(nil)
	_ device.Sanitizer      = (*cpu)(nil)
	_ device.Observer       = (*cpu)(nil)
	_ device.Recorder       = (*cpu)(nil)
	_ device.Counter        = (*cpu)(nil)
	_ device.CompilerNamer  = (*cpu)(nil)
	_ device.Multicaster    = (*cpu)(nil)
	_ device.Adopter        = (*cpu)(nil)
	_ device.GuardedSegment = (*segment)(nil)
	_ device.Awaiter        = (*stream)(nil)
	_ device.Stander        = (*stream)(nil)
	_ device.Definer        = (*module)(nil)
)

// Supported returns nil, because the emulator runs on this machine.
func Supported() error { return nil }

// Open returns the device. There may be several in a process; index only numbers them.
func Open(index int) (device.Device, error) {
	var host unix.Sysinfo_t
	if err := unix.Sysinfo(&host); err != nil {
		return nil, &device.UnavailableError{Kind: "cpu", Why: "sysinfo: " + err.Error()}
	}
	page, ok := emu.Alloc(int(unsafe.Sizeof(device.Watch{})))
	if !ok {
		return nil, &device.UnavailableError{Kind: "cpu", Why: "no memory"}
	}
	d := &cpu{
		watch:   (*device.Watch)(page.Pointer),
		page:    page,
		builtin: builtin.Load(),
		kernels: map[string]*kernel{},
		program: "/proc/self/exe",
		memory:  map[device.Ptr]emu.Memory{},
		open:    map[interface{ Close() error }]struct{}{},
		modules: map[string]*module{},
	}
	d.compiler.quiet = index != 0
	d.emu = emu.Open(&d.watch.Abort)
	for _, k := range d.builtin.Kernels {
		d.kernels[k.Name] = newKernel(k, nil)
	}
	d.info = device.Info{
		Kind: "cpu", Name: processorName(), Index: index, Arch: runtime.GOARCH,
		Processors: runtime.NumCPU(), MaxThreads: maxThreads,
		MaxGrid: [3]int{1<<31 - 1, 65535, 65535}, MaxBlock: [3]int{1024, 1024, 64},
		SharedPerBlock: sharedPerBlock, Memory: uint64(host.Totalram) * uint64(host.Unit),
		OnHost:       true,
		Guards:       true,
		WholeLines:   true, // symm/line.cuh stores the epoch last and reads it first
		MulticastWhy: device.MulticastDisabled(os.Getenv),
		Driver:       driver(),
	}
	d.info.Multicast = d.info.MulticastWhy == ""
	return d, nil
}

// CompilerName implements device.CompilerNamer.
func (d *cpu) CompilerName() string {
	c, err := FindCXX()
	if err != nil {
		return "a C++ compiler"
	}
	return c.Name()
}

// BuiltBy names the C++ compiler that built the emulator: "gcc 12.2.0".
func BuiltBy() string { return emu.BuiltBy() }

func driver() string {
	c, err := FindCXX()
	if err != nil {
		return "built-in emulator; no C++ compiler for kernels was found"
	}
	return "built-in emulator; kernels are compiled by " + c.String()
}

func processorName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func (d *cpu) Info() device.Info    { return d.info }
func (d *cpu) Watch() *device.Watch { return d.watch }

// Place: every rank has its own device, whose memory all ranks can map.
func (*cpu) Place() (device.Place, error) { return device.Place{}, nil }

// Copier: device memory is host memory.
func (*cpu) Copier() (unsafe.Pointer, error) { return nil, nil }

func (d *cpu) Alloc(n int) (device.Ptr, error) {
	if n <= 0 || uint64(n) > d.info.Memory {
		return 0, outOfMemory("Alloc", n)
	}
	m, ok := emu.Alloc(n)
	if !ok {
		return 0, outOfMemory("Alloc", n)
	}
	p := device.Ptr(uintptr(m.Pointer))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory[p] = m
	if d.remembered.Load() {
		watchAlloc(uintptr(p), n)
	}
	return p, nil
}

func (d *cpu) Free(p device.Ptr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.memory[p]
	if !ok {
		return &device.DriverError{Call: "Free", Code: int(unix.EINVAL), Name: "EINVAL",
			Text: fmt.Sprintf("address %#x was not allocated, or was freed before", uintptr(p))}
	}
	delete(d.memory, p)
	d.unwatchMemory(uintptr(p), 0, false)
	m.Free()
	return nil
}

func outOfMemory(call string, n int) error {
	return &device.DriverError{
		Call: call, Code: int(unix.ENOMEM), Name: "ENOMEM", Text: fmt.Sprintf("no memory for %d bytes", n),
		Hint: "free tensors that are not needed", Err: device.ErrOutOfMemory,
	}
}

func (d *cpu) Builtin(name string, _ int) (device.Kernel, error) {
	if k, ok := d.kernels[name]; ok {
		return k, nil
	}
	return nil, &device.DriverError{Call: "Builtin", Code: int(unix.ENOENT), Name: "ENOENT", Text: "there is no operation " + name}
}

func (d *cpu) Close() error {
	d.mu.Lock()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	var streams sync.WaitGroup
	for c := range open {
		if s, ok := c.(*stream); ok {
			// concurrently, because one may wait for an event of another
			streams.Go(func() { s.Close() })
		}
	}
	streams.Wait()
	for c := range open {
		c.Close()
	}
	d.emu.Close()
	for _, m := range d.modules {
		m.emu.Close()
	}
	d.sanitizing.close()
	d.builtin.Close()
	for p, m := range d.memory {
		d.unwatchMemory(uintptr(p), 0, false)
		m.Free()
	}
	d.page.Free()
	d.compiler.close()
	return nil
}

// keep registers an object that Close has to close; forget removes one that was closed before.
func (d *cpu) keep(c interface{ Close() error }) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[c] = struct{}{}
}

func (d *cpu) forget(c interface{ Close() error }) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

// MapHost implements device.Device: device memory is host memory.
func (d *cpu) MapHost(p unsafe.Pointer, _ int) (device.Ptr, error) {
	return device.Ptr(uintptr(p)), nil
}

// UnmapHost implements device.Device.
func (d *cpu) UnmapHost(p unsafe.Pointer) error {
	d.unwatchMemory(uintptr(p), 0, false)
	return nil
}

func (d *cpu) Peek(dst []byte, src device.Ptr) error {
	emu.CopyOut(dst, uintptr(src))
	return nil
}

func (d *cpu) Poke(dst device.Ptr, value uint32) error {
	emu.Poke(uintptr(dst), value)
	return nil
}

func (d *cpu) MatMulLibrary() (name, why string) { return "", "the cpu device has none" }
