//go:build linux && (amd64 || arm64)

package cpu

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A kernel that is stopped by force, at any instruction, leaves no report that is begun and not ended:
// the host would wait for its end.
func TestStoppedReport(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void reports(symm::Watch* w) {
  symm::Context c{};
  c.watch = w;
  for (;;) {
    symm::report(c, {symm::kAborted, symm::kUser, 7});
    symm::store_relaxed(&w->fault.state, (symm::u32)symm::kNone);
  }
}`)["reports"]
	watch := b.Watch()
	for range 10 {
		b.launch(k, 2, 64, uint64(uintptr(unsafe.Pointer(watch))))
		time.Sleep(5 * time.Millisecond)
		atomic.StoreUint32(&watch.Abort, 1)
		if err := b.stream.Synchronize(); err == nil {
			t.Fatal("the kernel ends by itself")
		}
		atomic.StoreUint32(&watch.Abort, 0)
		if state := atomic.SwapUint32(&watch.Fault.State, device.WaitNone); state != device.WaitNone && state != device.WaitAborted {
			t.Fatalf("the report has the state %d", state)
		}
	}
}

// A wait that sees the abort ends by itself and reports that, also if a sample of its thread is being taken:
// the single steps of the sample take as long as a computation that is stopped by force.
func TestAbortedSample(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void waits(symm::Watch* w, const symm::u32* word) {
  symm::Context c{};
  c.watch = w;
  symm::Patience patience;
  for (symm::u32 seen; (seen = symm::load_acquire(word)) == 0;) {
    for (volatile int i = 0; i < 10000; i = i + 1) {}
    if (patience.expired(c, {symm::kUser, 0, 0, 1}, seen)) return;
  }
}`)["waits"]
	word, watch := b.alloc(64), b.Watch()
	for i := range 40 {
		b.launch(k, 1, 1, uint64(uintptr(unsafe.Pointer(watch))), word)
		time.Sleep(20 * time.Millisecond)
		ended, asked := make(chan bool), make(chan bool)
		go func() {
			defer close(asked)
			for {
				select {
				case <-ended:
					return
				default:
					b.Device.(device.Observer).Running()
				}
			}
		}()
		time.Sleep(time.Duration(i) * time.Millisecond)
		atomic.StoreUint32(&watch.Abort, 1)
		err := b.stream.Synchronize()
		close(ended)
		<-asked
		atomic.StoreUint32(&watch.Abort, 0)
		if state := atomic.SwapUint32(&watch.Fault.State, device.WaitNone); err != nil || state != device.WaitAborted {
			t.Fatalf("round %d: %v, and the report has the state %d", i, err, state)
		}
	}
}
