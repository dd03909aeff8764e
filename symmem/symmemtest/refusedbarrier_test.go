package symmemtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// barrierRefusedCase: a kernel whose barrier was refused, or gave up, does not go on to its stores,
// unless it tests the barrier's result. Blocks with valid barriers go on, and so does the next
// launch.
func barrierRefusedCase(t *T) {
	const threads = 64
	x := symmem.Empty(symmem.I32, 4*threads)
	h := symmem.Rendezvous(x)
	k := symmem.Compile(`
		extern "C" __global__ void heedless(symm::Handle h, int* x, int channel) {
			x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
			symm::barrier(h, blockIdx.x == 0 ? channel : blockIdx.x);
			x[blockIdx.x * blockDim.x + threadIdx.x] = 2;
			__syncthreads();
			x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
		}
		extern "C" __global__ void careful(symm::Handle h, int* x, int channel) {
			const bool all = symm::barrier(h, channel);
			x[threadIdx.x] = 4 + all;
			if (!symm::barrier(h, channel)) return;
			x[threadIdx.x] += 2;
		}`)
	block := symmem.Block(threads)
	of := func(first int, others ...int) (want []int) {
		for _, v := range append([]int{first}, others...) {
			want = append(want, slices.Repeat([]int{v}, threads)...)
		}
		return want
	}
	for round := range 2 {
		x.Fill(0)
		h.Barrier(0)
		k.Launch(symmem.Grid(3), block, h, x, symmem.World().Channels())
		t.refused(symmem.KindMisuse, symmem.Synchronize, "heedless on rank", "symm::barrier: the channel must be in")
		t.equal(fmt.Sprint("refused, round ", round), x.Slice(0, 3*threads).Ints(), of(1, 3, 3))
		k.Kernel("careful").Launch(symmem.Grid(1), block, h, x, symmem.World().Channels())
		t.refused(symmem.KindMisuse, symmem.Synchronize, "careful on rank", "symm::barrier: the channel must be in")
		t.equal(fmt.Sprint("asked, round ", round), x.Slice(0, threads).Ints(), of(4))
		h.Barrier(0)
		k.Launch(symmem.Grid(4), block, h, x, 0)
		t.equal(fmt.Sprint("right, round ", round), x.Ints(), of(3, 3, 3, 3))
	}
	x.Fill(0)
	symmem.Meet()
	if t.rank == 0 && t.size > 1 {
		k.Launch(symmem.Grid(1), block, h, x, 1, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "heedless on rank 0")
		t.equal("gave up", x.Slice(0, threads).Ints(), of(1))
	}
	symmem.Recover()
	x.Free()
}

// ncclBarrierRefusedCase is the same for barriers of NCCL's device API, which return nothing.
func ncclBarrierRefusedCase(t *T) {
	const threads = 64
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 2, Barriers: 2, WorldGinBarriers: 2, RailGinBarriers: 2, GinSignals: 1})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void heedless(ncclDevComm comm, int what, int* x) {
	const ncclCoopCta cta;
	const auto order = cuda::memory_order_acq_rel;
	ncclGin gin{comm, 0};
	{
		ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamTagLsa(), 0);
		bar.sync(cta, order);
		x[threadIdx.x] = 1;
		bar.sync(cta, order);
		if (what == 1) ncclLsaBarrierSession<ncclCoopCta>(cta, comm, ncclTeamTagLsa(), 2).sync(cta, order);
		if (what == 2) ncclLsaBarrierSession<ncclCoopCta>(cta, comm, ncclTeam{comm.lsaSize + 1, comm.lsaRank, 1}, comm.lsaBarrier, 1).sync(cta, order);
		if (what == 3) ncclGinBarrierSession<ncclCoopCta>(cta, gin, ncclTeamTagWorld(), 2).sync(cta, order);
		if (what == 4) ncclGinBarrierSession<ncclCoopCta>(cta, gin, ncclTeam{comm.nRanks / comm.lsaSize + 1, 0, 1}, comm.railGinBarrier, 1).sync(cta, order);
		if (what == 5) ncclBarrierSession<ncclCoopCta>(cta, ncclTeamTagWorld(), gin, 2).sync(cta, order);
		if (what == 6) ncclBarrierSession<ncclCoopCta>(cta, ncclTeamLsa(comm), ncclTeam{comm.nRanks / comm.lsaSize + 1, 0, 1}, gin, comm.hybridLsaBarrier, comm.hybridRailGinBarrier, 1).sync(cta, order);
		x[threadIdx.x] = 2;
	}
	if (what == 7) x[threadIdx.x] = ncclLsaBarrierSession<ncclCoopCta>(cta, comm, ncclTeamTagLsa(), 2).sync(cta, order, 1000ull);
	if (what == 8) x[threadIdx.x] = ncclGinBarrierSession<ncclCoopCta>(cta, gin, ncclTeamTagWorld(), 2).sync(cta, order, ncclGinFenceLevel::Relaxed, 1000ull);
}`)
	x := symmem.Local(symmem.I32, threads)
	lsa := symmem.LSA().Size()
	hosts := t.size / lsa
	right := func(after string) {
		symmem.Meet()
		x.Fill(0)
		k.Launch(symmem.Grid(1), symmem.Block(threads), comm, 0, x)
		t.equal("right, after "+after, x.Ints(), slices.Repeat([]int{2}, threads))
		symmem.Meet()
	}
	right("nothing")
	for what, words := range [][]string{
		1: {"barrier 2 was asked for, and the communicator has 2", "LsaBarriers"},
		2: {fmt.Sprintf("a barrier of a team of %d ranks was asked for that are not all among the %d of the LSA team", lsa+1, lsa),
			"ncclTeamLsa(devComm)"},
		3: {"GIN barrier 2 was asked for, and the communicator has 2", "WorldGinBarriers"},
		4: {fmt.Sprintf("a GIN barrier of a team of %d ranks was asked for, and those of railGinBarrier, symm.DevReqs{RailGinBarriers: 2}, are of %d", hosts+1, hosts), "worldGinBarrier"},
		5: {"barrier 2 was asked for, and the communicator has 2", "Barriers for ncclBarrierSession"},
		6: {fmt.Sprintf("a GIN barrier of a team of %d ranks was asked for, and those of hybridRailGinBarrier, symm.DevReqs{Barriers: 2}, are of %d", hosts+1, hosts), "worldGinBarrier"},
		7: {"barrier 2 was asked for"},
		8: {"GIN barrier 2 was asked for"},
	} {
		if what == 0 {
			continue
		}
		x.Fill(0)
		symmem.Meet()
		k.Launch(symmem.Grid(1), symmem.Block(threads), comm, what, x)
		t.refused(symmem.KindMisuse, symmem.Synchronize, append(words, "heedless on rank")...)
		want := 1
		if what >= 7 { // the kernel tests for the failure
			want = 6
		}
		t.equal(fmt.Sprint("after ", words[0]), slices.Compact(x.Ints()), []int{want})
		right(words[0])
	}
	symmem.Meet()
	if t.rank == 0 && lsa > 1 { // one thread waits for each peer, and most threads do not wait
		x.Fill(0)
		alone := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void alone(ncclDevComm comm, int* x) {
	ncclLsaBarrierSession<ncclCoopCta> bar(ncclCoopCta(), comm, ncclTeamTagLsa(), 1);
	x[threadIdx.x] = 1;
	bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
	x[threadIdx.x] = 2;
}`)
		alone.Launch(symmem.Grid(1), symmem.Block(threads), comm, x, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "alone on rank 0")
		t.equal("gave up", slices.Compact(x.Ints()), []int{1})
	}
	symmem.Recover()
	right("Recover")
	comm.Free()
}
