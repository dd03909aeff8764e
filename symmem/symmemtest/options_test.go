package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// optionsCase checks that every call refuses the options that its documentation does not name.
func optionsCase(t *T) {
	n := t.size
	x, y := symmem.Empty(symmem.F32, n, n), symmem.Empty(symmem.F32, n, n)
	h := symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	part := symmem.Local(symmem.F32, 1, n)
	splits, outSplits := symmem.Empty(symmem.I64, n), symmem.Empty(symmem.I64, 2, n)
	all := x.Tile(0, n, 0, n)
	k := symmem.Compile(`__global__ void nothing() {}`)
	graph := symmem.Capture(func() { k.Launch(symmem.Grid(1), symmem.Block(1)) })
	event := symmem.NewEvent()
	stream := symmem.NewStream()

	options := map[string]symmem.Option{
		"a *Group": symmem.World(), "a *Stream": stream, "Timeout": symmem.Timeout(time.Second), "AccumulateF32": symmem.AccumulateF32(),
		"SplitLastDim": symmem.SplitLastDim(), "CopyEngine": symmem.CopyEngine(), "MajorAlign": symmem.MajorAlign(1), "Into": symmem.Into(part),
		"Scales": symmem.Scales(part, part), "TransposedB": symmem.TransposedB(),
	}
	stay := []string{"a *Group", "a *Stream", "Timeout"} // options that all stream-ordered calls accept
	with := func(more ...string) []string { return append(slices.Clone(stay), more...) }
	for name, c := range map[string]struct {
		taken []string
		call  func(symmem.Option)
	}{
		"all_reduce":          {with("AccumulateF32"), func(o symmem.Option) { symmem.AllReduce(x, "sum", o) }},
		"one_shot_all_reduce": {with("AccumulateF32"), func(o symmem.Option) { symmem.OneShotAllReduceOut(x, "sum", y, o) }},
		"two_shot_all_reduce": {with("AccumulateF32"), func(o symmem.Option) { symmem.TwoShotAllReduce(x, "sum", o) }},
		"reduce_scatter": {with("AccumulateF32", "SplitLastDim", "CopyEngine"),
			func(o symmem.Option) { symmem.ReduceScatterOut(x, "sum", part, o) }},
		"reduce_scatter_offset": {with("AccumulateF32"),
			func(o symmem.Option) { symmem.ReduceScatterOffset(x, []*symmem.Tensor{part}, 0, nil, nil, "sum", o) }},
		"tile_reduce": {with("AccumulateF32"), func(o symmem.Option) { symmem.TileReduce(all, nil, 0, "sum", o) }},
		"multi_root_tile_reduce": {with("AccumulateF32"),
			func(o symmem.Option) { symmem.MultiRootTileReduce([]*symmem.Tile{all}, nil, []int{0}, "sum", o) }},
		"multimem_all_reduce":          {with(), func(o symmem.Option) { symmem.MultimemAllReduce(x, "sum", o) }},
		"multimem_one_shot_all_reduce": {with(), func(o symmem.Option) { symmem.MultimemOneShotAllReduceOut(x, "sum", y, o) }},
		"multimem_all_gather":          {with(), func(o symmem.Option) { symmem.MultimemAllGatherOut(part, y, o) }},
		"all_gather":                   {with("CopyEngine"), func(o symmem.Option) { symmem.AllGatherOut(part, y, o) }},
		"all_to_all":                   {with("CopyEngine"), func(o symmem.Option) { symmem.AllToAllOut(x, y, o) }},
		"broadcast":                    {with(), func(o symmem.Option) { symmem.Broadcast(x, 0, o) }},
		"all_to_all_permute":           {with(), func(o symmem.Option) { symmem.AllToAllPermute(x, y, 1, 0, o) }},
		"all_to_all_vdev":              {with(), func(o symmem.Option) { symmem.AllToAllVDev(x, y, splits, outSplits, o) }},
		"all_to_all_vdev_2d":           {with("MajorAlign"), func(o symmem.Option) { symmem.AllToAllVDev2D(x, y, splits, outSplits, o) }},
		"all_to_all_vdev_2d_offset":    {with(), func(o symmem.Option) { symmem.AllToAllVDev2DOffset(x, y, outSplits, outSplits, o) }},
		"matmul":                       {with("Scales", "TransposedB"), func(o symmem.Option) { symmem.MatMul(y, x, x, o) }},
		"all_gather_matmul": {with("Scales", "TransposedB"),
			func(o symmem.Option) { symmem.AllGatherMatMul(part, []*symmem.Tensor{x}, o) }},
		"matmul_reduce_scatter": {with("AccumulateF32", "Scales", "TransposedB"), func(o symmem.Option) { symmem.MatMulReduceScatter(x, y, "sum", o) }},
		"stream_write_value32":  {with(), func(o symmem.Option) { symmem.StreamWriteValue32(x.As(symmem.U32).View(-1), 0, 0, o) }},
		"barrier":               {with(), func(o symmem.Option) { h.Barrier(0, o) }},
		"put_signal":            {with(), func(o symmem.Option) { h.PutSignal(0, 0, o) }},
		"put":                   {with(), func(o symmem.Option) { h.Put(0, part, o) }},
		"wait_for_signal":       {with(), func(o symmem.Option) { h.WaitForSignal(0, "==", 0, o) }},
		"Rendezvous":            {[]string{"a *Group"}, func(o symmem.Option) { symmem.Rendezvous(x, o) }},
		"UseMemPool":            {[]string{"a *Group"}, func(o symmem.Option) { symmem.UseMemPool(func() {}, o) }},
		"MemPoolStats":          {[]string{"a *Group"}, func(o symmem.Option) { symmem.MemPoolStats(o) }},
		"Replay":                {[]string{"a *Stream"}, func(o symmem.Option) { graph.Replay(o) }},
		"Event.Record":          {[]string{"a *Stream"}, func(o symmem.Option) { event.Record(o) }},
	} {
		for sort, o := range options {
			if !slices.Contains(c.taken, sort) {
				t.refused(symmem.KindMisuse, func() { c.call(o) }, name, sort+" is an option of ", "leave it out")
			}
		}
		t.refused(symmem.KindMisuse, func() { c.call(nil) }, name, "an option is nil")
		if slices.Contains(c.taken, "a *Group") {
			t.refused(symmem.KindMisuse, func() { c.call((*symmem.Group)(nil)) }, name, "the group is nil")
		}
		if slices.Contains(c.taken, "a *Stream") {
			t.refused(symmem.KindMisuse, func() { c.call((*symmem.Stream)(nil)) }, name, "the stream is nil")
		}
	}
	t.refused(symmem.KindMisuse, func() { k.Launch(symmem.Grid(1), symmem.Block(1), (*symmem.Stream)(nil)) }, "nothing", "the stream is nil")
	t.refused(symmem.KindMisuse, func() { h.Barrier(0, symmem.Timeout(-time.Second)) }, "barrier", "a timeout must be positive, not -1s")
	graph.Free()
	stream.Free()
	for _, x := range []*symmem.Tensor{x, y, splits, outSplits} {
		x.Free()
	}
}
