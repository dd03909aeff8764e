package cuda

import (
	"io"
	"sync"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Large copies between the host and the GPU.
//
// They go through pinned memory of the device's own, in slots that take turns: while the copy engine
// fills or empties some, goroutines of the host empty or fill another one. The host's half is the
// slower one where the memory that they copy to is new, because the system gives it page by page. So
// pinning the user's memory instead would gain nothing, and cost what the pages cost.
//
// Streams share the slots. A copy takes them when its stream has nothing left to do, and gives them
// back when it is over: nothing that it does meanwhile depends on other work of this process.

const (
	// stageSize is the size from which copies are large. A stream has as much pinned memory of its own,
	// so that smaller ones need not wait for the stream.
	stageSize = 4 << 20

	slotSize = 8 << 20
	slots    = 4
)

// staging is the slots of a device. They are made by the first copy that needs them.
type staging struct {
	mu     sync.Mutex
	memory unsafe.Pointer // of all slots
	copied [slots]clib.Event
}

// open makes the slots. mu is held.
func (g *staging) open(d *Device) error {
	if g.memory != nil {
		return nil
	}
	for i := range g.copied {
		if g.copied[i] == (clib.Event{}) {
			e, err := d.c.NewEvent()
			if err != nil {
				return err
			}
			g.copied[i] = e
		}
	}
	memory, err := d.c.HostAlloc(slots * slotSize)
	g.memory = memory
	return err
}

// close gives the slots back.
func (g *staging) close(d *Device) error {
	var errs []error
	for _, e := range g.copied {
		if e != (clib.Event{}) {
			errs = append(errs, e.Close())
		}
	}
	if g.memory != nil {
		errs = append(errs, d.c.HostFree(g.memory))
	}
	*g = staging{}
	return firstOf(errs)
}

// slot is the memory of slot i.
func (g *staging) slot(i, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(g.memory, i%slots*slotSize)), n)
}

// staged calls f with the slots, when the stream has nothing left to do, and waits for the copies
// that it began.
func (s *Stream) staged(f func(g *staging) error) error {
	if err := s.Synchronize(); err != nil {
		return err
	}
	g := &s.d.staging
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(s.d); err != nil {
		return err
	}
	err := f(g)
	if e := s.c.Synchronize(); err == nil {
		err = e
	}
	return err
}

// chunk is the size of chunk i of n bytes, at most 0 behind the last one.
func chunk(i, n int) int { return min(slotSize, n-i*slotSize) }

// WriteFrom implements device.Stream.
func (s *Stream) WriteFrom(dst device.Ptr, src io.ReaderAt, n int) error {
	return s.staged(func(g *staging) error {
		for i := 0; chunk(i, n) > 0; i++ {
			if i >= slots {
				if err := g.copied[i%slots].Synchronize(); err != nil {
					return err
				}
			}
			p := g.slot(i, chunk(i, n))
			if err := device.FillPieces(p, src, i*slotSize); err != nil {
				return err
			}
			if err := s.copyChunk(g, i, uintptr(dst)+uintptr(i*slotSize), address(p), len(p)); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadTo implements device.Stream.
func (s *Stream) ReadTo(dst io.WriterAt, src device.Ptr, n int) error {
	return s.staged(func(g *staging) error {
		ask := func(i int) error {
			if chunk(i, n) <= 0 {
				return nil
			}
			p := g.slot(i, chunk(i, n))
			return s.copyChunk(g, i, address(p), uintptr(src)+uintptr(i*slotSize), len(p))
		}
		for i := range slots {
			if err := ask(i); err != nil {
				return err
			}
		}
		for i := 0; chunk(i, n) > 0; i++ {
			if err := g.copied[i%slots].Synchronize(); err != nil {
				return err
			}
			if err := device.GivePieces(g.slot(i, chunk(i, n)), dst, i*slotSize); err != nil {
				return err
			}
			if err := ask(i + slots); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyChunk begins the copy of a chunk, and marks its slot.
func (s *Stream) copyChunk(g *staging, i int, dst, src uintptr, n int) error {
	if err := s.c.Copy(dst, src, n); err != nil {
		return err
	}
	return s.c.Record(g.copied[i%slots])
}

func address(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
