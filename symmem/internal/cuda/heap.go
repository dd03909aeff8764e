package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/internal/environ"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The versions of NVSHMEM whose binary interface is known: major and minor number.
var (
	oldestSHMEM = []int{3, 4}
	newestSHMEM = []int{3, 8}
)

// SHMEMLibrary is the opened NVSHMEM library.
type SHMEMLibrary struct {
	c      clib.SHMEM
	turn   chan struct{} // has an element during a call: the library lets one thread at a time call it
	lost   chan struct{} // closed once a call was given up, which may never return
	why    error         // which one; set before lost is closed
	joined bool          // this process is a member of a heap; only who has the turn may look
}

// shmemOnce opens NVSHMEM for the process.
var shmemOnce = sync.OnceValues(func() (*SHMEMLibrary, error) { return openSHMEM(libs.ThisHost()) })

// SHMEM opens the library, once for each process. The error is an *device.UnavailableError.
func SHMEM() (*SHMEMLibrary, error) { return shmemOnce() }

// openSHMEM opens the first library of the host whose version is known.
func openSHMEM(host libs.Host) (*SHMEMLibrary, error) {
	return openLibrary(host, libs.NVSHMEM(), func(path string) (*SHMEMLibrary, error) {
		c, err := clib.LoadSHMEM(path)
		if err != nil {
			return nil, err
		}
		l := &SHMEMLibrary{c: c, turn: make(chan struct{}, 1), lost: make(chan struct{})}
		v := c.Version()
		switch {
		case slices.Compare(v[:2], oldestSHMEM) < 0:
			return nil, fmt.Errorf("%s: version %s is older than 3.4, the oldest that is known", path, l.Version())
		case slices.Compare(v[:2], newestSHMEM) > 0:
			return nil, fmt.Errorf("%s: version %s is newer than 3.8, the newest that is known", path, l.Version())
		}
		return l, nil
	})
}

// Version returns the version, such as "3.4.5".
func (l *SHMEMLibrary) Version() string {
	v := l.c.Version()
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

// take waits for the turn to call the library. It fails once a call was given up.
func (l *SHMEMLibrary) take(ctx context.Context) error {
	select {
	case <-l.lost:
		return l.why
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-l.lost:
		return l.why
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give ends the turn.
func (l *SHMEMLibrary) give() { <-l.turn }

// meet calls the library by f, for which it waits for the other members. If ctx ends before, the
// call is given up, and with it the library.
func (l *SHMEMLibrary) meet(ctx context.Context, function string, f func() error) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		l.give()
		return err
	case <-ctx.Done(): // whoever waits for the turn learns that it never ends
		l.why = fmt.Errorf("NVSHMEM %s cannot be used any more in this process: its %s was given up", l.Version(), function)
		close(l.lost)
		return fmt.Errorf("%s did not return: %w", function, ctx.Err())
	}
}

// heaps implements device.Heaps.
type heaps struct {
	d *Device
	l *SHMEMLibrary
}

// Heaps implements device.HeapDevice.
func (d *Device) Heaps(settings []string) (device.Heaps, error) {
	if err := environ.Complete(settings...); err != nil {
		return nil, err
	}
	l, err := SHMEM()
	if err != nil {
		return nil, err
	}
	return heaps{d, l}, nil
}

func (h heaps) Name() string { return "NVSHMEM " + h.l.Version() }

// NewID implements device.Heaps.
func (h heaps) NewID() ([]byte, error) {
	if err := h.l.take(context.Background()); err != nil {
		return nil, err
	}
	defer h.l.give()
	return h.l.c.NewID(h.d.c)
}

var errOneHeap = errors.New("NVSHMEM serves one world of a process at a time")

// Join implements device.Heaps.
func (h heaps) Join(ctx context.Context, id []byte, rank, size int) (device.Heap, error) {
	err := h.l.meet(ctx, "nvshmemx_hostlib_init_attr", func() error {
		if h.l.joined {
			return errOneHeap
		}
		err := h.l.c.Join(h.d.c, id, rank, size)
		h.l.joined = err == nil
		return err
	})
	if err != nil {
		return nil, err
	}
	return heap(h), nil
}

// heap implements device.Heap.
type heap struct {
	d *Device
	l *SHMEMLibrary
}

// NewSegment implements device.Heap.
func (h heap) NewSegment(ctx context.Context, n int) (device.HeapSegment, error) {
	if err := h.d.quiet(); err != nil {
		return nil, err
	}
	s := heapSegment{h: h, size: n}
	err := h.l.meet(ctx, "nvshmem_malloc", func() (err error) {
		s.at, err = h.l.c.Alloc(h.d.c, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close implements device.Heap.
func (h heap) Close(ctx context.Context) error {
	return h.l.meet(ctx, "nvshmemx_hostlib_finalize", func() error {
		h.l.joined = false
		return h.l.c.Leave(h.d.c)
	})
}

// heapSegment is memory of a heap: this member's, or where a peer's is mapped. It implements
// device.HeapSegment.
type heapSegment struct {
	h    heap
	at   uintptr
	size int
}

func (s heapSegment) Ptr() device.Ptr { return device.Ptr(s.at) }

func (s heapSegment) Size() int { return s.size }

// Export implements device.Segment.
func (s heapSegment) Export() (int, error) {
	return 0, errors.New("memory of NVSHMEM's heap cannot be exported")
}

// Close implements device.Segment.
func (s heapSegment) Close() error { return nil }

// Peer implements device.HeapSegment.
func (s heapSegment) Peer(rank int) (device.Segment, error) {
	if err := s.h.l.take(context.Background()); err != nil {
		return nil, err
	}
	defer s.h.l.give()
	at, err := s.h.l.c.Peer(s.h.d.c, s.at, rank)
	if err == nil && at == 0 {
		err = errors.New("nvshmem_ptr has no pointer to it: see `symmrepl doctor` for whether these GPUs can map each other's memory")
	}
	if err != nil {
		return nil, err
	}
	return heapSegment{s.h, at, s.size}, nil
}

// Free implements device.HeapSegment.
func (s heapSegment) Free(ctx context.Context) error {
	return s.h.l.meet(ctx, "nvshmem_free", func() error { return s.h.l.c.Free(s.h.d.c, s.at) })
}

var shmemKinds = map[device.OneSidedKind]clib.SHMEMKind{device.HeapPut: clib.SHMEMPut, device.HeapGet: clib.SHMEMGet,
	device.HeapPutSignal: clib.SHMEMPutSignal, device.HeapSignalAdd: clib.SHMEMSignalAdd, device.HeapWait: clib.SHMEMWait}

// OneSided implements device.Stream.
func (s *Stream) OneSided(h device.Heap, o device.OneSided) error {
	l := h.(heap).l
	if err := l.take(context.Background()); err != nil {
		return err
	}
	defer l.give()
	return l.c.Run(s.c, clib.SHMEMCall{Kind: shmemKinds[o.Kind], Dst: uintptr(o.Dst), Src: uintptr(o.Src), N: o.N, Peer: o.Peer,
		Word: uintptr(o.Word), Value: o.Value, AtLeast: o.AtLeast})
}
