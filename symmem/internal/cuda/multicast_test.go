package cuda

import (
	"errors"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestMulticast takes the steps of two devices in one process, also out of order, and undoes them
// in every state.
func TestMulticast(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t), "FAKE_CUDA_MULTICAST=1", "NCCL_NVLS_ENABLE=",
			"TORCH_SYMM_MEM_DISABLE_MULTICAST=", "SYMMREPL_DISABLE_MULTICAST=")
		return
	}
	devices := []*Device{opened(t, 0), opened(t, 1)}
	for _, d := range devices {
		if info := d.Info(); !info.Multicast || info.MulticastWhy != "" {
			t.Fatalf("multicast is off: %q", info.MulticastWhy)
		}
	}
	const size = 3 << 20
	before := live(t)
	refused := func(what string, err error) {
		t.Helper()
		if failed := new(device.DriverError); !errors.As(err, &failed) || failed.Code != 401 {
			t.Errorf("%s gives %v", what, err)
		}
	}
	for steps := range 4 {
		var segments []device.Segment
		var objects []device.Multicast
		for _, d := range devices {
			s, err := d.NewSegment(size)
			must(t, err)
			segments = append(segments, s)
		}
		first, err := devices[0].NewMulticast(2, segments[0].Size())
		must(t, err)
		fd, err := first.Export()
		must(t, err)
		second, err := devices[1].ImportMulticast(fd, first.Size())
		must(t, err)
		objects = append(objects, first, second)
		if first.Size() != segments[0].Size() {
			t.Errorf("the object has %d bytes, the segment %d", first.Size(), segments[0].Size())
		}
		for i, m := range objects {
			if steps > 0 {
				must(t, m.Join())
			}
			if i == 0 && steps > 0 {
				refused("binding before all have joined", m.Bind(segments[0]))
			}
		}
		for i, m := range objects {
			if steps > 1 {
				must(t, m.Bind(segments[i]))
			}
			if i == 0 && steps > 1 {
				_, err := m.Map()
				refused("mapping before all have bound", err)
			}
		}
		for _, m := range objects {
			if steps > 2 {
				if p, err := m.Map(); err != nil || p == 0 {
					t.Errorf("mapping gives %#x, %v", p, err)
				}
			}
		}
		for i, m := range objects {
			must(t, m.Close())
			must(t, segments[i].Close())
		}
		if after := live(t); after != before {
			t.Errorf("after %d steps %d objects are left", steps, after-before)
		}
	}
	for _, d := range devices {
		must(t, d.Close())
	}
}
