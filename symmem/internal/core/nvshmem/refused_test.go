package nvshmem

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A refused address is told apart by what is there: the own address belongs where a peer's was given.
func TestRefusedAddress(t *testing.T) {
	r := &device.WaitRecord{Kind: abi.ShmemAddress, Seen: 0x1000}
	for _, c := range []struct {
		where     Where
		msg, hint string
	}{
		{Where{}, "0x1000", "symm.Empty"},
		{Where{Is: "in f32[4]"}, "0x1000, in f32[4], is not symmetric", "symm.Empty"},
		{Where{Is: "in f32[4]", Unmapped: true}, "was not mapped", "symm.Rendezvous"},
		{Where{Is: "in a copy of f32[4]", Peer: true}, "in a copy of f32[4], is a peer's", "this PE's own address"},
	} {
		if msg, hint := Refused(r, c.where); !strings.Contains(msg, c.msg) ||
			!strings.Contains(hint, c.hint) {
			t.Errorf("%+v: %q, %q", c.where, msg, hint)
		}
	}
}
