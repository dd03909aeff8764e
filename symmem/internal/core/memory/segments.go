package memory

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Export returns a descriptor of a segment, or of another object of a device, for other processes
// of this host.
func Export(object interface{ Export() (int, error) }) (*os.File, error) {
	fd, err := object.Export()
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "segment"), nil
}

// Import calls object with a copy of a descriptor, which object closes. The descriptor stays the
// caller's.
func Import[T any](f *os.File, object func(fd int) (T, error)) (o T, err error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return o, err
	}
	return object(fd)
}

// Token returns the name of a segment on other hosts of the fabric.
func Token(s device.Segment) ([]byte, error) {
	f, ok := s.(device.FabricSegment)
	if !ok {
		return nil, fmt.Errorf("a segment of %T has no token", s)
	}
	return f.Token()
}

// ImportToken maps the segment of a token.
func ImportToken(dev device.Device, token []byte, size int) (device.Segment, error) {
	d, ok := dev.(device.FabricDevice)
	if !ok {
		return nil, fmt.Errorf("%T maps no tokens", dev)
	}
	return d.ImportToken(token, size)
}
