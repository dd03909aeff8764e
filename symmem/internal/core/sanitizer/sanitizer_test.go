package sanitizer

import (
	"errors"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// watched is a device that notes its marks.
type watched struct {
	device.Sanitizer
	fails error
	marks []int
	calls []int
}

func (w *watched) Sanitize(device.Sanitizing) error { return w.fails }
func (w *watched) Mark(_ device.Stream, _ device.Ptr, n int, _ device.MemoryState) {
	w.marks = append(w.marks, n)
}
func (w *watched) Calling(caller int) { w.calls = append(w.calls, caller) }

// Marks reach the device while the sanitizer is on, also where their stream is gone, and none after
// Pause.
func TestMarks(t *testing.T) {
	d := &watched{}
	s := Of(d)
	gone := errors.New("gone")
	mark := func(n int, err error) {
		s.Mark(0x1000, n, device.MemoryDefined, func(mark func(device.Stream) error) error {
			if err != nil {
				return err
			}
			return mark(nil)
		})
	}
	mark(1, nil)
	if err := s.Switch(device.Sanitizing{On: true, Seed: 7}, nil); err != nil || !s.On() || s.Seed() != 7 || !s.Marks() {
		t.Fatalf("on %v with seed %d: %v", s.On(), s.Seed(), err)
	}
	mark(2, nil)
	mark(3, gone)
	s.Calling(func() int { return 5 })
	s.Pause()
	mark(4, nil)
	if err := s.Switch(device.Sanitizing{}, gone); err != gone || !s.On() {
		t.Errorf("a switch that fails gives %v, on %v", err, s.On())
	}
	mark(5, nil)
	if len(d.marks) != 3 || d.marks[0] != 2 || d.marks[1] != 3 || d.marks[2] != 5 || len(d.calls) != 1 {
		t.Errorf("marks are %v, calls %v", d.marks, d.calls)
	}
	if err := s.Switch(device.Sanitizing{}, nil); err != nil || s.On() || s.Marks() {
		t.Errorf("switched off: on %v, marks %v, %v", s.On(), s.Marks(), err)
	}
	s.Calling(func() int { panic("the sanitizer is off") })
}

func TestUnavailable(t *testing.T) {
	s := Of(nil)
	if s.Device() != nil || s.Unavailable("cuda") == nil || Of(&watched{}).Unavailable("cpu") != nil {
		t.Errorf("no device: %v, %v", s.Device(), s.Unavailable("cuda"))
	}
}
