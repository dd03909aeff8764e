//go:build ignore

// A ring all-gather: every rank puts the piece that it received last to its right neighbour, with a signal behind it.

// %%
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
n := 1000 // elements of a piece
all := symm.Empty(symm.I32, size, n)
h := symm.Rendezvous(all)
mine := all.Slice(rank, rank+1)
mine.Arange()
for i := 0; i < n; i += 100 {
	mine.View(n).Slice(i, i+100).Fill(1000*rank + i)
}

// %% One kernel makes all steps. Word s of the pad says that the piece of step s is here.
ring := symm.Compile(`
__global__ void ring(symm::Handle h, int n, unsigned long long round) {
  int* all = h.buffer<int>(h.rank);
  int right = (h.rank + 1) % h.world_size;
  for (int step = 1; step < h.world_size; step++) {
    int piece = (h.rank - step + 1 + h.world_size) % h.world_size;
    if (!symm::put_with_signal(h, right, piece * n * sizeof(int), all + piece * n, n * sizeof(int), step, round)) return;
    bool ok = true;
    if (threadIdx.x == 0) ok = symm::wait_for_signal(h, step, round, true);
    if (!__syncthreads_and(ok)) return;
  }
}`)
h.Barrier(0)
ring.Launch(symm.Grid(1), symm.Block(256), h, n, uint64(1))
h.Barrier(0)
got := all.Ints()
got[0], got[len(got)-1]

// %% The operation has the same.
piece := symm.Empty(symm.I32, n).CopyFrom(got[rank*n : rank*n+n])
symm.Rendezvous(piece)
slices.Equal(got, symm.AllGather(piece).Ints())

// %% One step more by the host: a put with a signal, and a wait for the left neighbour's.
message := symm.Local(symm.I32, n).Fill(-1 - rank)
h.PutWithSignal(right, message, 100, 7)
h.WaitForSignal(100, "==", 7)
got = all.Ints()
got[0] == -1-left
