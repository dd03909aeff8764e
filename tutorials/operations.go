//go:build ignore

// An example of every operation, on 4 ranks. docs/ops.md shows each cell below the operations that
// its title names.
//
//	symmrepl run -n 4 tutorials/operations.go
//
// Comments that begin with ranks are what the cell prints; a test compares them.

// %%
rank := symm.Rank()

// %% AllReduce
a := symm.Empty(symm.F32, 2).Fill(rank)
symm.AllReduce(a, "sum").Float32s()
// [0-3] []float32{6, 6}

// %% OneShotAllReduce, OneShotAllReduceOut
b := symm.Empty(symm.F32, 2).Fill(rank)
maxima := symm.Local(symm.F32, 2)
symm.OneShotAllReduceOut(b, "max", maxima)
fmt.Println(symm.OneShotAllReduce(b, "sum").Float32s(), maxima.Float32s(), b.Float32s())
// [0] [6 6] [3 3] [0 0]
// [1] [6 6] [3 3] [1 1]
// [2] [6 6] [3 3] [2 2]
// [3] [6 6] [3 3] [3 3]

// %% TwoShotAllReduce, TwoShotAllReduceOut
c := symm.Empty(symm.F32, 4).Fill(rank)
average := symm.Local(symm.F32, 4)
symm.TwoShotAllReduceOut(c, "avg", average)
fmt.Println(average.Float32s(), symm.TwoShotAllReduce(c, "sum").Float32s())
// [0-3] [1.5 1.5 1.5 1.5] [6 6 6 6]

// %% ReduceScatter, ReduceScatterOut
d := symm.Empty(symm.I32, 4, 2).Arange()
part := symm.Local(symm.I32, 2)
symm.ReduceScatterOut(d, "max", part)
fmt.Println(symm.ReduceScatter(d, "sum").Ints(), part.Ints())
// [0] [0 4] [0 1]
// [1] [8 12] [2 3]
// [2] [16 20] [4 5]
// [3] [24 28] [6 7]

// %% ReduceScatterOffset
e := symm.Empty(symm.I32, 1, 6).Arange() // columns 0 to 3 go to rank 0, columns 4 and 5 to rank 1
var blocks []*symm.Tensor
if rank < 2 {
	blocks = append(blocks, symm.Local(symm.I32, 1, 4-2*rank))
}
symm.ReduceScatterOffset(e, blocks, 1, []int{4, 6}, []int{0, 1}, "sum")
for _, block := range blocks {
	fmt.Println(block.Ints())
}
// [0] [0 4 8 12]
// [1] [16 20]

// %% TileReduce, MultiRootTileReduce
f := symm.Empty(symm.I32, 4, 4).Arange()
symm.Rendezvous(f)
corner := symm.Local(symm.I32, 2, 2)
symm.TileReduce(f.Tile(2, 4, 2, 4), corner.Tile(0, 2, 0, 2), 3, "sum")
left, right := f.Tile(0, 1, 0, 2), f.Tile(0, 1, 2, 4) // to ranks 0 and 1
half := symm.Local(symm.I32, 1, 2)
symm.MultiRootTileReduce([]*symm.Tile{left, right}, half.Tile(0, 1, 0, 2), []int{0, 1}, "sum")
fmt.Println(corner.Ints(), half.Ints())
// [0] [0 0 0 0] [0 4]
// [1] [0 0 0 0] [8 12]
// [2] [0 0 0 0] [0 0]
// [3] [40 44 56 60] [0 0]

// %% AllGatherMatMul, AllGatherMatMulOut
g := symm.Empty(symm.F32, 1, 2).Fill(rank) // a row of each rank
twice := symm.Local(symm.F32, 2, 2).CopyFrom([]int{2, 0, 0, 2})
rows, products := symm.AllGatherMatMul(g, []*symm.Tensor{twice})
symm.AllGatherMatMulOut(g, []*symm.Tensor{twice}, rows, products)
fmt.Println(rows.Float32s(), products[0].Float32s())
// [0-3] [0 0 1 1 2 2 3 3] [0 0 2 2 4 4 6 6]

// %% MatMulReduceScatter, MatMulReduceScatterOut
row := symm.Local(symm.F32, 1, 2)
symm.MatMulReduceScatterOut(rows, twice, "sum", row)
fmt.Println(row.Float32s(), symm.MatMulReduceScatter(rows, twice, "avg").Float32s())
// [0] [0 0] [0 0]
// [1] [8 8] [2 2]
// [2] [16 16] [4 4]
// [3] [24 24] [6 6]

// %% AllGather, AllGatherOut
h := symm.Empty(symm.I32, 2).Fill(rank)
everything := symm.Empty(symm.I32, 8)
symm.AllGatherOut(h, everything)
fmt.Println(everything.Ints(), symm.AllGather(h).Ints())
// [0-3] [0 0 1 1 2 2 3 3] [0 0 1 1 2 2 3 3]

// %% AllToAll, AllToAllOut
k := symm.Empty(symm.I32, 4).Arange().Add(10*rank, symm.Into(symm.Empty(symm.I32, 4)))
received := symm.Local(symm.I32, 4)
symm.AllToAllOut(k, received)
fmt.Println(received.Ints(), symm.AllToAll(k).Ints())
// [0] [0 10 20 30] [0 10 20 30]
// [1] [1 11 21 31] [1 11 21 31]
// [2] [2 12 22 32] [2 12 22 32]
// [3] [3 13 23 33] [3 13 23 33]

// %% Broadcast
l := symm.Empty(symm.F32, 2).Fill(rank)
symm.Broadcast(l, 3).Float32s()
// [0-3] []float32{3, 3}

// %% AllToAllPermute
m := symm.Empty(symm.I32, 1, 8).Fill(rank) // one row of the sequence, all 4 heads
n := symm.Local(symm.I32, 4, 2)            // all rows, one head
symm.AllToAllPermute(m, n, 1, 0)
n.Ints()
// [0-3] []int{0, 0, 1, 1, 2, 2, 3, 3}

// %% AllToAllVDev
in := symm.Local(symm.I32, 4).Fill(rank)
out := symm.Empty(symm.I32, 8).Fill(-1)
symm.Rendezvous(out)
splits := symm.Local(symm.I64, 4).CopyFrom([]int{2, 1, 1, 0})
came := symm.Local(symm.I64, 2, 4)
symm.AllToAllVDev(in, out, splits, came)
fmt.Println(out.Ints(), came.Slice(0, 1).Ints())
// [0] [0 0 1 1 2 2 3 3] [2 2 2 2]
// [1,2] [0 1 2 3 -1 -1 -1 -1] [1 1 1 1]
// [3] [-1 -1 -1 -1 -1 -1 -1 -1] [0 0 0 0]

// %% AllToAllVDev2D, AllToAllVDev2DOffset
toExperts := symm.Local(symm.I64, 8).CopyFrom([]int{1, 1, 0, 1, 0, 0, 1, 0}) // 2 experts on each rank
arrived := symm.Local(symm.I64, 2, 8)
symm.AllToAllVDev2D(in, out, toExperts, arrived)
returned, back := symm.Empty(symm.I32, 4), symm.Local(symm.I64, 2, 8)
symm.Rendezvous(returned)
symm.AllToAllVDev2DOffset(out, returned, arrived, back)
fmt.Println(arrived.Slice(0, 1).Ints(), returned.Ints())
// [0] [1 1 1 1 1 1 1 1] [0 0 0 0]
// [1] [0 0 0 0 1 1 1 1] [1 1 1 1]
// [2] [0 0 0 0 0 0 0 0] [2 2 2 2]
// [3] [1 1 1 1 0 0 0 0] [3 3 3 3]

// %% NewTokenSwitch, TokenSwitch.Routing, TokenSwitch.Dispatch, TokenSwitch.Combine
ts := symm.NewTokenSwitch(symm.TokenSwitchConfig{Mode: "low_latency", Layout: "expert_major",
	Experts: 4, TopK: 2, MaxTokens: 2, Hidden: 4, DType: symm.F32})
topk := symm.Local(symm.I64, 1, 2).CopyFrom([]int{rank, (rank + 1) % 4}) // one token of each rank, to two experts
token := symm.Local(symm.F32, 1, 4).Fill(rank + 1)
weights := symm.Local(symm.F32, 1, 2).CopyFrom([]float32{0.5, 0.25})
routing := ts.Routing(topk)
dispatched := ts.Dispatch(routing, token, weights)
symm.Synchronize()
ts.Combine(routing, dispatched.Tokens).Float32s()
// [0] []float32{0.75, 0.75, 0.75, 0.75}
// [1] []float32{1.5, 1.5, 1.5, 1.5}
// [2] []float32{2.25, 2.25, 2.25, 2.25}
// [3] []float32{3, 3, 3, 3}

// %% TokenSwitch.DispatchSend, TokenSwitch.Complete
routing = ts.Routing(topk)
dispatched = ts.DispatchSend(routing, token, weights)
// what runs here overlaps with the rows that are under way
ts.Complete(dispatched)
ts.Combine(routing, dispatched.Tokens).Float32s()
// [0] []float32{0.75, 0.75, 0.75, 0.75}
// [1] []float32{1.5, 1.5, 1.5, 1.5}
// [2] []float32{2.25, 2.25, 2.25, 2.25}
// [3] []float32{3, 3, 3, 3}

// %% MultimemAllReduce, MultimemOneShotAllReduce, MultimemOneShotAllReduceOut
o := symm.Empty(symm.F32, 4).Fill(rank)
symm.Rendezvous(o)
sums := symm.Local(symm.F32, 4)
if symm.Caps().Multicast {
	symm.MultimemOneShotAllReduceOut(o, "sum", sums)
	sums = symm.MultimemOneShotAllReduce(o, "sum")
	symm.MultimemAllReduce(o, "sum")
} else {
	symm.OneShotAllReduceOut(o, "sum", sums)
	symm.AllReduce(o, "sum")
}
fmt.Println(sums.Float32s(), o.Float32s())
// [0-3] [6 6 6 6] [6 6 6 6]

// %% MultimemOneShotReduceOut, MultimemAllGatherOut
p, all := symm.Empty(symm.F32, 4).Fill(rank), symm.Empty(symm.F32, 16)
symm.Rendezvous(p)
symm.Rendezvous(all)
if symm.Caps().Multicast {
	symm.MultimemOneShotReduceOut(p, "sum", 2, sums) // the sum on rank 2 alone
	symm.MultimemAllGatherOut(p, all)
} else {
	symm.AllGatherOut(p, all)
}
all.Ints()
// [0-3] []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}

// %% Rendezvous, Handle.Put, Handle.Get, Handle.Barrier
q := symm.Empty(symm.I32, 2)
hq := symm.Rendezvous(q)
hq.Put((rank+1)%4, symm.Local(symm.I32, 2).Fill(rank))
hq.Barrier(0)
got := symm.Local(symm.I32, 2)
hq.Get((rank+1)%4, got)
fmt.Println(q.Ints(), got.Ints())
// [0] [3 3] [0 0]
// [1] [0 0] [1 1]
// [2] [1 1] [2 2]
// [3] [2 2] [3 3]

// %% Handle.PutWithSignal, Handle.WaitForSignal, Handle.ResetSignal
hq.Barrier(0)
hq.PutWithSignal((rank+1)%4, symm.Local(symm.I32, 2).Fill(10*rank), 0, 1)
hq.WaitForSignal(0, "==", 1)
hq.ResetSignal(0)
q.Ints()
// [0] []int{30, 30}
// [1] []int{0, 0}
// [2] []int{10, 10}
// [3] []int{20, 20}

// %% Handle.SignalAdd
hq.Barrier(0) // the words of all ranks are zero again
for peer := range 4 {
	hq.SignalAdd(peer, 0, 1)
}
hq.WaitForSignal(0, ">=", 4) // all four have added
hq.ResetSignal(0)

// %% Handle.PutSignal, Handle.WaitSignal
hq.PutSignal((rank+1)%4, 1)
hq.WaitSignal((rank+3)%4, 1)

// %% Handle.PutBlock, Handle.GetBlock
r := symm.Empty(symm.I32, 2, 4)
hr := symm.Rendezvous(r)
hr.PutBlock((rank+1)%4, symm.Local(symm.I32, 2, 2).Fill(rank), 0, 2) // rows 0 and 1, columns 2 and 3
hr.Barrier(0)
block := symm.Local(symm.I32, 1, 2)
hr.GetBlock((rank+1)%4, block, 1, 2)
fmt.Println(r.Ints(), block.Ints())
// [0] [0 0 3 3 0 0 3 3] [0 0]
// [1] [0 0 0 0 0 0 0 0] [1 1]
// [2] [0 0 1 1 0 0 1 1] [2 2]
// [3] [0 0 2 2 0 0 2 2] [3 3]

// %% Window, DevComm
s := symm.Empty(symm.I32, 32)
window := symm.Window(s)
comm := symm.DevComm(symm.DevReqs{LsaBarriers: 1})
pass := symm.Compile(`
#include <nccl_device.h>
__global__ void pass(ncclDevComm comm, ncclWindow_t window) {
  ncclLsaBarrierSession<ncclCoopCta> bar(ncclCoopCta(), comm, ncclTeamTagLsa(), 0);
  int* right = (int*)ncclGetLsaPointer(window, 0, (comm.lsaRank + 1) % comm.lsaSize);
  right[threadIdx.x] = comm.rank;
  bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}`)
pass.Launch(symm.Grid(1), symm.Block(32), comm, window)
s.Ints()[0]
// [0] 3
// [1] 0
// [2] 1
// [3] 2

// %% StreamWriteValue32, Memset32
u := symm.Empty(symm.U32, 4)
symm.Memset32(u, 0, 7, 4)
symm.StreamWriteValue32(u, 1, 42)
u.Ints()
// [0-3] []int{7, 42, 7, 7}

// %% Map, Reduce
v := symm.Local(symm.F32, 4).Arange()
fmt.Println(symm.Map("x0*x0 + rank", v).Float32s(), symm.Reduce("sum(x0*x0)", v).Item())
// [0] [0 1 4 9] 14
// [1] [1 2 5 10] 14
// [2] [2 3 6 11] 14
// [3] [3 4 7 12] 14

// %% UseMemPool, GetMemPool, MemPoolStats
symm.UseMemPool(func() {
	symm.Empty(symm.F32, 1024).Free()
	symm.Empty(symm.F32, 1024).Free() // the same memory, without a meeting of the ranks
})
fmt.Println(symm.MemPoolStats().Blocks, symm.GetMemPool().Stats().Takes)
// [0-3] 1 2

// %% Tensor.Save, SaveFile, Load
import "os"
folder, _ := os.MkdirTemp("", "")
w := symm.Local(symm.BF16, 2).Fill(rank)
w.Save(folder + "/w.npy")
symm.SaveFile(map[string]*symm.Tensor{"w": w, "v": v}, folder+"/layer.safetensors")
x := symm.Load(folder+"/layer.safetensors", "w") // a symmetric tensor
fmt.Println(x.Float32s(), symm.Load(folder+"/layer.safetensors", "v", symm.Ordinary()).Float32s())
os.RemoveAll(folder);
// [0] [0 0] [0 1 2 3]
// [1] [1 1] [0 1 2 3]
// [2] [2 2] [0 1 2 3]
// [3] [3 3] [0 1 2 3]

// %% MatMul
y := symm.Local(symm.F32, 2, 2).Arange()
symm.MatMul(symm.Local(symm.F32, 2, 2), y, y).Float32s()
// [0-3] []float32{2, 3, 6, 11}
