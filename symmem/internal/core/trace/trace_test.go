package trace

import (
	"reflect"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A wait is one in a trace though its kernel, or who looks, had to wait for a processor; the next
// wait of the operation is another.
func TestTracedWaits(t *testing.T) {
	const ms = time.Millisecond
	o := &operation{}
	tr := &Trace{peers: func(*device.WaitRecord) []int { return nil }, calls: map[uint32]*operation{7: o}}
	start := time.Now()
	for _, look := range []struct {
		began       uint64
		elapsed, at time.Duration
	}{{1, ms, 2 * ms}, {1, 70 * ms, 70 * ms}, {1, 71 * ms, 200 * ms}, {2, 5 * ms, 300 * ms}, {2, 5 * ms, 310 * ms}} {
		tr.saw(&device.WaitRecord{Ordinal: 7, Began: look.began, Elapsed: uint64(look.elapsed)}, start.Add(look.at))
	}
	if want := []Wait{{nil, start, 200 * ms}, {nil, start.Add(295 * ms), 15 * ms}}; !reflect.DeepEqual(o.Waits, want) {
		t.Errorf("waits: %+v, want %+v", o.Waits, want)
	}
}
