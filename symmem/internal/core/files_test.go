package symmem

import (
	"bytes"
	"errors"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/files"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A transfer of a file ends when the world is aborted, and says so.
func TestTransferEnds(t *testing.T) {
	c := &fileCall{rt: &Runtime{rank: 3}, Call: files.Call{Op: "Load"}}
	p := make([]byte, 4)
	in, out := c.until(bytes.NewReader([]byte("data")), nil), c.until(nil, device.Bytes(make([]byte, 4)))
	if n, err := in.ReadAt(p, 0); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := out.WriteAt(p, 0); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	why := "interrupted by Ctrl-C"
	c.rt.abort.Store(&why)
	_, read := in.ReadAt(p, 0)
	_, wrote := out.WriteAt(p, 0)
	for _, err := range []error{read, wrote} {
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindInterrupted || e.Rank != 3 || e.Error() != "Load on rank 3: gave up: interrupted by Ctrl-C" {
			t.Errorf("%v", err)
		}
	}
}
