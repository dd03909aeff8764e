package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/waits"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Who ends the watch over copies takes back what it told of, for nobody else will.
func TestForgottenCopies(t *testing.T) {
	rt := newWorld(t)
	w := &rt.all.watch
	waits.Store(&rt.watch.Waits[0], &device.WaitRecord{State: device.WaitPending, Kind: device.WaitCopy})
	w.published = []bool{true}
	w.forget(rt.all)
	if waits := rt.Waits(); len(waits) != 0 || w.published[0] {
		t.Errorf("still told: %+v, %v", waits, w.published)
	}
}
