package symmemtest

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// linesCase sends many lines, none like another, and lets every rank look at all elements of every result. Nothing
// waits for the host in between, so that the lines of one call follow on those of the last.
func linesCase(t *T) {
	n, rounds := 1400, 100
	if symmem.GetBackend() == "CUDA" {
		n, rounds = 256<<10, 1500 // some 20 million lines on 4 ranks
	}
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
	if how := symmem.Explain(func() { symmem.AllReduce(x, "sum") }); !strings.Contains(how, "two shots by lines") && symmem.GetBackend() == "CPU" {
		t.Fatalf("lines are not used: %s", how)
	}
	for round := range rounds {
		part := n - round%60
		set.Launch(symmem.Grid(64), symmem.Block(256), x, part, round, t.rank)
		symmem.AllReduce(x.Slice(0, part), "sum")
		look.Launch(symmem.Grid(64), symmem.Block(256), x, part, round, t.size, wrong)
	}
	t.equal("wrong elements", wrong.Ints(), []int{0})
	symmem.Synchronize()
	t.meet()
	x.Free()
	wrong.Free()
}
