package cuda

import (
	"fmt"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Stream implements device.Stream.
type Stream struct {
	d    *Device
	c    clib.Stream
	kept []unsafe.Pointer // pinned sources of the copies captured so far
}

// NewStream implements device.Device.
func (d *Device) NewStream() (device.Stream, error) {
	c, err := d.c.NewStream()
	if err != nil {
		return nil, err
	}
	return &Stream{d: d, c: c}, nil
}

// Launch implements device.Stream.
func (s *Stream) Launch(k device.Kernel, l device.Launch) error {
	kern := k.(*kernel)
	if len(l.Args) < kern.args {
		return fmt.Errorf("kernel %s takes %d bytes of arguments, %d were given", kern.name, kern.args, len(l.Args))
	}
	if l.Shared > int(kern.dynamic.Load()) {
		if err := kern.allow(l.Shared); err != nil {
			return err
		}
	}
	return s.c.Launch(kern.c, l.Grid, l.Block, l.Shared, l.Overlap && s.d.overlaps, l.Args)
}

// Copy implements device.Stream.
func (s *Stream) Copy(dst, src device.Ptr, n int) error {
	if n == 0 {
		return nil
	}
	return s.c.Copy(uintptr(dst), uintptr(src), n)
}

// Set implements device.Stream.
func (s *Stream) Set(dst device.Ptr, value byte, n int) error {
	if n == 0 {
		return nil
	}
	return s.c.Set(uintptr(dst), value, n)
}

// Write implements device.Stream. A captured copy reads its source at every replay, so the graph
// keeps a copy of src.
func (s *Stream) Write(dst device.Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	recorder := s.d.capturing.Load()
	if recorder == nil && len(src) > stageSize {
		return s.WriteFrom(dst, device.Bytes(src), len(src))
	}
	if recorder == nil {
		return s.c.Write(uintptr(dst), src)
	}
	p, err := s.c.WriteKept(uintptr(dst), src)
	if err == nil {
		recorder.kept = append(recorder.kept, p)
	}
	return err
}

// Read implements device.Stream.
func (s *Stream) Read(dst []byte, src device.Ptr) error {
	if err := s.d.quiet(); err != nil || len(dst) == 0 {
		return err
	}
	if len(dst) > stageSize {
		return s.ReadTo(device.Bytes(dst), src, len(dst))
	}
	return s.c.Read(dst, uintptr(src))
}

// Synchronize implements device.Stream.
func (s *Stream) Synchronize() error {
	if err := s.d.quiet(); err != nil {
		return err
	}
	return s.c.Synchronize()
}

// Idle implements device.Stream.
func (s *Stream) Idle() (bool, error) {
	if err := s.d.quiet(); err != nil {
		return false, err
	}
	return s.c.Idle()
}

// Record implements device.Stream.
func (s *Stream) Record(e device.Event) error { return s.c.Record(e.(event).c) }

// Wait implements device.Stream.
func (s *Stream) Wait(e device.Event) error {
	return s.c.Wait(e.(event).c, s.d.capturing.Load() == nil)
}

// Awaits implements device.Awaiter. It does not know of all waits: see clib's sy_event_wait.
func (s *Stream) Awaits() bool { return s.d.quiet() == nil && s.c.Awaits() }

// Close implements device.Stream. It drops an open capture.
func (s *Stream) Close() error {
	if s.d.capturing.Load() == s {
		if g, err := s.EndCapture(); err == nil {
			g.Close()
		}
	}
	return s.c.Close()
}

// event implements device.Event.
type event struct {
	d *Device
	c clib.Event
}

// NewEvent implements device.Device.
func (d *Device) NewEvent() (device.Event, error) {
	c, err := d.c.NewEvent()
	if err != nil {
		return nil, err
	}
	return event{d, c}, nil
}

func (e event) Synchronize() error {
	if err := e.d.quiet(); err != nil {
		return err
	}
	return e.c.Synchronize()
}

func (e event) Reached() (bool, error) { return e.c.Reached() }

func (e event) Since(from device.Event) (float64, error) { return e.c.Since(from.(event).c) }

func (e event) Close() error { return e.c.Close() }
