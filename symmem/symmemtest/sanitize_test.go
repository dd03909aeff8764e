package symmemtest

import (
	"os"
	"runtime"

	"github.com/symmrepl/symmrepl/symmem"
)

// sanitizeAgainCase: accesses while the sanitizer is off are unknown when it is on again, and cause
// no findings. Findings from before it was switched off are not lost.
func sanitizeAgainCase(t *T) {
	defer t.rt.Sanitize(os.Getenv(sanitizeVariable) != "", 0)
	k := symmem.CompileAt("cell[3]", 10, `__global__ void set(int* x, int to) { x[threadIdx.x] = to; }
__global__ void before(int* x, int to) { x[(int)threadIdx.x - 1] = to; }
__global__ void take(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void pass(symm::Handle h, int round) {
  int peer = (h.rank + 1) % h.world_size;
  h.buffer<int>(peer)[threadIdx.x] = round;
  symm::barrier(h, 0);
}`)
	grid, block := symmem.Grid(1), symmem.Block(32)
	local := func() *symmem.Tensor { return symmem.Local(symmem.I32, 32) }
	shared := symmem.Empty(symmem.I32, 32)
	h := symmem.Rendezvous(shared, symmem.LSA()) // kernels store to peers

	t.rt.Sanitize(true, 0)
	freed, kept, unread := local(), local(), local()
	k.Kernel("set").Launch(grid, block, freed, 1)
	k.Kernel("set").Launch(grid, block, kept, 2)
	k.Kernel("pass").Launch(grid, block, h, 1)
	freed.Free()
	k.Kernel("before").Launch(grid, block, kept, 3)

	t.rt.Sanitize(false, 0)
	found := t.rt.Findings()
	if len(found) != 1 || found[0].Kind.String() != "out of bounds" {
		t.Errorf("before it was switched off was found %v", found)
	}
	again := local() // at the place of the freed tensor
	k.Kernel("set").Launch(grid, block, unread, 4)
	k.Kernel("pass").Launch(grid, block, h, 2)

	t.rt.Sanitize(true, 0)
	k.Kernel("pass").Launch(grid, block, h, 3)
	k.Kernel("set").Launch(grid, block, again, 5)
	k.Kernel("take").Launch(grid, block, kept, unread)
	symmem.Synchronize()
	t.equal("what is found of it", len(t.rt.Findings()), 0)
	t.equal("a tensor", []int{again.Ints()[31], kept.Ints()[31], shared.Ints()[31]}, []int{5, 4, 3})
	t.meet()
	for _, x := range []*symmem.Tensor{kept, unread, again, shared} {
		x.Free()
	}
	dropped(t, k.Kernel("set"))
}

// sanitizeOffTogetherCase: all ranks forget the words of memory that they share at the same time when
// the sanitizer is switched off.
func sanitizeOffTogetherCase(t *T) {
	defer t.rt.Sanitize(os.Getenv(sanitizeVariable) != "", 0)
	const words = 2048
	shared := symmem.Empty(symmem.I32, words).Fill(0)
	h := symmem.Rendezvous(shared, symmem.LSA())
	add := symmem.Compile(`__global__ void add(symm::Handle h, int n) {
  for (int peer = 0; peer < h.world_size; peer++)
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd_system(&h.buffer<int>(peer)[i], 1);
}`)
	const rounds = 4
	for range rounds {
		t.rt.Sanitize(true, 0)
		add.Launch(symmem.Grid(1), symmem.Block(64), h, words)
		symmem.Synchronize()
		t.rt.Sanitize(false, 0)
		t.equal("findings", len(t.rt.Findings()), 0)
	}
	want := make([]int, words)
	for i := range want {
		want[i] = rounds * h.WorldSize()
	}
	t.equal("sums", shared.Ints(), want)
	t.meet()
	shared.Free()
}

// dropped: the garbage collector frees memory at any time, also while the sanitizer is being
// switched off, and tensors that reuse the memory cause no findings.
func dropped(t *T, set *symmem.Kernel) {
	for range 4 {
		t.rt.Sanitize(true, 0)
		for range 300 {
			set.Launch(symmem.Grid(1), symmem.Block(32), symmem.Local(symmem.I32, 32), 1)
		}
		runtime.GC() // this lets another goroutine free them
		t.rt.Sanitize(false, 0)
		var list []*symmem.Tensor
		for range 300 {
			list = append(list, symmem.Local(symmem.I32, 32))
		}
		t.rt.Sanitize(true, 0)
		for _, x := range list {
			set.Launch(symmem.Grid(1), symmem.Block(32), x, 2)
		}
		symmem.Synchronize()
		if found := t.rt.Findings(); len(found) > 0 {
			t.Errorf("of tensors whose memory others had was found %v", found[0])
		}
		for _, x := range list {
			x.Free()
		}
	}
}
