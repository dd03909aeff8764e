//go:build ignore

// The hello session, for two or more ranks:
//
//	symmrepl run -n 4 tutorials/hello.go
//
// Every rank runs every cell. A cell begins when all ranks have finished the previous one. The output is the same on
// GPUs and on the cpu device.

// %% A symmetric tensor: each rank has a copy of the same shape, and every rank can access all copies.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
t.Fill(rank)
fmt.Println("filled with the rank:", t.Float32s())

// %% The handle gives a rank access to all copies.
h := symm.Rendezvous(t)
fmt.Println("rank", h.Rank(), "of", h.WorldSize())
fmt.Println("buffers:", len(h.BufferPtrs()), "of", h.BufferSize(), "bytes; signal pads:", len(h.SignalPadPtrs()), "of", h.SignalPadSize(), "bytes")
fmt.Println("right neighbour's buffer:", h.GetBuffer(right, symm.F32, 4).Float32s())

// %% A ring: put data into the right neighbour's copy, signal the neighbour, and wait for the left neighbour's signal.
message := symm.Local(symm.F32, 4)
message.Fill(100 + rank)
h.Put(right, message)
h.PutSignal(right, 1)
h.WaitSignal(left, 1)
fmt.Println("from the left neighbour:", t.Float32s())

// %% One-shot all-reduce. The sums are exact: sums of small integers do not depend on the order.
t.Arange()
sum := symm.OneShotAllReduce(t, "sum")
want := float32(size)
for i, v := range sum.Float32s() {
	if v != want*float32(i) {
		panic(fmt.Sprintf("element %d is %v, not %v", i, v, want*float32(i)))
	}
}
fmt.Println("sum over ranks:", sum.Float32s())

// %% Your own kernel. It reads the right neighbour's copy through the handle.
neighbour := symm.Compile(`
__global__ void neighbour(symm::Handle h, float* out, int n) {
  const float* theirs = h.buffer<float>((h.rank + 1) % h.world_size);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 10 * theirs[i];
}`)
t.Fill(rank + 1)
h.Barrier(0) // all ranks have filled their copies
out := symm.Local(symm.F32, 4)
neighbour.Launch(symm.Grid(1), symm.Block(32), h, out, 4)
fmt.Println("ten times the right neighbour's:", out.Float32s())
