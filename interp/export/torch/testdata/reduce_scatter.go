//go:build ignore

// A reduce-scatter of one's own: rank r gets part r of the sum. Every block meets on a channel of its own.

// %%
import "math/rand"

rank, size := symm.Rank(), symm.WorldSize()
const part = 4096
x := symm.Empty(symm.BF16, size*part).Rand(42 + rank)
h := symm.Rendezvous(x)
out := symm.Local(symm.BF16, part)

// %% The kernel adds in f32, in the order of the ranks.
reduceScatter := symm.Compile(`
template <int kUnroll>
__global__ void reduce_scatter(const __grid_constant__ symm::Handle h, symm::bf16* out, unsigned part) {
  if (!symm::barrier(h, blockIdx.x)) return;
  unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < part; i += stride) {
    float total = 0;
#pragma unroll kUnroll
    for (int p = 0; p < h.world_size; p++) total += symm::to_float(h.buffer<symm::bf16>(p)[h.rank * part + i]);
    out[i] = symm::to_bf16(total);
  }
  symm::barrier(h, blockIdx.x);
}`, "reduce_scatter<4>")
const blocks, threads = 8, 256
reduceScatter.Launch(symm.Grid(blocks), symm.Block(threads), h, out, uint32(part))
ours := out.Float32s()

// %% A maximum of the differences from the operation, relative to the sum.
func differs(a, b []float32) (largest float64) {
	for i := range a {
		largest = math.Max(largest, math.Abs(float64(a[i]-b[i])))
	}
	return largest
}
theirs := symm.ReduceScatter(x, "sum").Float32s()
worst := 0.0
for i := range ours {
	worst = max(worst, math.Abs(float64(ours[i]-theirs[i]))/float64(size))
}
worst <= 1.0/64

// %% What has no counterpart stays as a comment.
shuffled := rand.Perm(4)
go func() { _ = shuffled }()
len(shuffled)
