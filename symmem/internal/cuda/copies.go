package cuda

import (
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// SetWords implements device.Stream.
func (s *Stream) SetWords(dst device.Ptr, value uint32, n int) error {
	if n == 0 {
		return nil
	}
	return s.c.SetWords(uintptr(dst), value, n)
}

// CopyAll implements device.Stream.
func (s *Stream) CopyAll(copies []device.Copy) error {
	lists := make([]uint64, 3*len(copies))
	dst, src, size := lists[:len(copies)], lists[len(copies):2*len(copies)], lists[2*len(copies):]
	for i, c := range copies {
		dst[i], src[i], size[i] = uint64(c.Dst), uint64(c.Src), uint64(c.N)
	}
	return s.c.CopyAll(dst, src, size, s.d.capturing.Load() != nil)
}

// Values implements device.Stream.
func (s *Stream) Values(ops []device.Value) error {
	list := make([]clib.Value, len(ops))
	for i, v := range ops {
		list[i] = clib.Value{Word: uintptr(v.Word), Value: v.Value, Await: v.Await}
	}
	return s.c.Values(list)
}

// Peek implements device.Device.
func (d *Device) Peek(dst []byte, src device.Ptr) error { return d.c.Peek(dst, uintptr(src)) }

// Poke implements device.Device.
func (d *Device) Poke(dst device.Ptr, value uint32) error { return d.c.Poke(uintptr(dst), value) }
