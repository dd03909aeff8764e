package cuda

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// graph implements device.Graph.
type graph struct {
	d    *Device
	c    clib.Graph
	kept []unsafe.Pointer // the sources of its copies from the host
}

// BeginCapture implements device.Stream. One stream of a device captures at a time; others join it
// through events.
func (s *Stream) BeginCapture() error {
	if !s.d.capturing.CompareAndSwap(nil, s) {
		return device.ErrCapturing
	}
	if err := s.c.BeginCapture(); err != nil {
		s.d.capturing.Store(nil)
		return err
	}
	return nil
}

// EndCapture implements device.Stream.
func (s *Stream) EndCapture() (device.Graph, error) {
	c, err := s.c.EndCapture(s.d.c)
	s.d.capturing.CompareAndSwap(s, nil)
	kept := s.kept
	s.kept = nil
	if err != nil {
		s.d.release(kept)
		return nil, err
	}
	return &graph{s.d, c, kept}, nil
}

// Launch implements device.Graph.
func (g *graph) Launch(s device.Stream) error {
	if err := g.d.quiet(); err != nil {
		return err
	}
	return g.c.Launch(s.(*Stream).c)
}

// Close implements device.Graph. Runs of the graph must have finished.
func (g *graph) Close() error {
	return firstOf([]error{g.c.Close(), g.d.release(g.kept)})
}

func (d *Device) release(buffers []unsafe.Pointer) error {
	var errs []error
	for _, p := range buffers {
		errs = append(errs, d.c.HostFree(p))
	}
	return firstOf(errs)
}
