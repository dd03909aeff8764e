package symmem

import (
	"errors"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Multicast
//
// If the devices of all members have NVLink multicast, an allocation has one more address, which
// stands for the same place in the copies of all members: a load from it returns the sum of the
// copies, and a store to it reaches every copy. The first handle of a group makes it, if the group
// is on one host and each rank has a device of its own; it ends with the allocation. Handles of
// other groups have none, and operations that need it say why.

// at is the address that stands for a place in the segments, so many bytes from their start; 0 if
// there is none.
func (c *multicasting) at(offset device.Ptr) device.Ptr {
	if c == nil || c.m == nil {
		return 0
	}
	return c.ptr + offset
}

// whyNoMulticast returns the reason why handles of the group have no multicast; "" if the group
// allows it. The devices may still refuse it.
func (g *Group) whyNoMulticast() (why string) {
	switch {
	case g.split.Spans():
		return fmt.Sprintf("%v spans hosts", g)
	case g.onFabric():
		return "memory that several machines map has none"
	case g.sharesDevices():
		return g.rt.sharing().String()
	case !g.work.Multicast:
		return "not all ranks have it"
	}
	return ""
}

// makeMulticast makes the multicast address of an allocation. It is collective over the group; the
// caller holds g.meeting. It returns an error only if the members cannot meet.
func (a *allocation) makeMulticast(op string, g *Group) (*multicasting, error) {
	d, ok := g.rt.dev.(device.MulticastDevice)
	if !ok {
		return nil, nil // a device that emulates multicast needs no address
	}
	c := &multicasting{why: g.whyNoMulticast()}
	if c.why == "" && a.inHeap() {
		c.why = "memory of NVSHMEM's heap has none here"
	}
	if c.why != "" {
		return c, nil
	}
	file, failed := os.Open(os.DevNull) // members other than the first pass this
	if g.rank == 0 && failed == nil {
		file.Close()
		if c.m, failed = d.NewMulticast(len(g.ranks), a.seg.Size()); failed == nil {
			file, failed = memory.Export(c.m)
		}
	}
	if file != nil {
		defer file.Close()
	}
	sizes, err := c.endStep(op, g, failed)
	if err != nil || c.why != "" {
		return c, err
	}
	files, err := g.gatherFiles(op, "multicast", file)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if g.rank != 0 {
		c.m, failed = memory.Import(files[0], func(fd int) (device.Multicast, error) { return d.ImportMulticast(fd, sizes[0]) })
	}
	for _, f := range files {
		f.Close()
	}
	for _, step := range []func() error{
		func() error { return c.m.Join() },
		func() error { return c.m.Bind(a.seg) },
		func() (err error) { c.ptr, err = c.m.Map(); return err },
	} {
		if failed == nil {
			failed = step()
		}
		if _, err := c.endStep(op, g, failed); err != nil || c.why != "" {
			return c, err
		}
	}
	return c, nil
}

// endStep ends a step of all members: if one failed, no member has multicast, and all know why. It
// returns the sizes of the members' objects, and an error only if the members cannot meet.
func (c *multicasting) endStep(op string, g *Group, failed error) (sizes []int, err error) {
	type member struct {
		Size int
		Why  string
	}
	var mine member
	if failed != nil {
		mine.Why = failed.Error()
	}
	if c.m != nil {
		mine.Size = c.m.Size()
	}
	all, err := gatherValues(g, op, "multicast", mine, nil)
	for i, m := range all {
		sizes = append(sizes, m.Size)
		if m.Why != "" && c.why == "" {
			c.why = fmt.Sprintf("rank %d could not map it: %s", g.ranks[i], m.Why)
		}
	}
	if err != nil || c.why != "" {
		err = errors.Join(err, c.close())
	}
	return sizes, err
}

// close gives the address back.
func (c *multicasting) close() (err error) {
	if c != nil && c.m != nil {
		err = c.m.Close()
		c.m = nil
	}
	return err
}
