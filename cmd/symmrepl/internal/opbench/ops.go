package opbench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// op is an operation to measure: Go that makes its tensors, and Go that calls it once. Both see
// ranks and rank; bytes, of the message; n, the number of elements of the larger of a rank's input
// and output, a multiple of 8 for each rank; and side, the rows of the largest square matrix of n
// elements. Tensors come from symmetric and local of bench.go.cell. peers.py measures the same work
// under the same name.
type op struct {
	name, setup, call string

	// Both are nil if nothing crosses a link.
	bus  func(p float64) float64 // by the definitions of nccl-tests: bus bandwidth as a share of the algorithm's on p ranks
	sent func(p float64) float64 // how often the message must leave or reach a rank, for the limit

	// For collectives over h hosts of l ranks: how often the message leaves a rank for other hosts,
	// by way. hierarchical is 0 if there is no such way.
	across func(p, h, l float64) (flat, hierarchical float64)
	within bool // it needs the memory of all ranks

	kind  kind
	needs condition
	nccl  bool // NCCL has the operation too

	device string // Go that launches a kernel of NCCL's device API which does the same on a host, "" if there is none; it sees w and comm
}

// kind marks operations that are not measured over the requested sizes, in a graph and eagerly.
type kind int

const (
	usual   kind = iota
	word         // it moves a word, whatever sizes are requested
	eager        // it cannot be captured
	product      // it multiplies square matrices of the message's size, which takes long
)

// condition is a requirement of an operation, in Go and in words; empty if there is none.
type condition struct{ code, words string }

var (
	multicast = condition{"symm.Caps().Multicast", "NVLink multicast"}
	twoRanks  = condition{"ranks > 1", "two ranks"}
)

func one(float64) float64      { return 1 }
func others(p float64) float64 { return p - 1 }
func share(p float64) float64  { return (p - 1) / p }
func twice(p float64) float64  { return 2 * (p - 1) / p }

func sums(p, h, l float64) (flat, hierarchical float64)   { return p - l, (h - 1) / l }
func pieces(p, h, l float64) (flat, hierarchical float64) { return (p - l) / p, (h - 1) / p }
func apart(p, h, l float64) (flat, hierarchical float64)  { return (p - l) / p, (h - 1) * l / p }
func rooted(_, _, _ float64) (flat, hierarchical float64) { return 1, 1 }
func routed(p, _, l float64) (flat, hierarchical float64) { return (p - l) / p, 0 }

// Rows for the operations by splits: at most as wide as the tokens of a large language model,
// equally many to each expert.
const rows = `w := min(7168, n/(8*ranks))
	count := n / w / (8 * ranks) * 8 * ranks
	in, out := local(count, w), symmetric(count, w)
	each, made2 := 8 * ranks, symm.Local(symm.I64, 2, 8*ranks)
	`

// A block of rows of up to 512 elements, the right half of twice as long ones.
const block = `w := min(512, n/8)
	t, h := local(n/w, w), symm.Rendezvous(symmetric(n/w, 2*w))`

// ops lists all operations, in the order of the tables.
var ops = []op{
	{name: "one_shot_all_reduce", setup: `t, out := symmetric(n), local(n)`, call: `symm.OneShotAllReduceOut(t, "sum", out)`,
		bus: twice, sent: others, within: true},
	{name: "two_shot_all_reduce", setup: `t := symmetric(n)`, call: `symm.TwoShotAllReduce(t, "sum")`, bus: twice, sent: twice,
		within: true},
	{name: "all_reduce", setup: `t := symmetric(n)`, call: `symm.AllReduce(t, "sum")`, bus: twice, sent: twice, across: sums, nccl: true,
		device: `lsaSum.Launch(symm.Grid(lsaBlocks), symm.Block(512), w, t.Bytes()/16, comm)`},
	{name: "reduce_scatter", setup: `t, out := symmetric(n), local(n / ranks)`, call: `symm.ReduceScatterOut(t, "sum", out)`,
		bus: share, sent: share, across: pieces, nccl: true},
	{name: "reduce_scatter_offset", setup: `t, part := symmetric(8*ranks, n/(8*ranks)), local(8, n/(8*ranks))
	out := []*symm.Tensor{part}`, call: `symm.ReduceScatterOffset(t, out, 0, nil, nil, "sum")`, bus: share, sent: share, across: pieces},
	{name: "tile_reduce", setup: `in, out := symmetric(8, n/8).Tile(0, 8, 0, n/8), local(8, n/8).Tile(0, 8, 0, n/8)`,
		call: `symm.TileReduce(in, out, 0, "sum")`, bus: one, sent: others, across: rooted},
	{name: "multi_root_tile_reduce", setup: `t, out := symmetric(ranks, n/ranks), local(1, n/ranks).Tile(0, 1, 0, n/ranks)
	var in []*symm.Tile
	var roots []int
	for i := 0; i < ranks; i++ {
		in, roots = append(in, t.Tile(i, i+1, 0, n/ranks)), append(roots, i)
	}`, call: `symm.MultiRootTileReduce(in, out, roots, "sum")`, bus: share, sent: share, across: pieces},
	{name: "all_gather", setup: `t, out := local(n/ranks), symmetric(n)`, call: `symm.AllGatherOut(t, out)`, bus: share,
		sent: share, across: pieces, nccl: true},
	{name: "all_gather_copy_engine", setup: `out := symmetric(n)
	t := out.Slice(rank*(n/ranks), (rank+1)*(n/ranks))`, call: `symm.AllGatherOut(t, out, symm.CopyEngine())`, bus: share, sent: share, within: true},
	{name: "all_to_all", setup: `t, out := local(n), symmetric(n)`, call: `symm.AllToAllOut(t, out)`, bus: share, sent: share,
		across: apart, nccl: true},
	{name: "all_to_all_copy_engine", setup: `t, out := symmetric(n), local(n)`,
		call: `symm.AllToAllOut(t, out, symm.CopyEngine())`, bus: share, sent: share, within: true},
	{name: "all_to_all_permute", setup: `in, out := local(8, n/8), symmetric(8*ranks, n/8/ranks)`,
		call: `symm.AllToAllPermute(in, out, 1, 0)`, bus: share, sent: share, across: apart},
	{name: "all_to_all_vdev", setup: rows +
		`splits, offsets := symm.Local(symm.I64, ranks).Fill(count/ranks), symm.Local(symm.I64, 2, ranks)
	_, _ = each, made2`, call: `symm.AllToAllVDev(in, out, splits, offsets)`, bus: share, sent: share, across: routed},
	{name: "all_to_all_vdev_2d", setup: rows + `splits := symm.Local(symm.I64, each).Fill(count/each)`,
		call: `symm.AllToAllVDev2D(in, out, splits, made2)`, bus: share, sent: share, across: routed},
	{name: "all_to_all_vdev_2d_offset", setup: rows + `var table []int
	for i := 0; i < 2*each; i++ {
		table = append(table, count/each)
		if i >= each {
			table[i] *= i - each
		}
	}
	splits := symm.Local(symm.I64, 2, each).CopyFrom(table)`, call: `symm.AllToAllVDev2DOffset(in, out, splits, made2)`, bus: share, sent: share, across: routed},
	{name: "broadcast", setup: `t := symmetric(n)`, call: `symm.Broadcast(t, 0)`, bus: one, sent: one, across: sums, nccl: true},
	{name: "multimem_all_reduce", setup: `t := symmetric(n)`, call: `symm.MultimemAllReduce(t, "sum")`, bus: twice, sent: one,
		needs: multicast, within: true},
	{name: "multimem_one_shot_all_reduce", setup: `t, out := symmetric(n), local(n)`,
		call: `symm.MultimemOneShotAllReduceOut(t, "sum", out)`, bus: twice, sent: one, needs: multicast, within: true},
	{name: "multimem_all_gather", setup: `t, out := local(n/ranks), symmetric(n)`, call: `symm.MultimemAllGatherOut(t, out)`,
		bus: share, sent: share, needs: multicast, within: true},
	{name: "put", setup: `t, h := local(n), symm.Rendezvous(symmetric(n))`, call: `h.Put((rank+1)%ranks, t)`, bus: one, sent: one},
	{name: "get", setup: `t, h := local(n), symm.Rendezvous(symmetric(n))`, call: `h.Get((rank+1)%ranks, t)`, bus: one, sent: one},
	{name: "put_block", setup: block, call: `h.PutBlock((rank+1)%ranks, t, 0, w)`, bus: one, sent: one},
	{name: "get_block", setup: block, call: `h.GetBlock((rank+1)%ranks, t, 0, w)`, bus: one, sent: one},
	{name: "barrier", call: `hb.Barrier(0)`, kind: word},
	{name: "signal_ring", call: `hb.PutSignal((rank+1)%ranks, 0); hb.WaitSignal((rank+ranks-1)%ranks, 0)`, kind: word},
	{name: "signal_round_trip", call: `if rank == 0 { hb.PutSignal(1, 1); hb.WaitSignal(1, 1) } else if rank == 1 { hb.WaitSignal(0, 1); hb.PutSignal(0, 1) }`, kind: word, needs: twoRanks},
	{name: "stream_write_value32", setup: `there := hb.GetSignalPad((rank+1)%ranks)`,
		call: `symm.StreamWriteValue32(there, 0, 0)`, kind: word, within: true},
	{name: "memset32", setup: `t := symm.Local(symm.U32, max(bytes/4, 1))`, call: `symm.Memset32(t, 0, 1, t.Numel())`},
	{name: "empty_rendezvous", call: `t := symm.Empty(DTYPE, n); symm.Rendezvous(t); t.Free()`, kind: eager},
	{name: "mem_pool", call: `symm.UseMemPool(func() { t := local(n); symm.Rendezvous(t); t.Free() })`, kind: eager, within: true},
	{name: "matmul", setup: `a, b, out := local(side, side), local(side, side), local(side, side)`,
		call: `symm.MatMul(out, a, b)`, kind: product},
}

// bytes returns the sizes of the messages to measure.
func (o *op) bytes(e extent) []int {
	switch o.kind {
	case word:
		return []int{4}
	case product:
		return slices.DeleteFunc(slices.Clone(e.sizes), func(n int) bool { return n > e.factor })
	}
	return e.sizes
}

// Names returns the names of the operations that can be measured.
func Names() []string {
	var names []string
	for _, o := range ops {
		names = append(names, o.name)
	}
	return names
}

// HasSizes reports whether an operation is measured over the requested sizes.
func HasSizes(name string) bool {
	return slices.ContainsFunc(ops, func(o op) bool { return o.name == name && o.kind != word })
}

// ways are the names of the ways over hosts, in order.
var ways = []string{"flat", "hierarchical"}

// waysIn returns the ways of o in a world.
func (o *op) waysIn(w world) []string {
	if o.across == nil || !w.spans() {
		return nil
	}
	if _, h := o.across(2, 2, 1); h == 0 || !w.even() {
		return ways[:1]
	}
	return ways
}

// refused returns the requirements of o that a world does not meet, in words; empty if all are met
// as far as is known.
func (o *op) refused(w world) string {
	if o.within && w.spans() {
		return "the memory of all ranks, some of which are on other hosts"
	}
	return ""
}

// cell returns the cell that measures o for a message of some bytes: by its default way, over hosts
// by each of its ways, by NCCL if it has the operation, and by a kernel of NCCL's device API if
// there is one.
func (o *op) cell(w world, ranks, width, bytes int) string {
	when := o.needs.code
	switch {
	case o.refused(w) != "":
		when = "false"
	case when == "":
		when = "true"
	}
	n := elements(ranks, width, bytes)
	measures := measuring("", o.name, "", o.kind != eager, o.call)
	for _, way := range o.waysIn(w) {
		measures += "\t" + measuring("", o.name, way, true, o.via(way))
	}
	if o.nccl {
		measures += fmt.Sprintf("\tif nccl {\n\t\t%s\t}\n", measuring(viaNCCL, o.name, "", true, o.via("NCCL")))
	}
	if o.device != "" {
		measures += fmt.Sprintf("\tif lsaSum != nil {\n\t\tw, comm := symm.Window(t), symm.DevComm(symm.DevReqs{LsaBarriers: lsaBlocks})\n\t\t%s\t\tcomm.Free()\n\t}\n",
			measuring(deviceAPI, o.name, "", true, o.device))
	}
	return fmt.Sprintf("if %s {\n\tn, side, bytes := %d, %d, %d\n\t_, _, _ = n, side, bytes\n\t%s\n\t%s\trelease()\n}\n", when, n,
		sideOf(n), bytes, o.setup, measures)
}

// via returns o's call by a way.
func (o *op) via(way string) string {
	return fmt.Sprintf("%s, symm.Via(%q))", strings.TrimSuffix(o.call, ")"), way)
}

// measuring returns the statement that measures a call: in a function that a graph captures, and in
// a loop, as a user writes it.
func measuring(by, op, way string, captured bool, call string) string {
	return fmt.Sprintf("measureBy(%q, %q, %q, bytes, %t, func() { %s }, func(times int) {\n\t\tfor round := 0; round < times; round++ {\n\t\t\t%s\n\t\t}\n\t})\n",
		by, op, way, captured, call, call)
}

// elements returns the number of elements of a message, a multiple of 8 for each rank.
func elements(ranks, width, bytes int) int {
	unit := 8 * ranks
	return max(bytes/width/unit, 1) * unit
}

// sideOf returns the rows, a multiple of 8, of the largest square matrix of at most n elements.
func sideOf(n int) int { return max(int(math.Sqrt(float64(n)))&^7, 8) }
