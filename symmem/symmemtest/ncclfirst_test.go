package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// ncclFirst uses the names of 2.28, the first version with GIN, some of which later versions
// changed: a sum over the LSA team, and an exchange in which each rank gives to all others.
const ncclFirst = `
#include <nccl_device.h>
extern "C" __global__ void sum(ncclWindow_t in, ncclWindow_t out, size_t n, ncclDevComm comm) {
	ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
	bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
	for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
		int v = 0;
		for (int p = 0; p < comm.lsaSize; p++) v += ((int*)ncclGetLsaPointer(in, 0, p))[i];
		((int*)ncclGetLocalPointer(out, 0))[i] = v;
	}
	bar.sync(ncclCoopCta(), cuda::memory_order_release);
}
extern "C" __global__ void give(ncclWindow_t in, ncclWindow_t out, size_t bytes, ncclDevComm comm) {
	ncclGin gin{comm, 0};
	const ncclTeam world = ncclTeamWorld(comm);
	const unsigned long long before = gin.readSignal(0);
	ncclBarrierSession<ncclCoopCta> bar{ncclCoopCta(), ncclTeamTagWorld(), gin, blockIdx.x};
	bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
	for (int p = threadIdx.x; p < world.nRanks; p += blockDim.x) gin.put(world, p, out, world.rank * bytes, in, p * bytes, bytes, ncclGin_SignalInc{0});
	gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks);
	gin.flush(ncclCoopCta());
	bar.sync(ncclCoopCta(), cuda::memory_order_release, ncclGinFenceLevel::Relaxed);
}`

func ncclFirstCase(t *T) {
	const n = 200
	in, out := symmem.Empty(symmem.I32, t.size*n), symmem.Empty(symmem.I32, t.size*n)
	from, to := symmem.Window(in), symmem.Window(out)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 1, Barriers: 1, GinSignals: 1})
	k := symmem.Compile(ncclFirst)
	grid, block, timeout := symmem.Grid(1), symmem.Block(64), symmem.Timeout(20*time.Second)
	in.Fill(t.rank + 1)
	k.Launch(grid, block, from, to, n, comm, timeout)
	sum := 0
	for _, r := range symmem.LSA().Ranks() {
		sum += r + 1
	}
	t.equal("the sum", out.Slice(0, n).Ints(), slices.Repeat([]int{sum}, n))
	want := []int{}
	for r := range t.size {
		in.Slice(r*n, (r+1)*n).Fill(100*t.rank + r)
		want = append(want, slices.Repeat([]int{100*r + t.rank}, n)...)
	}
	symmem.Synchronize()
	symmem.Meet()
	k.Kernel("give").Launch(grid, block, from, to, 4*n, comm, timeout)
	t.equal("what all gave", out.Ints(), want)
	symmem.Synchronize()
	symmem.Meet()
	comm.Free()
	in.Free()
	out.Free()
}
