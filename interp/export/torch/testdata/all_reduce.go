//go:build ignore

// The one-shot all-reduce of tutorial 04, compared with the operation.

// %%
rank, size := symm.Rank(), symm.WorldSize()
n := 100
x := symm.Empty(symm.F32, n).Fill(rank - 10)
h := symm.Rendezvous(x)
out := symm.Local(symm.F32, n)

// %% The all-reduce: a barrier, a loop over peers, a barrier.
sum := symm.Compile(`
__global__ void sum(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}`)
sum.Launch(symm.Grid(1), symm.Block(32), h, out, n)
total := out.Float32s()
fmt.Println(total[0], total[n-1])

// %% It agrees with the operation.
want := symm.OneShotAllReduce(x, "sum").Float32s()
largest := 0.0
for i := range want {
	largest = max(largest, math.Abs(float64(total[i]-want[i])))
}
fmt.Println("the largest difference is", largest)
largest == 0

// %% Again, with other numbers in every round.
right := true
for round := 0; round < 3; round++ {
	for i := range 10 {
		x.Slice(10*i, 10*i+10).Fill((7*i + 13*rank + round) % 200)
	}
	sum.Launch(symm.Grid(1), symm.Block(128), h, out, n, symm.Timeout(10*time.Second))
	if !slices.Equal(out.Float32s(), symm.OneShotAllReduce(x, "sum").Float32s()) {
		right = false
	}
}
right && size > 0
