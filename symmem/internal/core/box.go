package symmem

import (
	"fmt"
	"math/bits"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Box returns the addresses at which the members have memory of n bytes for the call, which has not
// entered. It is collective over the group and waits for the members on the host if the group's
// memory is smaller; all members ask for the same size.
func (c *Call) Box(n int) (at abi.Ptrs) {
	g, rt := c.opts.group, c.rt
	rt.mu.Lock()
	b := g.work.box(n)
	rt.mu.Unlock()
	if b == nil {
		b = g.makeBox(c.Record.Op, n)
	}
	for i, s := range b.mapped {
		at[i] = s.Ptr()
	}
	return at
}

func (g *Group) makeBox(op string, n int) *box {
	const least = 1 << 16
	rt := g.rt
	rt.hostCall(op)
	rt.inStep(op) // else other members may not come
	g.meeting.Lock()
	defer g.meeting.Unlock()
	size := 1 << bits.Len(uint(max(n, least)-1))
	seg, err := rt.dev.NewSegment(size)
	mapped, _, err := g.share(op, fmt.Sprintf("%d bytes of the group's workspace", size), seg, err, func(int) device.Segment { return nil })
	if err != nil {
		if seg != nil {
			seg.Close()
		}
		panic(rt.failure(op, err))
	}
	b := &box{mapped, size}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.work.boxes = append(g.work.boxes, b)
	return b
}
