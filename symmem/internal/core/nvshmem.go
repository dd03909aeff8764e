package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nvshmem"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Kernels that include nvshmem.h find the peers' copies of an address by a table of the world's
// symmetric tensors, which is made when the first such kernel is compiled, and brought up to date at
// each launch.

// shmem is the table. Guarded by rt.mu.
type shmem struct {
	memory *Tensor // nil before the first kernel
	table  nvshmem.Table
}

// DefineShmem gives a module that includes nvshmem.h the table, and reports whether it is such a
// module.
func (in Inner) DefineShmem(op string, m device.Module) bool {
	rt := in.rt
	d, ok := m.(device.Definer)
	if !ok {
		return false
	}
	rt.mu.Lock()
	memory := rt.shmem.memory
	rt.mu.Unlock()
	if memory == nil {
		n := nvshmem.Size / 8
		memory = rt.zeros(op, I64, []int{n}, n)
		memory.read(op, 0) // a kernel on any stream may use it
		rt.mu.Lock()
		if rt.shmem.memory == nil {
			rt.shmem.memory, rt.shmem.table.At = memory, memory.pointer()
		}
		memory = rt.shmem.memory
		rt.mu.Unlock()
	}
	found, err := d.Define(nvshmem.Variable, memory.pointer())
	if err != nil {
		panic(rt.failure(op, err))
	}
	return found
}

// JoinShmem commits a call whose kernel, of a text, calls functions of nvshmem.h to the group of all
// ranks, which it returns, and writes the words of the launch. The call has picked its stream.
func (c *Call) JoinShmem(text *device.Source) *Group {
	rt, op := c.rt, c.Record.Op
	rt.all.usable(op)
	rt.keepShmem(op)
	c.Record.text = text
	context := c.Join(rt.all)
	c.Touch(rt.shmem.memory)
	words := nvshmem.Launch(&context)
	if err := c.stream.write(rt.shmem.table.At, launch.Bytes(&words)); err != nil {
		panic(rt.failure(op, err))
	}
	return rt.all
}

// keepShmem brings the table up to date. rt.mu is held.
func (rt *Runtime) keepShmem(op string) {
	g := rt.all
	if g.wired.Table == 0 {
		g.reachAll(op, "")
	}
	if n := len(g.ranks); n > abi.MaxRanks {
		panic(rt.misuse(op, "kernel", "take symm::Handle of a group of fewer ranks",
			"kernels that include nvshmem.h are for at most %d ranks, and there are %d", abi.MaxRanks, n))
	}
	w := abi.ShmemWorld{Context: rt.kernelContext(g, &options{}, 0), Net: g.wired.Table, Signals: g.work.signals}
	w.Context.Unannounced = 1
	for _, r := range g.split.Here() {
		if r == rt.rank {
			w.NearRank = w.NearCount
		}
		w.Near[w.NearCount] = int32(r)
		w.NearCount++
	}
	ok, err := rt.shmem.table.Keep(w, rt.shmemWindows(), rt.dev.Poke)
	if err != nil {
		panic(rt.failure(op, err))
	}
	if !ok {
		panic(rt.misuse(op, "kernel", "free tensors that are no longer used",
			"kernels that include nvshmem.h reach at most %d symmetric tensors", abi.ShmemWindows))
	}
}

// shmemWindows lists the symmetric memory that all ranks have mapped: tensors, and blocks of the
// memory pool. rt.mu is held.
func (rt *Runtime) shmemWindows() (list []abi.ShmemWindow) {
	g := rt.all
	for _, a := range rt.allocs {
		if a.group != g || a.block != nil || a.size == 0 || a.stale.Load() != nil {
			continue
		}
		if m := a.anyMapping(g); m != nil {
			w := abi.ShmemWindow{Local: a.at.DataIn(a.seg), Bytes: uint64(a.size), NetWindow: a.windows[g]}
			copy(w.Peers[:], m.base)
			list = append(list, w)
		}
	}
	for _, b := range g.pool.Blocks() {
		w := abi.ShmemWindow{Local: b.Placement.DataIn(b.Segment), Bytes: uint64(b.Size())}
		for r, s := range b.Peers {
			w.Peers[r] = b.Placement.DataIn(s)
		}
		list = append(list, w)
	}
	return list
}

// explainShmem completes the error of a call that a function of nvshmem.h refused.
func (rt *Runtime) explainShmem(e *Error, c *Record, r *device.WaitRecord) {
	e.Peer = -1
	e.Msg, e.Hint = nvshmem.Refused(r, rt.whereShmem(device.Ptr(r.Seen)))
	if text := c.text; text != nil && int(r.Channel) > 0 {
		line := int(r.Channel)
		if rt.info.OnHost { // whose compiler counts from the text's first line
			line += text.Line - 1
		}
		e.File, e.Line, e.Source = text.Name, line, text.LineAt(line)
	}
}

// whereShmem describes the memory at an address.
func (rt *Runtime) whereShmem(at device.Ptr) nvshmem.Where {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, a := range rt.allocs {
		from, end := a.at.DataIn(a.seg), a.at.DataIn(a.seg)+device.Ptr(a.size)
		if at >= from && at < end {
			return nvshmem.Where{Is: fmt.Sprintf("in the symmetric tensor %s", a.desc),
				Unmapped: a.block == nil && a.anyMapping(rt.all) == nil, Left: uint64(end - at)}
		}
	}
	if o, ok := rt.located.Containing(at); ok {
		if o.Peer >= 0 { // which differs between ranks that do the same
			return nvshmem.Where{Is: "in a copy of " + o.What.String(), Peer: true}
		}
		return nvshmem.Where{Is: "in " + o.Name()}
	}
	return nvshmem.Where{}
}
