package symmemtest

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// ncclFence puts a value to each rank, and reads the received values after a relaxed barrier that
// fences puts. Then, over several launches, it uses the value of a signal as the start of a count.
const ncclFence = `
#include <nccl_device.h>
extern "C" __global__ void fence(ncclDevComm comm, ncclWindow_t win, int* out, int value) {
	ncclGin gin{comm, 0};
	const ncclTeam world = ncclTeamWorld(comm);
	ncclBarrierSession<ncclCoopCta> bar{ncclCoopCta(), ncclTeamTagWorld(), gin, 0};
	if (threadIdx.x < world.nRanks) gin.putValue(world, threadIdx.x, win, world.rank * sizeof(int), value + world.rank);
	bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Put);
	if (threadIdx.x < world.nRanks) out[threadIdx.x] = ((int*)ncclGetLocalPointer(win, 0))[threadIdx.x];
	bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
}
extern "C" __global__ void count(ncclDevComm comm) {
	ncclGin gin{comm, 0};
	const ncclTeam world = ncclTeamWorld(comm);
	const unsigned long long before = gin.readSignal(0);
	ncclBarrierSession<ncclCoopCta> bar{ncclCoopCta(), ncclTeamTagWorld(), gin, 0};
	bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
	if (threadIdx.x == 0) gin.signal(world, (world.rank + 1) % world.nRanks, ncclGin_SignalInc{0});
	gin.waitSignal(ncclCoopCta(), 0, before + 1);
}`

func ncclFenceCase(t *T) {
	x, out := symmem.Empty(symmem.I32, t.size), symmem.Local(symmem.I32, t.size)
	win := symmem.Window(x)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 1, Barriers: 1, WorldGinBarriers: 1, GinSignals: 1})
	k := symmem.Compile(ncclFence)
	grid, block, timeout := symmem.Grid(1), symmem.Block(64), symmem.Timeout(20*time.Second)
	for round := range 2 {
		k.Launch(grid, block, comm, win, out, 100*round, timeout)
		want := make([]int, t.size)
		for r := range want {
			want[r] = 100*round + r
		}
		t.equal("what all put", out.Ints(), want)
		k.Kernel("count").Launch(grid, block, comm, timeout)
	}
	symmem.Synchronize()
	symmem.Meet()
	comm.Free()
	x.Free()
}
