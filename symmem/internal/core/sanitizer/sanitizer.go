// Package sanitizer reports the actions of a rank's host to the sanitizer of its device, while it
// is on: the states of memory, meetings of ranks, and the place in the program. Calls while it is
// off cost an atomic load. Core switches it on together with other ranks, and explains its
// findings.
package sanitizer

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Sanitizer is the sanitizer of a device. Its methods may be called from several goroutines.
type Sanitizer struct {
	dev  device.Sanitizer // nil where the device has none: then it is never on
	on   atomic.Bool
	seed atomic.Int64

	// The garbage collector marks memory, too, at any time: a mark that came when the sanitizer had
	// forgotten all memory would be found later in a tensor that was made of this memory meanwhile.
	marking sync.RWMutex // held for reading while a mark is issued, and while marks changes
	marks   atomic.Bool
}

// Of returns the sanitizer of a device, which is off.
func Of(dev device.Device) *Sanitizer {
	s, _ := dev.(device.Sanitizer)
	return &Sanitizer{dev: s}
}

// Device returns the device's part; nil if it has none.
func (s *Sanitizer) Device() device.Sanitizer { return s.dev }

// On reports whether accesses are watched.
func (s *Sanitizer) On() bool { return s.on.Load() }

// Seed is the seed that it was switched on with.
func (s *Sanitizer) Seed() int64 { return s.seed.Load() }

// Unavailable returns an error if the device, which is of the kind, has no sanitizer.
func (s *Sanitizer) Unavailable(kind string) error {
	if s.dev != nil {
		return nil
	}
	return &device.UnavailableError{Kind: kind, Why: "kernels are watched on the cpu device only", Hint: "start with --device cpu"}
}

// Pause ends marking: no mark is issued any more until Switch.
func (s *Sanitizer) Pause() { s.setMarks(false) }

// Switch switches the sanitizer of a rank on or off. If failed is not nil it stays as it is, and
// marking goes on.
func (s *Sanitizer) Switch(to device.Sanitizing, failed error) error {
	if failed == nil {
		failed = s.dev.Sanitize(to)
	}
	if failed == nil {
		s.on.Store(to.On)
		s.seed.Store(to.Seed)
	}
	s.setMarks(s.on.Load())
	return failed
}

func (s *Sanitizer) setMarks(on bool) {
	s.marking.Lock()
	defer s.marking.Unlock()
	s.marks.Store(on)
}

// Marks reports whether Mark does anything.
func (s *Sanitizer) Marks() bool { return s.marks.Load() }

// Mark sets the state of n bytes of memory. issue calls its argument with a stream of the device:
// the mark counts when the stream comes to it. If issue fails, the mark counts at once.
func (s *Sanitizer) Mark(p device.Ptr, n int, as device.MemoryState, issue func(mark func(device.Stream) error) error) {
	s.marking.RLock()
	defer s.marking.RUnlock()
	if !s.marks.Load() {
		return
	}
	mark := func(d device.Stream) error {
		s.dev.Mark(d, p, n, as)
		return nil
	}
	if issue(mark) != nil {
		mark(nil)
	}
}

// Publish and Observe are the two halves of a meeting of ranks on the host: a rank that observes is
// ordered behind everything that other ranks did before they published.
func (s *Sanitizer) Publish() {
	if s.On() {
		s.dev.Publish()
	}
}

func (s *Sanitizer) Observe() {
	if s.On() {
		s.dev.Observe()
	}
}

// Flushed notes that the operations that kernels have posted are complete on this rank, or have
// ended everywhere.
func (s *Sanitizer) Flushed(ended bool) {
	if s.On() {
		s.dev.Flushed(ended)
	}
}

// Calling sets the place in the program, before its next call.
func (s *Sanitizer) Calling(caller func() int) {
	if s.On() {
		s.dev.Calling(caller())
	}
}

// Begun and Ended note that a session begins or has ended a cell, by its number.
func (s *Sanitizer) Begun(run uint64) {
	if s.On() {
		s.dev.Begun(run)
	}
}

func (s *Sanitizer) Ended(run uint64) {
	if s.On() {
		s.dev.Ended(run)
	}
}

// Watcher returns the watcher for a network engine whose board is n bytes; nil while the sanitizer
// is off.
func (s *Sanitizer) Watcher(board device.Ptr, n int) unsafe.Pointer {
	if !s.On() {
		return nil
	}
	return s.dev.Network(board, n)
}

// Setting describes a switch, for the comparison of ranks: "true 7".
func Setting(on bool, seed int64) string { return fmt.Sprint(on, " ", seed) }
