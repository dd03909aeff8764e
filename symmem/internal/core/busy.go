package symmem

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/show"
	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Busy is a kernel of the user's that has run for a while outside of the waits of symm.cuh.
type Busy struct {
	Kernel string
	// the memory that it reads again and again, without other work: "element 3 of i32[8], which is
	// 0, at cell[2]:4, in 128 threads"; "" if it does other work or that is not known
	Spins  string
	Goes   bool          // it is known to do other work
	Since  time.Duration // since it began; on a device that cannot tell, since its launch
	Seen   uint64        // when it was last seen to read Spins, in nanoseconds of a clock of the device; 0 if it was not
	Caller int           // where it was launched last, as Config.Caller said
}

// busyAfter is the time that a kernel has run before Busy lists it.
const busyAfter = 200 * time.Millisecond

// Busy lists the kernels of this rank that have run for a while. On a device that cannot tell which
// kernel runs it lists one at most: the kernel that was launched last, if the work of some stream
// is not over. It may be called at any time, and takes some milliseconds.
func (rt *Runtime) Busy() []Busy {
	if rt.closed.Load() {
		return nil
	}
	var waiting []string
	for r := range waits.Pending(rt.watch) {
		c, _ := rt.find(r.Ordinal)
		waiting = append(waiting, c.Op)
	}
	var list []Busy
	if o, ok := rt.dev.(device.Observer); ok {
		for _, r := range o.Running() {
			list = append(list, Busy{Kernel: r.Kernel, Spins: rt.spins(r), Goes: !r.Spins, Since: r.For, Seen: r.Seen,
				Caller: rt.calls.LaunchOf(r.Kernel)})
		}
	} else if kernel, at := rt.calls.LatestKernel(); kernel != "" && len(waiting) == 0 && !rt.allRest() {
		list = append(list, Busy{Kernel: kernel, Since: time.Since(at.When), Caller: at.Caller})
	}
	return slices.DeleteFunc(list, func(b Busy) bool { return b.Since < busyAfter || slices.Contains(waiting, b.Kernel) })
}

// allRest reports whether no stream has work. It does not wait to find out.
func (rt *Runtime) allRest() bool {
	if !rt.mu.TryLock() {
		return false
	}
	streams := slices.Clone(rt.streams)
	rt.mu.Unlock()
	return !slices.ContainsFunc(streams, func(s *Stream) bool { return !s.rests(true) })
}

// spins describes the memory that a kernel spins on.
func (rt *Runtime) spins(r device.Running) string {
	if !r.Spins {
		return ""
	}
	what := rt.readAgain(r)
	if r.Where != "" {
		what += ", at " + r.Where
	}
	if r.Threads > 1 {
		what += fmt.Sprintf(", in %d threads", r.Threads)
	}
	return what
}

// readAgain names the memory that a kernel reads again and again: an element of a tensor if it is
// one.
func (rt *Runtime) readAgain(r device.Running) string {
	for _, at := range r.Reads {
		if element, ok := rt.element(at); ok {
			return element
		}
	}
	if len(r.Shared) > 0 {
		return fmt.Sprintf("byte %d of the block's shared memory", r.Shared[0])
	}
	return fmt.Sprintf("memory of no tensor, at address %#x", uintptr(r.Reads[0]))
}

// element describes the element of a tensor, or the word of a pad, that an address is in: "element
// 3 of i32[8], which is 0".
func (rt *Runtime) element(at device.Ptr) (string, bool) {
	o, ok := rt.located.Containing(at)
	if !ok {
		return "", false
	}
	what := o.What
	element, _ := what.Element()
	dtype := what.dtype
	if what.pad {
		dtype = U64
	}
	i := int(at-o.At) / dtype.Size()
	data := make([]byte, dtype.Size())
	if err := rt.dev.Peek(data, o.At+device.Ptr(i*len(data))); err != nil {
		return "", false
	}
	return fmt.Sprintf("%s %d of %s, which is %s", element, i, o.Name(), show.Text(dtype.element(), data, 0)), true
}
