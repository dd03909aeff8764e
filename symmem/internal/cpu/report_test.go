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
