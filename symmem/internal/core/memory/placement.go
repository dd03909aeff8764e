package memory

import (
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Placement is the layout of a symmetric tensor's parts in its segment, the same for all members:
// [signal pad | data].
//
// Where the device has guard pages, the pad and the data each end at one, so that a kernel that
// goes beyond them faults instead of changing other memory: [free | pad | guard page | free | data
// | guard page of the device]. Up to 15 bytes behind them stay free, for alignment.
type Placement struct {
	Pad, PadBytes int
	guard         int // the page between them, or 0
	Data          int
	End           int
}

// endAlignment is the alignment of the end of memory at a guard page: kernels load 16 bytes at
// once.
const endAlignment = 16

// Place lays out a pad and data of so many bytes. Without guard pages the data begins at a multiple
// of unit.
func Place(guards bool, unit, pad, bytes int) Placement {
	if !guards {
		data := roundUp(pad, unit)
		return Placement{PadBytes: pad, Data: data, End: data + max(bytes, 1)}
	}
	page := os.Getpagesize()
	p := Placement{PadBytes: pad, guard: roundUp(pad, page)}
	p.Pad = p.guard - roundUp(pad, endAlignment)
	p.End = p.guard + page + roundUp(max(bytes, 1), page)
	p.Data = p.End - roundUp(max(bytes, 1), endAlignment)
	return p
}

// DataIn and PadIn are the addresses of the parts in a mapped segment.
func (p Placement) DataIn(s device.Segment) device.Ptr { return s.Ptr() + device.Ptr(p.Data) }
func (p Placement) PadIn(s device.Segment) device.Ptr  { return s.Ptr() + device.Ptr(p.Pad) }

// DataBytes is the room for the data.
func (p Placement) DataBytes() int { return p.End - p.Data }

// Protect makes the page between the parts one that nobody may touch.
func (p Placement) Protect(s device.Segment) {
	if g, ok := s.(device.GuardedSegment); ok && p.guard > 0 {
		g.Guard(p.guard, os.Getpagesize())
	}
}

// Within is the offset of n bytes in a block: they end at its end if that is at a guard page.
func Within(guards bool, blockBytes, n int) device.Ptr {
	if !guards {
		return 0
	}
	return device.Ptr(blockBytes - roundUp(max(n, 1), endAlignment))
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
