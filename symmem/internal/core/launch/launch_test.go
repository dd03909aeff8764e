package launch

import (
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

func TestGrids(t *testing.T) {
	plan := &tuning.Plan{ElementThreads: 256, ElementBlocks: 2}
	for _, c := range []struct {
		got             device.Launch
		blocks, threads int
	}{
		{Grid(0, 256, 8), 1, 32},
		{Grid(33, 256, 8), 1, 64},
		{Grid(1000, 256, 8), 4, 256},
		{Grid(1<<20, 256, 8), 8, 256},
		{Elements(0, plan, 4), 1, 256},
		{Elements(257, plan, 4), 2, 256},
		{Elements(1<<20, plan, 4), 8, 256},
		{OneBlock(32), 1, 32},
	} {
		if c.got.Grid != [3]int{c.blocks, 1, 1} || c.got.Block != [3]int{c.threads, 1, 1} {
			t.Errorf("got %v blocks of %v threads, want %d of %d", c.got.Grid, c.got.Block, c.blocks, c.threads)
		}
	}
}

func TestBytes(t *testing.T) {
	words := []uint16{0x0101, 0x0202}
	if got := BytesOfAll(words); !slices.Equal(got, []byte{1, 1, 2, 2}) {
		t.Errorf("the list is %v", got)
	}
	if got := Bytes(&words[1]); !slices.Equal(got, []byte{2, 2}) {
		t.Errorf("the word is %v", got)
	}
	if got := BytesOfAll[uint16](nil); got != nil {
		t.Errorf("an empty list is %v", got)
	}
}
