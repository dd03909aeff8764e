package cuda

import (
	"syscall"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// multicast implements device.Multicast.
type multicast struct {
	d *Device
	c *clib.Multicast
}

// NewMulticast implements device.MulticastDevice.
func (d *Device) NewMulticast(n, size int) (device.Multicast, error) {
	c, err := d.c.NewMulticast(n, size)
	if err != nil {
		return nil, err
	}
	return multicast{d, c}, nil
}

// ImportMulticast implements device.MulticastDevice.
func (d *Device) ImportMulticast(fd, size int) (device.Multicast, error) {
	defer syscall.Close(fd)
	c, err := d.c.ImportMulticast(fd, size)
	if err != nil {
		return nil, err
	}
	return multicast{d, c}, nil
}

func (m multicast) Size() int            { return m.c.Size() }
func (m multicast) Export() (int, error) { return exported(m.c.Export) }
func (m multicast) Join() error          { return m.c.Join() }

func (m multicast) Bind(s device.Segment) error {
	if err := m.d.quiet(); err != nil {
		return err
	}
	return m.c.Bind(s.(segment).c)
}

func (m multicast) Map() (device.Ptr, error) {
	if err := m.d.quiet(); err != nil {
		return 0, err
	}
	p, err := m.c.Map()
	return device.Ptr(p), err
}

func (m multicast) Close() error { return m.c.Close() }

// multicastWhy explains why NVLink multicast is not used; it is empty if multicast is used. able
// reports whether the device supports it.
func multicastWhy(able, known bool, getenv func(string) string) string {
	switch why := device.MulticastDisabled(getenv); {
	case why != "":
		return why
	case !able:
		return "the device does not support it"
	case !known:
		return "the driver is older than CUDA 12.1"
	}
	return ""
}
