package waits

import (
	"iter"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Pending goes through the waits that are under way on a device.
func Pending(w *device.Watch) iter.Seq[device.WaitRecord] {
	return func(yield func(device.WaitRecord) bool) {
		for i := range w.Waits {
			if atomic.LoadUint32(&w.Waits[i].State) != device.WaitPending {
				continue
			}
			if r := Load(&w.Waits[i]); r.State == device.WaitPending && !yield(r) {
				return
			}
		}
	}
}

// Load reads a record that kernels write.
func Load(r *device.WaitRecord) device.WaitRecord {
	return device.WaitRecord{
		State:   atomic.LoadUint32(&r.State),
		Kind:    atomic.LoadUint32(&r.Kind),
		Ordinal: atomic.LoadUint32(&r.Ordinal),
		Rank:    atomic.LoadUint32(&r.Rank),
		Peer:    atomic.LoadUint32(&r.Peer),
		Channel: atomic.LoadUint32(&r.Channel),
		Want:    atomic.LoadUint64(&r.Want),
		Seen:    atomic.LoadUint64(&r.Seen),
		Elapsed: atomic.LoadUint64(&r.Elapsed),
		Began:   atomic.LoadUint64(&r.Began),
	}
}

// Store writes a record that others read at any time.
func Store(to, r *device.WaitRecord) {
	atomic.StoreUint32(&to.Kind, r.Kind)
	atomic.StoreUint32(&to.Ordinal, r.Ordinal)
	atomic.StoreUint32(&to.Rank, r.Rank)
	atomic.StoreUint32(&to.Peer, r.Peer)
	atomic.StoreUint32(&to.Channel, r.Channel)
	atomic.StoreUint64(&to.Want, r.Want)
	atomic.StoreUint64(&to.Seen, r.Seen)
	atomic.StoreUint64(&to.Elapsed, r.Elapsed)
	atomic.StoreUint64(&to.Began, r.Began)
	atomic.StoreUint32(&to.State, r.State)
}

// Give writes a fault of a wait that the host gave up, unless a kernel did before it and nobody has
// read that.
func Give(w *device.Watch, r *device.WaitRecord) {
	if atomic.CompareAndSwapUint32(&w.Fault.State, device.WaitNone, device.WaitClaimed) {
		Store(&w.Fault, r)
	}
}
