package count

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 calls", 1: "1 call", 2: "2 calls", 1000: "1000 calls", -1: "-1 calls"} {
		if got := Of(n, "call"); got != want {
			t.Errorf("Of(%d) is %q, want %q", n, got, want)
		}
	}
	if got := Of(uint64(1), "byte"); got != "1 byte" {
		t.Errorf("of a uint64: %q", got)
	}
}
