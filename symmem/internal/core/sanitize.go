package symmem

import (
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/sanitizer"
	"github.com/symmrepl/symmrepl/symmem/internal/core/trace"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// sanitizing holds the sanitizer, which watches accesses of kernels while it is on.
type sanitizing struct {
	sanitizer *sanitizer.Sanitizer // of all accesses, on the cpu device
	checking  atomic.Bool          // kernels of the user's have checked pointers, on GPUs
}

// Sanitize watches every access of kernels from now on, or no longer: see Findings. It is
// collective over all ranks, and waits for work that was launched before. When it switches the
// sanitizer off, the states of memory are forgotten; when it switches it on again, all memory
// counts as written. The seed chooses between orders in which threads, blocks and ranks may run,
// and in which the null network's messages arrive; 0 leaves the order as it is, and is the only one
// on GPUs.
//
// Puts, gets and signals to other hosts, which kernels post or calls make, are watched as well: a
// put with the memory that it reads here and writes there, a get likewise, until a signal, a
// counter or a flush shows that it is over. A finding does not depend on the order in which the
// messages arrived. All ranks must be on one machine, as with simulated hosts.
//
// On GPUs only the bounds of the arguments of kernels of Compile are watched: the tensors, and the
// buffers and pads of handles, where the kernel's text indexes the parameter or h.buffer<T>(p)
// itself. A note on the standard error says of a text that cannot be compiled so.
func (rt *Runtime) Sanitize(on bool, seed int64) {
	const op = "Sanitize"
	rt.hostCall(op)
	rt.all.usable(op)
	if _, ok := rt.dev.(device.BoundsChecker); ok {
		rt.checkBounds(op, on, seed)
		return
	}
	failed := rt.sanitizer.Unavailable(rt.info.Kind)
	rt.all.meeting.Lock()
	defer rt.all.meeting.Unlock()
	if !on {
		rt.sanitizer.Pause() // no mark comes after the work for which drain waits
	}
	if failed == nil && rt.sanitizer.On() != on {
		failed = rt.drain()
	}
	shadow, shared := rt.shareShadow(op, on, seed, failed)
	err := rt.sanitizer.Switch(device.Sanitizing{On: on, Rank: rt.rank, Shadow: shadow, Seed: seed}, shared)
	rt.mu.Lock()
	rt.observe(located{rt: rt}, rt.sanitizer.On())
	rt.mu.Unlock()
	if shared == nil {
		if err == nil {
			err = rt.watchNetwork()
		}
		// No rank launches anything while others do not watch yet, or have the order from before.
		_, err = gatherValues(rt.all, op, "switched", struct{}{}, err)
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
}

// located tells the sanitizer where the program is at each call.
type located struct {
	blind
	rt *Runtime
}

func (l located) called(string, *Stream) { l.rt.sanitizer.Calling(l.rt.calls.Caller) }
func (l located) began(run uint64)       { l.rt.sanitizer.Begun(run) }
func (l located) ended(run uint64)       { l.rt.sanitizer.Ended(run) }

// Sanitized reports whether Sanitize has been switched on, and by which seed, 0 if it has not.
func (rt *Runtime) Sanitized() (on bool, seed int64) {
	if rt.sanitizer.On() {
		return true, rt.sanitizer.Seed()
	}
	return rt.checking.Load(), 0
}

// watchNetwork lets the sanitizer watch the engine as well, if it is on. Its seed then chooses the
// order in which messages of the null network arrive.
func (rt *Runtime) watchNetwork() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	err := n.Engine.Watch(rt.sanitizer.Watcher(n.Port.Board, n.Bytes))
	if err == nil && n.Null {
		err = rt.tune(n)
	}
	return err
}

// checkBounds is Sanitize on a device that checks bounds.
func (rt *Runtime) checkBounds(op string, on bool, seed int64) {
	var failed error
	if seed != 0 {
		failed = rt.misuse(op, "seed", "give 0", "%s runs threads and blocks in its own order: seed %d cannot choose another",
			rt.info.Name, seed)
	}
	rt.all.meeting.Lock()
	defer rt.all.meeting.Unlock()
	if failed == nil && rt.checking.Load() != on {
		failed = rt.drain()
	}
	if _, err := gatherValues(rt.all, op, sanitizer.Setting(on, seed), "", failed); err != nil {
		panic(rt.failure(op, err))
	}
	rt.checking.Store(on)
}

// shareShadow returns the name of the world's shadow: of one that a rank has already, because it
// was there before others were replaced, or else of a new one of rank 0. The caller holds the
// meeting of the world.
func (rt *Runtime) shareShadow(op string, on bool, seed int64, failed error) (string, error) {
	shadow := ""
	if failed == nil {
		shadow, failed = rt.sanitizer.Device().Shadow(false)
	}
	all, err := gatherValues(rt.all, op, sanitizer.Setting(on, seed), shadow, failed)
	if err != nil || !on {
		return "", err
	}
	if i := slices.IndexFunc(all, func(name string) bool { return name != "" }); i >= 0 {
		return all[i], nil
	}
	if rt.rank == 0 {
		shadow, failed = rt.sanitizer.Device().Shadow(true)
	}
	if all, err = gatherValues(rt.all, op, "its shadow", shadow, failed); err != nil {
		return "", err
	}
	return all[0], nil
}

// Findings returns the findings since it was called last, about this rank's kernels and its host.
// It does not wait for the device.
func (rt *Runtime) Findings() []device.Finding {
	s := rt.sanitizer.Device()
	if s == nil {
		return rt.foundOutside()
	}
	var found []device.Finding
	for _, f := range s.Findings() {
		// After a wait was given up, clearing its signals races with ranks that still signal. The
		// wait was already reported, so this finding is dropped.
		o, users := rt.located.Containing(f.Address)
		users = users && (!o.Freed || f.Kind == device.UseAfterFree)
		switch {
		case f.Memory != "":
		case users:
			f.Memory = o.Describe(f.Address)
		case f.Kind == device.OutOfBounds || f.Kind == device.UseAfterFree:
			f.Memory = rt.located.Nearest(f.Address)
		}
		if users && o.Freer != 0 {
			f.Accesses = append(f.Accesses, device.Access{Rank: rt.rank, Caller: o.Freer, Op: "frees it", Host: true, Threads: 1})
		}
		if users || f.Address == 0 || !rt.gaveUpOnce.Load() {
			found = append(found, f)
		}
	}
	return found
}

// mark sets the state of memory of this rank: when the stream comes to the mark or, without a
// stream or if it is closed, at once.
func (rt *Runtime) mark(s *Stream, p device.Ptr, n int, as device.MemoryState) {
	if n <= 0 || !rt.sanitizer.Marks() { // as for every tensor while nobody watches
		return
	}
	rt.sanitizer.Mark(p, n, as, func(mark func(device.Stream) error) error {
		if s == nil {
			return mark(nil)
		}
		return s.issue(func(d device.Stream) error { return mark(trace.Untraced(d)) })
	})
}

// markBlock marks a block that was taken for a tensor: undefined elements, and memory outside of
// the tensor.
func (rt *Runtime) markBlock(b *block, st *storage) {
	rt.mark(b.Stream, b.Ptr, int(st.ptr-b.Ptr), device.MemoryOutside)
	rt.mark(b.Stream, st.ptr, st.size, device.MemoryUndefined)
	rt.mark(b.Stream, st.ptr+device.Ptr(st.size), b.Size-int(st.ptr-b.Ptr)-st.size, device.MemoryOutside)
}

// markSegment marks the memory of a new segment outside of its tensor and pad, which are zero.
func (a *allocation) markSegment() {
	outside := func(from, to int) { a.rt.mark(nil, a.seg.Ptr()+device.Ptr(from), to-from, device.MemoryOutside) }
	outside(0, a.at.Pad)
	outside(a.at.Pad+a.at.PadBytes, a.at.Data)
	outside(a.at.Data+a.size, a.seg.Size())
}
