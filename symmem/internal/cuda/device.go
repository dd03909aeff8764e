package cuda

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Device is an open GPU. It implements device.Device.
type Device struct {
	c         clib.Device
	info      device.Info
	uuid      [16]byte
	fabric    string // the fabric that it has joined, or ""
	visible   int    // number of GPUs that the process sees
	compiler  *cubin.Compiler
	preparing sync.WaitGroup // makes the compiler ready
	watch     *device.Watch
	overlaps  bool // whether launches may overlap: from Hopper on

	// capturing is the stream that captures, or nil.
	capturing atomic.Pointer[Stream]

	// units holds the compiled sources of package kernels, by their names from kernels.Source.
	builtins sync.Mutex
	units    map[string]*module

	// copier copies data for the network engine, once there is an engine.
	copying sync.Mutex
	copier  *clib.Copier

	staging  staging
	monitor  monitor
	products products
}

// The interfaces of package device that a GPU satisfies.
var (
	_ device.Device           = (*Device)(nil)
	_ device.BoundsChecker    = (*Device)(nil)
	_ device.CollectiveDevice = (*Device)(nil)
	_ device.MulticastDevice  = (*Device)(nil)
	_ device.HeapDevice       = (*Device)(nil)
	_ device.FabricDevice     = (*Device)(nil)
	_ device.CompilerNamer    = (*Device)(nil)
	_ device.Loader           = (*Device)(nil)
	_ device.Linked           = (*Device)(nil)
	_ device.Monitored        = (*Device)(nil)
	_ device.Recorder         = (*Device)(nil)
	_ device.FabricSegment    = segment{}
	_ device.HeapSegment      = heapSegment{}
	_ device.Definer          = (*module)(nil)
)

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Watch implements device.Device.
func (d *Device) Watch() *device.Watch { return d.watch }

// Alloc implements device.Device.
func (d *Device) Alloc(n int) (device.Ptr, error) {
	if err := d.quiet(); err != nil {
		return 0, err
	}
	p, err := d.c.Alloc(n)
	return device.Ptr(p), err
}

// Free implements device.Device.
func (d *Device) Free(p device.Ptr) error { return d.c.Free(uintptr(p)) }

// MapHost implements device.Device.
func (d *Device) MapHost(p unsafe.Pointer, n int) (device.Ptr, error) {
	if err := d.quiet(); err != nil {
		return 0, err
	}
	at, err := d.c.HostRegister(p, n)
	return device.Ptr(at), err
}

// UnmapHost implements device.Device.
func (d *Device) UnmapHost(p unsafe.Pointer) error { return d.c.HostUnregister(p) }

// Copier implements device.Device.
func (d *Device) Copier() (unsafe.Pointer, error) {
	d.copying.Lock()
	defer d.copying.Unlock()
	if d.copier == nil {
		add, err := d.Builtin("signal_add", 0)
		if err != nil {
			return nil, err
		}
		atomic, err := d.Builtin("net_atomic", 0)
		if err != nil {
			return nil, err
		}
		c, err := d.c.OpenCopier(add.(*kernel).c, atomic.(*kernel).c)
		if err != nil {
			return nil, err
		}
		d.copier = &c
	}
	return d.copier.Face(), nil
}

// quiet returns ErrCapturing while any stream captures: a stream joins a capture by waiting for its
// event, so no stream may be used.
func (d *Device) quiet() error {
	if d.capturing.Load() != nil {
		return device.ErrCapturing
	}
	return nil
}

// Close implements device.Device.
func (d *Device) Close() error {
	d.preparing.Wait()
	d.compiler.Close()
	var errs []error
	for _, m := range d.units {
		errs = append(errs, m.Close())
	}
	if d.copier != nil {
		errs = append(errs, d.copier.Close())
	}
	errs = append(errs, d.staging.close(d))
	errs = append(errs, d.c.HostFree(unsafe.Pointer(d.watch)), d.c.Close())
	return firstOf(errs)
}

// firstOf joins the errors of a release. If the context is lost it returns that error alone: the
// others only repeat it.
func firstOf(errs []error) error {
	for _, err := range errs {
		var failed *device.DriverError
		if errors.As(err, &failed) && failed.Poisoned {
			return err
		}
	}
	return errors.Join(errs...)
}
