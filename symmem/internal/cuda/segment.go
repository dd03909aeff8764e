package cuda

import (
	"errors"
	"syscall"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// segment is physical memory of some GPU, mapped here.
type segment struct{ c *clib.Segment }

// NewSegment implements device.Device.
func (d *Device) NewSegment(n int) (device.Segment, error) {
	if err := d.quiet(); err != nil {
		return nil, err
	}
	c, err := d.c.NewSegment(n)
	if err != nil {
		return nil, err
	}
	return segment{c}, nil
}

// ImportSegment implements device.Device.
func (d *Device) ImportSegment(fd, n int) (device.Segment, error) {
	defer syscall.Close(fd) // the mapping keeps the memory
	if err := d.quiet(); err != nil {
		return nil, err
	}
	c, err := d.c.ImportSegment(fd, n)
	if err != nil {
		var failed *device.DriverError
		if errors.As(err, &failed) && failed.Hint == "" {
			failed.Hint = "see `symmrepl doctor` for whether these GPUs can map each other's memory"
		}
		return nil, err
	}
	return segment{c}, nil
}

// ImportToken implements device.FabricDevice.
func (d *Device) ImportToken(token []byte, n int) (device.Segment, error) {
	if err := d.quiet(); err != nil {
		return nil, err
	}
	c, err := d.c.ImportToken(token, n)
	if err != nil {
		return nil, err
	}
	return segment{c}, nil
}

func (s segment) Token() ([]byte, error) { return s.c.Token() }

func (s segment) Ptr() device.Ptr { return device.Ptr(s.c.Ptr()) }

func (s segment) Size() int { return s.c.Size() }

func (s segment) Export() (int, error) { return exported(s.c.Export) }

// exported returns a descriptor that child processes do not inherit.
func exported(export func() (int, error)) (int, error) {
	syscall.ForkLock.RLock() // so that no child started meanwhile inherits it
	defer syscall.ForkLock.RUnlock()
	fd, err := export()
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

func (s segment) Close() error { return s.c.Close() }
