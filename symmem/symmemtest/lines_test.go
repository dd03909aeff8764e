package symmemtest

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// linesCase sends many lines, none like another; on GPUs first of one turn a thread, and then of several with two ranks.
func linesCase(t *T) {
	all := func(part *symmem.Tensor) { symmem.AllReduce(part, "sum") }
	if symmem.GetBackend() == "CUDA" {
		t.sumPatterns("lines", all, 256<<10, 1500) // some 20 million lines on 4 ranks
		t.sumPatterns("lines", all, 1700<<10, 20)
		return
	}
	t.sumPatterns("lines", all, 1400, 100)
}

// chunksCase sends so many chunks that every block comes back to its first inboxes, and ends in the middle of one.
func chunksCase(t *T) {
	chunk, rounds := 4<<10, 30 // bytes that all blocks of a rank send to another at once
	if symmem.GetBackend() == "CUDA" {
		chunk, rounds = 132*32<<10, 8
	}
	n := t.size * (6*chunk + chunk/2) / 4
	t.sumPatterns("chunks", func(part *symmem.Tensor) { symmem.TwoShotAllReduce(part, "sum") }, n, rounds)
}

// sumPatterns sums n elements, none like another, some less in each round, and lets every rank look at all elements of
// every result. Nothing waits for the host in between, so that what one call sends follows on what the last did.
func (t *T) sumPatterns(way string, sum func(part *symmem.Tensor), n, rounds int) {
	m := symmem.Compile(`
__device__ unsigned value(unsigned i, unsigned round, unsigned rank) {
	unsigned x = i * 2654435761u ^ round * 2246822519u ^ rank * 3266489917u;
	x ^= x >> 15, x *= 2246822519u;
	return x ^ x >> 13;
}
extern "C" __global__ void set(unsigned* x, int n, int round, int rank) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = value(i, round, rank);
}
extern "C" __global__ void look(const unsigned* x, int n, int round, int ranks, unsigned* wrong) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		unsigned want = 0;
		for (int r = 0; r < ranks; r++) want += value(i, round, r);
		if (x[i] != want) atomicAdd(wrong, 1u);
	}
}`)
	set, look := m.Kernel("set"), m.Kernel("look")
	x, wrong := symmem.Empty(symmem.U32, n), symmem.Local(symmem.U32, 1).Fill(0)
	symmem.Rendezvous(x)
	x.Fill(0)
	if how := symmem.Explain(func() { sum(x) }); !strings.Contains(how, "two shots by "+way) {
		t.Fatalf("%s are not used: %s", way, how)
	}
	for round := range rounds {
		part := n - round%60
		set.Launch(symmem.Grid(64), symmem.Block(256), x, part, round, t.rank)
		sum(x.Slice(0, part))
		look.Launch(symmem.Grid(64), symmem.Block(256), x, part, round, t.size, wrong)
	}
	t.equal("wrong elements", wrong.Ints(), []int{0})
	symmem.Synchronize()
	t.meet()
	x.Free()
	wrong.Free()
}
