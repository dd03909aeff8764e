package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// If a rank is killed while the others are in an operation, the error of each other rank names it
// and cites the line of the call. A fresh worker replaces the rank, and then the operation works.
func TestKilledInOperation(t *testing.T) {
	t.Parallel()
	const ranks = 3
	s := launchHere(t, ranks)
	evalHearing := func(source string, output func(session.Output)) session.Reply {
		ctx, cancel := context.WithTimeout(t.Context(), patience())
		defer cancel()
		return s.Eval(ctx, session.Cell{Source: source, Output: output})
	}
	eval := func(source string) session.Reply { return evalHearing(source, nil) }
	const prepare = `
rank := symm.Rank()
x := symm.Empty(symm.I32, 6, 6).Fill(rank + 1); symm.Rendezvous(x)
y := symm.Empty(symm.I32, 18, 6); symm.Rendezvous(y)
piece := symm.Local(symm.I32, 2, 6)
splits := symm.Local(symm.I64, 3).CopyFrom([]int{2, 2, 2})
got := symm.Local(symm.I64, 2, 3)
back := symm.Local(symm.I64, 2, 3)
symm.Synchronize()`
	for _, op := range []struct{ name, call, result, want string }{
		{"all_gather", "symm.AllGatherOut(x, y.View(3, 6, 6), symm.CopyEngine())", "y.Ints()[70:74]", "[2 2 3 3]"},
		{"all_to_all", "symm.AllToAllOut(x, y.Slice(0, 6), symm.CopyEngine())", "y.Ints()[10:14]", "[1 1 2 2]"},
		{"all_to_all_vdev", "symm.AllToAllVDev(x, y, splits, got)", "y.Ints()[10:14]", "[1 1 2 2]"},
		{"all_to_all_vdev_2d", "symm.AllToAllVDev2D(x, y, splits, got)", "y.Ints()[22:26]", "[2 2 3 3]"},
		{"all_to_all_vdev_2d_offset", "got.CopyFrom([]int{2, 2, 2, 0, 2, 4}); symm.AllToAllVDev2DOffset(x, y, got, back)",
			"y.Ints()[22:26]", "[2 2 3 3]"},
		{"tile_reduce", `symm.TileReduce(x.Tile(0, 2, 0, 6), piece.Tile(0, 2, 0, 6), 1, "sum"); symm.Synchronize()`,
			"piece.Ints()[0] * (rank % 2)", "0|6|0"},
		{"multi_root_tile_reduce", `symm.MultiRootTileReduce([]*symm.Tile{x.Tile(0, 2, 0, 6), x.Tile(2, 4, 0, 6)}, piece.Tile(0, 2, 0, 6), []int{0, 1}, "max")`,
			"piece.Ints()[0] * ((rank + 1) % 3 % 2)", "3|0|0"},
		{"reduce_scatter_offset", `symm.ReduceScatterOffset(x, []*symm.Tensor{piece}, 0, nil, nil, "sum")`, "piece.Ints()[0]", "6"},
		{"all_to_all_permute", "symm.AllToAllPermute(x, y.Slice(0, 18).View(-1).Slice(0, 36).View(18, 2), 1, 0)", "y.Ints()[10:14]",
			"[1 1 2 2]"},
	} {
		t.Run(op.name, func(t *testing.T) {
			if reply := eval(prepare); len(reply.Errors) > 0 {
				t.Fatal(reply.Errors[0])
			}
			infos, err := s.Ranks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// Rank 2 takes part in two calls and then leaves the others alone in the third.
			reply := evalHearing("for i := 0; ; i++ {\n\tif rank == 2 && i == 2 { fmt.Println(`leaves`); select {} }\n\t"+op.call+
				"\n\tsymm.Synchronize()\n}", func(o session.Output) {
				if o.Text == "leaves\n" {
					syscall.Kill(infos[2].PID, syscall.SIGKILL)
				}
			})
			var named []int
			for _, e := range reply.Errors {
				said := fmt.Sprintf("%v %s", e.Ranks, e)
				switch {
				case slices.Equal(e.Ranks, []int{2}):
					if e.Kind != session.KindDied || !strings.Contains(e.Msg, "was killed (SIGKILL)") {
						t.Error(said)
					}
				case !strings.HasSuffix(e.Msg, "gave up: rank 2 failed: the worker was killed (SIGKILL)") || e.Peer != 2 ||
					e.Op != op.name || e.Line != 3 || e.Column < 2:
					t.Errorf("%s (operation %q for rank %d)", said, e.Op, e.Peer)
				}
				named = append(named, e.Ranks...)
			}
			if slices.Sort(named); !slices.Equal(named, []int{0, 1, 2}) {
				t.Errorf("ranks %v failed", named)
			}
			if reply := eval(prepare); len(reply.Errors) > 0 {
				t.Fatal(reply.Errors[0])
			}
			reply = eval(op.call + "\nsymm.Synchronize()\nfmt.Sprint(" + op.result + ")")
			if len(reply.Errors) > 0 {
				t.Fatal(reply.Errors[0])
			}
			want := strings.Split(op.want, "|")
			for _, v := range reply.Values {
				for _, rank := range v.Ranks {
					if v.Text != fmt.Sprintf("%q", want[rank%len(want)]) {
						t.Errorf("rank %d: %s, want %s", rank, v.Text, want[rank%len(want)])
					}
				}
			}
		})
	}
}
