package symmemtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// piecesCase runs the cases of operations that send each member a piece, of all sizes by packets.
// All-reduces in between use the same inboxes.
func piecesCase(t *T) {
	for _, plan := range []*tuning.Plan{tuning.CPU, tuning.CUDA} {
		defer func(pieces, broadcast []tuning.Rule) { plan.Pieces, plan.Broadcast = pieces, broadcast }(plan.Pieces, plan.Broadcast)
		plan.Pieces = []tuning.Rule{{Way: tuning.Packets}}
		plan.Broadcast = plan.Pieces
	}
	x, y := symmem.Empty(symmem.F32, 3).Fill(1), symmem.Empty(symmem.F32, 3*t.size)
	symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	tile := symmem.Empty(symmem.F32, 2, 2).Fill(t.rank)
	symmem.Rendezvous(tile)
	out := symmem.Local(symmem.F32, 2, 2)
	for _, c := range []struct {
		op   string
		call func()
		run  func(*T)
	}{
		{"all_gather", func() { symmem.AllGather(x) }, allGatherCase},
		{"all_to_all", func() { symmem.AllToAll(y) }, allToAllCase},
		{"broadcast", func() { symmem.Broadcast(x, 0) }, broadcastCase},
		{"all_to_all_permute", func() { symmem.AllToAllPermute(y.View(t.size, 3), symmem.Local(symmem.F32, 1, 3*t.size), 0, 1) }, permuteCase},
		{"reduce_scatter", func() { symmem.ReduceScatter(y, "sum") }, reduceScatterCase},
		{"reduce_scatter", func() { symmem.ReduceScatter(y, "sum") }, reduceScatterSizesCase},
		{"tile_reduce", func() { symmem.TileReduce(tile.Tile(0, 2, 0, 2), out.Tile(0, 2, 0, 2), 0, "sum") }, tileReduceCase},
		{"tile_reduce", func() { symmem.TileReduce(tile.Tile(0, 2, 0, 2), out.Tile(0, 2, 0, 2), 0, "sum") }, tileSquareCase},
		{"tile_reduce", func() { symmem.TileReduce(tile.Tile(0, 2, 0, 2), out.Tile(0, 2, 0, 2), 0, "sum") }, multiRootCase},
	} {
		if got := symmem.Explain(c.call); !strings.HasPrefix(got, c.op+" ") || !strings.Contains(got, ": packets, because ") {
			t.Errorf("%s is explained by %q", c.op, got)
		}
		c.run(t)
		t.equal(fmt.Sprint("all_reduce after ", c.op), symmem.AllReduce(x.Fill(1), "sum").Ints(), slices.Repeat([]int{t.size}, 3))
	}
	symmem.Synchronize()
	t.meet()
	x.Free()
	y.Free()
	tile.Free()
}
