//go:build ignore

// The hello session, for any number of ranks from 2 on:
//
//	symmrepl run -n 4 tutorials/hello.go
//
// Every rank runs every cell, and a cell begins when the one before it has ended on all ranks. The session prints the
// same on GPUs and on the cpu device.

// %% A symmetric tensor: each rank has its own, of one shape, and any rank can reach all of them.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
t.Fill(rank)
fmt.Println("filled with the rank:", t.Float32s())

// %% The handle is what a rank knows about everybody's copy.
h := symm.Rendezvous(t)
fmt.Println("rank", h.Rank(), "of", h.WorldSize())
fmt.Println("buffers:", len(h.BufferPtrs()), "of", h.BufferSize(), "bytes; signal pads:", len(h.SignalPadPtrs()), "of", h.SignalPadSize(), "bytes")
fmt.Println("right neighbour's buffer:", h.GetBuffer(right, symm.F32, 4).Float32s())

// %% A ring: put data into the right neighbour's copy, signal it, and wait for the left neighbour's signal.
message := symm.Local(symm.F32, 4)
message.Fill(100 + rank)
h.Put(right, message)
h.PutSignal(right, 1)
h.WaitSignal(left, 1)
fmt.Println("from the left neighbour:", t.Float32s())

// %% One-shot all-reduce. The sums are exact: small integers add up alike in every order.
t.Arange()
sum := symm.OneShotAllReduce(t, "sum")
want := float32(size)
for i, v := range sum.Float32s() {
	if v != want*float32(i) {
		panic(fmt.Sprintf("element %d is %v, not %v", i, v, want*float32(i)))
	}
}
fmt.Println("sum over ranks:", sum.Float32s())

// %% A kernel of your own. It reads the right neighbour's copy through the handle.
neighbour := symm.Compile(`
__global__ void neighbour(symm::Handle h, float* out, int n) {
  const float* theirs = h.buffer<float>((h.rank + 1) % h.world_size);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 10 * theirs[i];
}`)
t.Fill(rank + 1)
h.Barrier(0) // all have filled theirs
out := symm.Local(symm.F32, 4)
neighbour.Launch(symm.Grid(1), symm.Block(32), h, out, 4)
fmt.Println("ten times the right neighbour's:", out.Float32s())
