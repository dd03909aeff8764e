package cuda

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// failing is a source and a destination that fail at an offset.
type failing struct{ at int64 }

var errFailing = errors.New("it fails")

func (f failing) ReadAt(p []byte, off int64) (int, error) { return f.WriteAt(p, off) }

func (f failing) WriteAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, errFailing
	}
	return len(p), nil
}

// testStaging: copies around the sizes at which they change their way, on two streams that share the
// slots, in the order of their stream, and copies that fail.
func testStaging(t *testing.T, d *Device) {
	const most = (slots+2)*slotSize + 5
	var done sync.WaitGroup
	for stream := range 2 {
		done.Go(func() {
			p, err := d.Alloc(most)
			must(t, err)
			s := newStream(t, d)
			for i, n := range []int{1, stageSize, stageSize + 1, slotSize, slotSize + 1, slots * slotSize, most} {
				want := pattern(n, i+10*stream)
				must(t, s.Set(p, 77, n)) // ahead of the copy
				must(t, s.Write(p, want))
				wants(t, s, p, want, "written")
				got := make([]byte, n)
				must(t, s.Set(p, 78, n))
				must(t, s.WriteFrom(p, bytes.NewReader(want), n))
				must(t, s.ReadTo(device.Bytes(got), p, n))
				if !bytes.Equal(got, want) {
					t.Errorf("%d bytes came back differently", n)
				}
			}
			for _, at := range []int64{0, slotSize, most - 1} {
				if err := s.WriteFrom(p, failing{at}, most); err != errFailing {
					t.Errorf("a source that fails at %d: %v", at, err)
				}
				if err := s.ReadTo(failing{at}, p, most); err != errFailing {
					t.Errorf("a destination that fails at %d: %v", at, err)
				}
			}
			must(t, s.Close())
			must(t, d.Free(p))
		})
	}
	done.Wait()
}
