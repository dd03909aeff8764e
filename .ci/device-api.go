// Measures a kernel of NCCL's device API on one GPU. With the back end CUDA the kernel uses symmrepl's
// nccl_device.h, with the back end NCCL the nccl_device.h of NCCL.
import (
	"fmt"
	"sort"
)

fmt.Println("back end", symm.GetBackend())

// %%
k := symm.Compile(`
#include <nccl_device.h>
struct alignas(16) pack { float v[4]; };
__device__ __forceinline__ void sums(ncclWindow_t w, long long packs, ncclDevComm const& comm, int reads, int mask) {
  const int ranks = comm.lsaSize;
  for (long long i = threadIdx.x + blockDim.x * (blockIdx.x + (long long)gridDim.x * comm.lsaRank); i < packs; i += (long long)blockDim.x * gridDim.x * ranks) {
    pack s = *(pack*)ncclGetLsaPointer(w, 16 * i, 0);
    for (int p = 1; p < reads; p++) {
      const pack x = *(pack*)ncclGetLsaPointer(w, 16 * i, p & mask);
      for (int j = 0; j < 4; j++) s.v[j] += x.v[j];
    }
    for (int p = 0; p < ranks; p++) *(pack*)ncclGetLsaPointer(w, 16 * i, p) = s;
  }
}
extern "C" __global__ void empty(ncclWindow_t w, long long packs, ncclDevComm comm, int reads, int mask) {}
extern "C" __global__ void loop(ncclWindow_t w, long long packs, ncclDevComm comm, int reads, int mask) { sums(w, packs, comm, reads, mask); }
extern "C" __global__ void barriers(ncclWindow_t w, long long packs, ncclDevComm comm, int reads, int mask) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
  bar.sync(ncclCoopCta(), cuda::memory_order_release);
}
extern "C" __global__ void ten(ncclWindow_t w, long long packs, ncclDevComm comm, int reads, int mask) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
#pragma unroll 1
  for (int i = 0; i < 5; i++) {
    bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
    bar.sync(ncclCoopCta(), cuda::memory_order_release);
  }
}
extern "C" __global__ void all(ncclWindow_t w, long long packs, ncclDevComm comm, int reads, int mask) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
  sums(w, packs, comm, reads, mask);
  bar.sync(ncclCoopCta(), cuda::memory_order_release);
}`)

// %%
const blocks, calls, replays = 32, 20, 5
for _, bytes := range []int{4096, 1 << 20, 64 << 20} {
	t := symm.Empty(symm.F32, bytes/4)
	w, comm := symm.Window(t), symm.DevComm(symm.DevReqs{LsaBarriers: blocks})
	for _, c := range []struct {
		kernel string
		reads  int
	}{{"empty", 0}, {"barriers", 0}, {"ten", 0}, {"loop", 1}, {"loop", 4}, {"all", 1}, {"all", 4}} {
		if c.reads == 0 && bytes > 4096 {
			continue
		}
		kernel := k.Kernel(c.kernel)
		g := symm.Capture(func() {
			for i := 0; i < calls; i++ {
				kernel.Launch(symm.Grid(blocks), symm.Block(512), w, bytes/16, comm, c.reads, 0)
			}
		})
		g.Replay()
		var us []float64
		for i := 0; i < 15; i++ {
			us = append(us, symm.Elapsed(func() {
				for r := 0; r < replays; r++ {
					g.Replay()
				}
			}).Seconds()*1e6/(calls*replays))
		}
		sort.Float64s(us)
		fmt.Printf("%9d bytes  %-8s  %d loads  %8.3f us\n", bytes, c.kernel, c.reads, us[len(us)/2])
		g.Free()
	}
	comm.Free()
	t.Free()
}
