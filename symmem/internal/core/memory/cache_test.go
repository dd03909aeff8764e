package memory

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A block comes back to its stream, last in first out. A block that other streams used waits until
// these rest, and a block of a closed stream goes to another stream.
func TestCache(t *testing.T) {
	busy, closed := true, false
	c := &Cache[string]{
		Rests: func(*Block[string]) bool { return !busy },
		Home: func(s string) string {
			if closed && s == "side" {
				return "main"
			}
			return s
		},
	}
	add := func(p device.Ptr, size int, on string) *Block[string] {
		return c.Add(&Block[string]{Ptr: p, Size: size, Stream: on})
	}
	if b := c.Take(512, "main"); b != nil {
		t.Fatalf("an empty cache has %+v", b)
	}
	a, b, side := add(0x1000, 512, "main"), add(0x2000, 512, "main"), add(0x3000, 512, "side")
	if c.Held() != 1536 || c.Handed() != 1536 {
		t.Errorf("%d bytes are held, %d were handed out", c.Held(), c.Handed())
	}
	c.Give(a)
	b.Used = 2
	c.Give(b)
	c.Give(side)
	if got := c.Take(1024, "main"); got != nil {
		t.Errorf("of another size it has %+v", got)
	}
	if got := c.Take(512, "main"); got != a {
		t.Errorf("it has %+v, want the block that nobody else used", got)
	}
	if got := c.Take(512, "main"); got != nil {
		t.Errorf("it has %+v, which others use", got)
	}
	busy = false
	if got := c.Take(512, "main"); got != b || !b.Alone() {
		t.Errorf("it has %+v, want the block that others used", got)
	}
	closed = true
	c.Abandon("side")
	if got := c.Take(512, "main"); got != side || side.Stream != "main" {
		t.Errorf("it has %+v, want that of the closed stream", got)
	}
	c.Give(side)
	var freed []uintptr
	c.Trim(func(b *Block[string]) { freed = append(freed, uintptr(b.Ptr)) })
	if len(freed) != 1 || freed[0] != 0x3000 || c.Held() != 1024 {
		t.Errorf("%#x were given back, %d bytes are held", freed, c.Held())
	}
}

func TestBlockSize(t *testing.T) {
	for n, want := range map[int]int{0: 512, 1: 512, 512: 512, 513: 1024, 1 << 20: 1 << 20, 1<<20 + 1: 2 << 20, 5<<20 + 7: 6 << 20} {
		if got := BlockSize(n); got != want {
			t.Errorf("BlockSize(%d) is %d, want %d", n, got, want)
		}
	}
}
