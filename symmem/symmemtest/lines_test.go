package symmemtest

import (
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// linesCase sends many lines, all different. On GPUs each thread first has one turn, and then, with
// two ranks, several.
func linesCase(t *T) {
	all := func(part *symmem.Tensor) { symmem.AllReduce(part, "sum") }
	if t.rt.Sharing().Ranks != nil { // lines need links
		t.sumPatterns("packets", all, 256<<10, 20)
		return
	}
	if symmem.GetBackend() != "CPU" {
		t.sumPatterns("lines", all, 256<<10, 1500) // some 20 million lines on 4 ranks
		most := 1700 << 10
		if t.size > 4 {
			most = 1500 << 10
		}
		t.sumPatterns("lines", all, most, 20)
		return
	}
	t.sumPatterns("lines", all, 1400, 100)
}

// chunksCase sends so many chunks that every block reuses its first inboxes, and ends in the middle
// of a chunk.
func chunksCase(t *T) {
	rounds := 30
	if symmem.GetBackend() != "CPU" {
		rounds = 8
	}
	t.sumPatterns("chunks", twoShots, t.manyChunks(), rounds)
}

// chunksTimeoutCase lets rank 0 give up in the middle of its chunks, because the others have fewer
// chunks, and leaves the ranks at different rounds.
func chunksTimeoutCase(t *T) {
	n := t.manyChunks()
	x := symmem.Empty(symmem.F32, n)
	symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	limit := symmem.Timeout(500 * time.Millisecond)
	if t.rank == 0 {
		symmem.TwoShotAllReduce(x, "sum", limit)
		t.refused(symmem.KindTimeout, symmem.Synchronize, "two_shot_all_reduce", "waited", "must make the same call")
		t.refused(symmem.KindPeer, func() { symmem.TwoShotAllReduce(x, "sum") }, "out of step")
	} else {
		symmem.TwoShotAllReduce(x.Slice(0, n/2), "sum", limit)
		symmem.Maybe(symmem.Synchronize) // on a busy machine this rank waits in vain too
	}
	symmem.Recover()
	x.Free()
	t.sumPatterns("chunks", twoShots, n, 3)
}

func twoShots(part *symmem.Tensor) { symmem.TwoShotAllReduce(part, "sum") }

// manyChunks returns the number of 32-bit elements in six and a half chunks for every block.
func (t *T) manyChunks() int {
	chunk := 4 << 10 // bytes that all blocks of a rank send to another at once
	if symmem.GetBackend() != "CPU" {
		chunk = 132 * 32 << 10
	}
	return t.size * (6*chunk + chunk/2) / 4
}

// sumPatterns sums n elements, all different, and fewer in each round, and lets every rank check
// all elements of every result. The host does not wait in between, so that each call follows
// directly on the last one.
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
