package symmemtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// rowsOverHosts is a dispatch in a group: the rows that a member sent and received, and the rows
// that it had to receive.
type rowsOverHosts struct {
	out, splits           *symmem.Tensor // copies of the results
	wantRows, wantOffsets []int
}

// overHostsRowsCase issues exchanges of rows in several groups, from no rows at all to many
// messages, between other collectives of the same groups and without waiting.
func overHostsRowsCase(t *T) {
	const width, most, experts = 3000, 40, 2
	lists := [][]int{symmem.World().Ranks(), symmem.Rail().Ranks()}
	if t.size > 2 {
		lists = append(lists, []int{0, t.size / 2, t.size - 1})
	}
	for _, members := range lists {
		g := symmem.NewGroup(members...)
		me, world := g.Rank(), len(members)
		if me < 0 {
			t.meet()
			continue
		}
		rowsOut, n := world*most+experts, world*experts
		in, out, back := symmem.Local(symmem.I32, most, width).CopyFrom(rows(me, 0, most, width)),
			g.Empty(symmem.I32, rowsOut, width), g.Empty(symmem.I32, most, width)
		sum := g.Empty(symmem.I32, 70_000)
		for _, s := range []*symmem.Tensor{out, back, sum} {
			symmem.Rendezvous(s, g)
		}
		var got []rowsOverHosts
		wantSum := 1
		sum.Fill(1)
		for seed := range 8 {
			splits := randomSplits(seed, world, n, most)
			if seed == 5 {
				splits = slices.Repeat([][]int{make([]int, n)}, world)
			}
			table, both, returned := symmem.Local(symmem.I64, n).CopyFrom(splits[me]), symmem.Local(symmem.I64, 2, n),
				symmem.Local(symmem.I64, 2, n)
			symmem.AllToAllVDev2D(in, out.Fill(untouched), table, both, by(vias[seed%2])...)
			symmem.AllReduce(sum, "sum", g)
			wantSum *= world
			w, counts, _ := dispatched(splits, me, experts, width, rowsOut, 1)
			got = append(got, rowsOverHosts{symmem.Local(symmem.I32, rowsOut, width).CopyFrom(out), both, w, counts})
			symmem.AllToAllVDev2DOffset(out, back.Fill(untouched), both, returned)
			total := 0
			for _, k := range splits[me] {
				total += k
			}
			w = append(rows(me, 0, total, width), slices.Repeat([]int{untouched}, (most-total)*width)...)
			got = append(got, rowsOverHosts{symmem.Local(symmem.I32, most, width).CopyFrom(back), returned, w,
				slices.Concat(splits[me], prefix(splits[me]))})
		}
		for i, r := range got {
			what := fmt.Sprintf("%v: seed %d, %s", g, i/2, []string{"dispatched", "returned"}[i%2])
			t.equal(what, slices.Equal(r.out.Ints(), r.wantRows), true)
			t.equal(what+", counts and offsets", r.splits.Ints(), r.wantOffsets)
			r.out.Free()
		}
		t.equal("sum", sum.Ints(), slices.Repeat([]int{wantSum}, sum.Numel()))
		for _, s := range []*symmem.Tensor{out, back, sum} {
			s.Free()
		}
		g.Free()
		t.meet()
	}
}

// overHostsRowsGraphCase replays an exchange many times without waiting, each time with other
// splits.
func overHostsRowsGraphCase(t *T) {
	const width, most, tables, replays = 64, 50, 7, 40
	v := t.newVDev(symmem.I32, 1, width, most, t.size*most)
	splits := make([][][]int, tables)
	var flat []int
	for k := range splits {
		splits[k] = randomSplits(k, t.size, t.size, most)
		flat = append(flat, splits[k][t.rank]...)
	}
	table, count := symmem.Local(symmem.I64, tables, t.size).CopyFrom(flat), symmem.Local(symmem.I32, 1).Fill(-1)
	log := symmem.Local(symmem.I64, tables*(replays/tables+2), t.size)
	k := symmem.Compile(`extern "C" __global__ void pick(long long* splits, const long long* table, int n, int tables, int* count) {
		int k = ++*count % tables;
		for (int i = 0; i < n; i++) splits[i] = table[k * n + i];
	}
	extern "C" __global__ void note(long long* log, const long long* got, const int* out, int width, int n, const int* count) {
		for (int p = 0; p < n; p++) {
			long long sum = 0;
			for (long long i = got[n + p] * width; i < (got[n + p] + got[p]) * width; i++) sum += out[i];
			log[*count * n + p] = sum;
		}
	}`)
	f := func() {
		k.Kernel("pick").Launch(symmem.Grid(1), symmem.Block(1), v.splits, table, t.size, tables, count)
		symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits)
		k.Kernel("note").Launch(symmem.Grid(1), symmem.Block(1), log, v.outSplits, v.out, width, t.size, count)
	}
	v.fill(t.rank, splits[0][t.rank])
	f()
	g := symmem.Capture(f)
	for range replays {
		g.Replay()
	}
	got := log.Ints()
	for call := range replays + 1 {
		of := splits[call%tables]
		for p := range t.size {
			lo := prefix(of[p])[t.rank]
			want := 0
			for i := range of[p][t.rank] {
				want += width * (p*100 + lo + i)
			}
			t.equal(fmt.Sprint("call ", call, ", rows of rank ", p), got[call*t.size+p], want)
		}
	}
	g.Free()
	v.free()
}

// overHostsRowsExplainCase checks Explain's description of the way.
func overHostsRowsExplainCase(t *T) {
	v := t.newVDev(symmem.I32, 2, 4, 10, 10*t.size)
	v.fill(t.rank, make([]int, 2*t.size))
	call := func() { symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.MajorAlign(2)) }
	net, hosts := symmem.Caps().Between, symmem.Caps().Hosts
	far := t.size - t.size/len(hosts)
	t.equal("Explain", symmem.Explain(call),
		fmt.Sprintf("all_to_all_vdev_2d i32[%d] by %d splits, regions of 2 on world (%d ranks, %d bytes): flat, by puts of %d splits of this rank over %s between hosts, "+
			"stores within, because every row goes straight into its place", 40*t.size, 2*t.size, t.size, 160*t.size, 2*far, net))
	t.rt.StartTrace()
	call()
	symmem.Synchronize()
	ops := tracedWork(t.rt.StopTrace())
	t.equal("traced", []any{len(ops), ops[0].Name, ops[0].Bytes, strings.HasPrefix(ops[0].Over, net+" with host")},
		[]any{1, "all_to_all_vdev_2d", 0, true})
	v.free()
}

// lossInRowsCase: all ranks exchange rows when the last one is killed, and the live ranks end, also
// the one on its host.
func lossInRowsCase(t *T) {
	v := t.newVDev(symmem.I32, 1, 4096, 10*t.size, 10*t.size)
	v.fill(t.rank, slices.Repeat([]int{10}, t.size))
	symmem.Synchronize()
	t.bereft = true
	if t.rank == t.size-1 {
		t.ready()
	}
	t.gone(func() {
		for {
			symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits)
			symmem.Synchronize()
		}
	}, "all_to_all_vdev")
	t.refused(symmem.KindPeer, func() { symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits) }, "out of step", "Recover")
}
