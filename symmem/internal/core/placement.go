package symmem

import (
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// placement is where the parts of a symmetric tensor are in its segment, the same for all members: [signal pad | data]. The
// data begins where a window of NCCL's can.
//
// Where the device has guard pages, the pad and the data each end at one, so that a kernel that goes beyond them is told, instead of changing what lies
// behind them: [free | pad | guard page | free | data | guard page of the device]. Up to 15 bytes behind them stay free, for alignment.
type placement struct {
	pad, padBytes int
	guard         int // the page between them, or 0
	data          int
	end           int
}

// endAlignment is that of what ends at a guard page: kernels load 16 bytes at once.
const endAlignment = 16

func (rt *Runtime) place(pad, bytes int) placement {
	if !rt.info.Guards {
		data := roundUp(pad, windowUnit)
		return placement{padBytes: pad, data: data, end: data + max(bytes, 1)}
	}
	page := os.Getpagesize()
	p := placement{padBytes: pad, guard: roundUp(pad, page)}
	p.pad = p.guard - roundUp(pad, endAlignment)
	p.end = p.guard + page + roundUp(max(bytes, 1), page)
	p.data = p.end - roundUp(max(bytes, 1), endAlignment)
	return p
}

// dataIn and padIn are where the parts are in a mapped segment.
func (p placement) dataIn(s device.Segment) device.Ptr { return s.Ptr() + device.Ptr(p.data) }
func (p placement) padIn(s device.Segment) device.Ptr  { return s.Ptr() + device.Ptr(p.pad) }

// protect makes the page between the parts one that nobody may touch.
func (p placement) protect(s device.Segment) {
	if g, ok := s.(device.GuardedSegment); ok && p.guard > 0 {
		g.Guard(p.guard, os.Getpagesize())
	}
}

// renewed prepares a segment that is mapped anew.
func (rt *Runtime) renewed(s device.Segment, p placement) {
	p.protect(s)
	rt.located.renew(s.Ptr(), s.Size())
}

// within is where n bytes begin in a block of a device: at its end if that is at a guard page.
func (rt *Runtime) within(blockBytes, n int) device.Ptr {
	if !rt.info.Guards {
		return 0
	}
	return device.Ptr(blockBytes - roundUp(max(n, 1), endAlignment))
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
