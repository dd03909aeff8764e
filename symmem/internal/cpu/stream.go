//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

type stream struct {
	device    *cpu
	emu       *emu.Stream
	capturing bool
	call      uint64 // whose work a recording takes what comes next for
	once      sync.Once
	ending    sync.RWMutex // held for reading while Stands looks, for writing while Close ends the stream
	ended     bool         // guarded by ending
}

func (d *cpu) NewStream() (device.Stream, error) {
	s := &stream{device: d, emu: d.emu.NewStream()}
	d.keep(s)
	return s, nil
}

func (s *stream) Launch(k device.Kernel, l device.Launch) error {
	mine, ok := k.(*kernel)
	if !ok {
		return invalid("Launch", "the kernel belongs to another kind of device")
	}
	blocks, threads := 1, 1
	for i := range 3 {
		if l.Grid[i] < 1 || l.Block[i] < 1 || l.Grid[i] > s.device.info.MaxGrid[i] || l.Block[i] > s.device.info.MaxBlock[i] {
			return invalid("Launch", fmt.Sprintf("grid %v and block %v are not within [1 1 1] and %v, %v", l.Grid, l.Block,
				s.device.info.MaxGrid, s.device.info.MaxBlock))
		}
		blocks, threads = blocks*l.Grid[i], threads*l.Block[i]
	}
	if threads > maxThreads {
		return invalid("Launch", fmt.Sprintf("a block of %d threads; at most %d are possible", threads, maxThreads))
	}
	if l.Shared < 0 || l.Shared > sharedPerBlock {
		return invalid("Launch", fmt.Sprintf("%d bytes of shared memory; at most %d are possible", l.Shared, sharedPerBlock))
	}
	if len(l.Args) != mine.emu.Bytes {
		return invalid("Launch", fmt.Sprintf("%s takes %d bytes of arguments, not %d", mine.Name(), mine.emu.Bytes, len(l.Args)))
	}
	if s.device.watching.Load() {
		watched, err := s.device.watched(mine)
		if err != nil {
			return err
		}
		mine = watched
	}
	s.emu.Launch(mine.emu, l.Grid, l.Block, l.Shared, l.Args)
	return nil
}

func invalid(call, text string) error {
	return &device.DriverError{Call: call, Code: int(unix.EINVAL), Name: "EINVAL", Text: text}
}

func (s *stream) Copy(dst, src device.Ptr, n int) error {
	s.emu.Copy(uintptr(dst), uintptr(src), n)
	return nil
}

// Write copies much at once if nothing is ahead of it: what is queued is copied twice.
func (s *stream) Write(dst device.Ptr, src []byte) error {
	if len(src) >= device.PieceSize && !s.capturing && !s.device.watching.Load() && s.emu.Idle() {
		return device.FillPieces(device.HostBytes(dst, len(src)), device.Bytes(src), 0)
	}
	s.emu.Write(uintptr(dst), src)
	return nil
}

func (s *stream) Read(dst []byte, src device.Ptr) error {
	if err := s.Synchronize(); err != nil {
		return err
	}
	s.device.emu.Touched(uintptr(src), len(dst), false)
	emu.CopyOut(dst, uintptr(src))
	return nil
}

// WriteFrom reads into the memory itself, which is the host's.
func (s *stream) WriteFrom(dst device.Ptr, src io.ReaderAt, n int) error {
	if err := s.Synchronize(); err != nil || n == 0 {
		return err
	}
	s.device.emu.Touched(uintptr(dst), n, true)
	return device.FillPieces(device.HostBytes(dst, n), src, 0)
}

func (s *stream) ReadTo(dst io.WriterAt, src device.Ptr, n int) error {
	if err := s.Synchronize(); err != nil || n == 0 {
		return err
	}
	s.device.emu.Touched(uintptr(src), n, false)
	return device.GivePieces(device.HostBytes(src, n), dst, 0)
}

func (s *stream) Set(dst device.Ptr, value byte, n int) error {
	s.emu.Set(uintptr(dst), value, n)
	return nil
}

func (s *stream) SetWords(dst device.Ptr, value uint32, n int) error {
	s.emu.SetWords(uintptr(dst), value, n)
	return nil
}

func (s *stream) CopyAll(copies []device.Copy) error {
	for _, c := range copies {
		s.emu.Copy(uintptr(c.Dst), uintptr(c.Src), c.N)
	}
	return nil
}

func (s *stream) Values(ops []device.Value) error {
	for _, v := range ops {
		if v.Await {
			s.emu.Await(uintptr(v.Word), v.Value)
		} else {
			s.emu.Store(uintptr(v.Word), v.Value)
		}
	}
	return nil
}

func (s *stream) MatMul(device.MatMul) error {
	_, why := s.device.MatMulLibrary()
	return &device.UnavailableError{Kind: "cpu", Why: why}
}

func (s *stream) Collective(device.Communicator, device.Collective) error {
	return &device.UnavailableError{Kind: "cpu", Why: "there is no library of collectives for it"}
}

func (s *stream) OneSided(device.Heap, device.OneSided) error {
	return &device.UnavailableError{Kind: "cpu", Why: "there is no library with a symmetric heap for it"}
}

func (s *stream) Record(e device.Event) error {
	mine, ok := e.(*event)
	if !ok {
		return invalid("Record", "the event belongs to another kind of device")
	}
	s.emu.Record(mine.emu)
	return nil
}

func (s *stream) Wait(e device.Event) error {
	mine, ok := e.(*event)
	if !ok {
		return invalid("Wait", "the event belongs to another kind of device")
	}
	s.emu.Wait(mine.emu)
	return nil
}

func (s *stream) Synchronize() error {
	if s.capturing {
		return device.ErrCapturing
	}
	if f := s.emu.Synchronize(); f != nil {
		return s.device.kernelFault(f)
	}
	return nil
}

func (s *stream) Idle() (bool, error) {
	if s.capturing {
		return false, device.ErrCapturing
	}
	return s.emu.Idle(), nil
}

// Awaits implements device.Awaiter.
func (s *stream) Awaits() bool { return s.emu.Awaits() }

// Stands implements device.Stander. It does not wait for Close.
func (s *stream) Stands() (device.Stand, bool) {
	if !s.ending.TryRLock() {
		return device.Stand{}, false
	}
	defer s.ending.RUnlock()
	if s.ended {
		return device.Stand{}, false
	}
	number, looks, stands := s.emu.Stands()
	return device.Stand{Number: number, Looks: looks}, stands
}

func (s *stream) BeginCapture() error {
	if s.capturing {
		return device.ErrCapturing
	}
	s.capturing = true
	s.emu.BeginCapture()
	return nil
}

func (s *stream) EndCapture() (device.Graph, error) {
	if !s.capturing {
		return nil, invalid("EndCapture", "the stream does not capture")
	}
	s.capturing = false
	return &graph{emu: s.emu.EndCapture()}, nil
}

// Close interrupts running work.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.device.forget(s)
		s.ending.Lock()
		defer s.ending.Unlock()
		s.ended = true
		s.emu.Close()
	})
	return nil
}

// graph records the work of one stream; it synchronises with other streams through events outside
// of the graph.
type graph struct {
	emu  *emu.Graph
	once sync.Once
}

func (g *graph) Launch(s device.Stream) error {
	mine, ok := s.(*stream)
	if !ok {
		return invalid("Launch", "the stream belongs to another kind of device")
	}
	g.emu.Launch(mine.emu)
	return nil
}

func (g *graph) Close() error {
	g.once.Do(g.emu.Close)
	return nil
}

type event struct {
	device *cpu
	emu    *emu.Event
	once   sync.Once
}

func (d *cpu) NewEvent() (device.Event, error) { return &event{device: d, emu: emu.NewEvent()}, nil }

func (e *event) Synchronize() error {
	e.emu.Synchronize()
	e.device.emu.Heard(e.emu)
	return nil
}

func (e *event) Reached() (bool, error) { return e.emu.Reached(), nil }

func (e *event) Since(earlier device.Event) (float64, error) {
	from, ok := earlier.(*event)
	if !ok {
		return 0, invalid("Since", "the event belongs to another kind of device")
	}
	a, b := from.emu.Nanoseconds(), e.emu.Nanoseconds()
	if a == 0 || b == 0 {
		return 0, invalid("Since", "an event was not reached yet")
	}
	return float64(int64(b-a)) / 1e3, nil
}

func (e *event) Close() error {
	e.once.Do(e.emu.Close)
	return nil
}
