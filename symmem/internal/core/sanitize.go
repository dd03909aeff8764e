package symmem

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// sanitizing is whether accesses of kernels are watched.
type sanitizing struct {
	sanitized atomic.Bool  // all of them, on the cpu device
	marks     marks        // of what becomes of memory, while they are
	order     atomic.Int64 // that the sanitizer's seed chooses
	checking  atomic.Bool  // kernels of the user's have checked pointers, on GPUs
}

// Sanitize watches every access of kernels from now on, or no longer: see Findings. It is collective over all ranks, and waits for what was launched before: when it
// switches the sanitizer off, what was done to memory is forgotten, and when it switches it on again, all memory counts as written. The seed chooses between orders in which
// threads, blocks and ranks may run, and in which the null network's messages arrive; 0 leaves the order as it is, and is the only one on GPUs.
//
// Puts, gets and signals to other hosts, which kernels post or calls make, are watched as well: a put by what it reads here and writes there, a get by both, until something tells
// that it is over, such as a signal, a counter or a flush. What counts is what a program may rely on, in whichever order the messages arrived. All ranks have to be on one machine, as
// those of simulated hosts are.
//
// On GPUs only the bounds of what kernels of Compile are given are watched: the tensors, and the buffers and pads of handles, where the kernel's text indexes the parameter or h.buffer<T>(p) itself. A note on the standard error says of a text that cannot be
// compiled so.
func (rt *Runtime) Sanitize(on bool, seed int64) {
	const op = "Sanitize"
	rt.hostCall(op)
	rt.all.check(op)
	if _, ok := rt.dev.(device.BoundsChecker); ok {
		rt.checkBounds(op, on, seed)
		return
	}
	s, ok := rt.dev.(device.Sanitizer)
	var failed error
	if !ok {
		failed = &device.UnavailableError{Kind: rt.info.Kind, Why: "kernels are watched on the cpu device only", Hint: "start with --device cpu"}
	}
	rt.all.meeting.Lock()
	defer rt.all.meeting.Unlock()
	if !on {
		rt.marks.set(false) // no mark comes after what drain waits for
	}
	if failed == nil && rt.sanitized.Load() != on {
		failed = rt.drain()
	}
	shadow, err := rt.agreeShadow(op, s, on, fmt.Sprint(on, " ", seed), failed)
	if err == nil {
		err = s.Sanitize(device.Sanitizing{On: on, Rank: rt.rank, Shadow: shadow, Seed: seed})
	}
	if err != nil {
		rt.marks.set(rt.sanitized.Load())
		panic(rt.failure(op, err))
	}
	rt.sanitized.Store(on)
	rt.marks.set(on)
	rt.order.Store(seed)
	// no rank launches anything that others do not watch yet, or in the order before
	if _, err := agree(rt.all, op, "the end of "+op, "", rt.watchNetwork()); err != nil {
		panic(rt.failure(op, err))
	}
}

// Sanitized reports whether Sanitize has been switched on, and by which seed, 0 if it has not.
func (rt *Runtime) Sanitized() (on bool, seed int64) {
	if rt.sanitized.Load() {
		return true, rt.order.Load()
	}
	return rt.checking.Load(), 0
}

// watchNetwork has the sanitizer look at the engine as well, if it is on. Its seed then chooses the order in which messages of the null network arrive.
func (rt *Runtime) watchNetwork() error {
	n := rt.net.Load()
	if n == nil {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var watcher unsafe.Pointer
	if rt.sanitized.Load() {
		watcher = rt.dev.(device.Sanitizer).Network(n.port.Board, n.bytes)
	}
	err := n.engine.Watch(watcher)
	if err == nil && n.null {
		err = rt.tune(n)
	}
	return err
}

// checkBounds is Sanitize of a device that checks bounds.
func (rt *Runtime) checkBounds(op string, on bool, seed int64) {
	var failed error
	if seed != 0 {
		failed = rt.misuse(op, "seed", "give 0", "%s runs threads and blocks in its own order: seed %d cannot choose another", rt.info.Name, seed)
	}
	rt.all.meeting.Lock()
	defer rt.all.meeting.Unlock()
	if failed == nil && rt.checking.Load() != on {
		failed = rt.drain()
	}
	if _, err := agree(rt.all, op, fmt.Sprint(on, " ", seed), "", failed); err != nil {
		panic(rt.failure(op, err))
	}
	rt.checking.Store(on)
}

// agreeShadow returns the name of the shadow that a rank has already, who may have been there before others were replaced, or else of one that the first makes. A
// holder of the world's meeting calls it.
func (rt *Runtime) agreeShadow(op string, s device.Sanitizer, on bool, desc string, failed error) (string, error) {
	shadow := ""
	if failed == nil {
		shadow, failed = s.Shadow(false)
	}
	all, err := agree(rt.all, op, desc, shadow, failed)
	if err != nil || !on {
		return "", err
	}
	if i := slices.IndexFunc(all, func(name string) bool { return name != "" }); i >= 0 {
		return all[i], nil
	}
	if rt.rank == 0 {
		shadow, failed = s.Shadow(true)
	}
	if all, err = agree(rt.all, op, "its shadow", shadow, failed); err != nil {
		return "", err
	}
	return all[0], nil
}

// Findings returns what was found wrong since it was called last, by this rank's kernels and its host. It does not wait for the device.
func (rt *Runtime) Findings() []device.Finding {
	s, ok := rt.dev.(device.Sanitizer)
	if !ok {
		return rt.foundOutside()
	}
	var found []device.Finding
	for _, f := range s.Findings() {
		// What is left of signals when a wait is given up is cleared while others may still signal. That is told already.
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

// marks says whether what becomes of memory is marked. The garbage collector marks too, at any time: a mark of its that came when the sanitizer had forgotten all
// memory would be found later in a tensor that was made of this memory meanwhile.
type marks struct {
	mu sync.RWMutex // held while one is issued, and while on changes
	on atomic.Bool
}

func (m *marks) set(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on.Store(on)
}

// mark says what memory of this rank is from now on, when the stream comes to it or, without one or where it is gone, at once.
func (rt *Runtime) mark(s *Stream, p device.Ptr, n int, as device.MemoryState) {
	if n <= 0 || !rt.marks.on.Load() { // as for every tensor while nobody watches
		return
	}
	rt.marks.mu.RLock()
	defer rt.marks.mu.RUnlock()
	if !rt.marks.on.Load() {
		return
	}
	mark := func(d device.Stream) error {
		if traced, ok := d.(*tracedStream); ok {
			d = traced.Stream
		}
		rt.dev.(device.Sanitizer).Mark(d, p, n, as)
		return nil
	}
	if s == nil || s.issue(mark) != nil {
		mark(nil)
	}
}

// markBlock says what a block holds that was taken for a tensor.
func (rt *Runtime) markBlock(b *block, st *storage) {
	rt.mark(b.Stream, b.Ptr, int(st.ptr-b.Ptr), device.MemoryOutside)
	rt.mark(b.Stream, st.ptr, st.size, device.MemoryUndefined)
	rt.mark(b.Stream, st.ptr+device.Ptr(st.size), b.Size-int(st.ptr-b.Ptr)-st.size, device.MemoryOutside)
}

// markSegment says what a new symmetric tensor, which is zero, leaves of its segment.
func (a *allocation) markSegment() {
	outside := func(from, to int) { a.rt.mark(nil, a.seg.Ptr()+device.Ptr(from), to-from, device.MemoryOutside) }
	outside(0, a.at.Pad)
	outside(a.at.Pad+a.at.PadBytes, a.at.Data)
	outside(a.at.Data+a.size, a.seg.Size())
}

// publish lets the ranks know what this one did, who meet it on the host afterwards: they observe.
func (rt *Runtime) publish() {
	if rt.sanitized.Load() {
		rt.dev.(device.Sanitizer).Publish()
	}
}

func (rt *Runtime) observe() {
	if rt.sanitized.Load() {
		rt.dev.(device.Sanitizer).Observe()
	}
}

// sawFlush lets the host know that what the kernels have posted is over here, or ended everywhere.
func (rt *Runtime) sawFlush(ended bool) {
	if rt.sanitized.Load() {
		rt.dev.(device.Sanitizer).Flushed(ended)
	}
}

// resumed is called before whatever the program does.
func (rt *Runtime) resumed() {
	if !rt.sanitized.Load() {
		return
	}
	rt.dev.(device.Sanitizer).Calling(rt.calls.caller())
}
