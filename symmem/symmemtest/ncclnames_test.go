package symmemtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// ncclNames are the names of NCCL's device API that kernels use, and that
// kernels/include/nccl_device.h must have.
const ncclNames = `
ncclSuccess ncclTimeout ncclDevComm ncclDevComm_t ncclWindow_t ncclTeam ncclTeam_t ncclTeamTagWorld ncclTeamTagLsa ncclTeamTagRail ncclDevResourceHandle ncclDevResourceHandle_t
rank nRanks lsaRank lsaSize lsaBarrier lsaMultimem
ncclCoopCta ncclCoopWarp ncclCoopThread ncclCoopTile ncclCoopLanes ncclCoopWarpSpan ncclCoopAny ncclCoopCoalesced ncclCoopBcast ncclCoopGetLaneMask ncclCoopIsThread
ncclCoopWithinWarp thread_rank size num_threads sync
ncclTeamWorld ncclTeamLsa ncclTeamRail ncclTeamInnerFactor ncclTeamOuterFactor ncclTeamRankToWorld ncclTeamRankToLsa ncclTeamRankIsMember ncclTeamRankToTeam ncclTeamRankInDifference
ncclGetLocalPointer ncclGetLsaPointer ncclGetPeerPointer ncclGetMultimemPointer ncclGetLsaMultimemPointer ncclMultimemHandle
ncclGetResourceBufferLocalPointer ncclGetResourceBufferLsaPointer ncclGetResourceBufferPeerPointer ncclGetResourceBufferMultimemPointer ncclGetResourceBufferLsaMultimemPointer
ncclGetResourceBuffer ncclGetResourceBufferOffset ncclSymPtr localPtr lsaPtr peerPtr multimemPtr lsaMultimemPtr
ncclLsaBarrierSession arrive wait
ncclGin ncclGinRequest_t put putValue signal get flush flushAsync readSignal waitSignal readCounter waitCounter resetCounter resetSignal getSignalShadowPtr increaseSignalShadow
waitSignalMeetShadow waitSignalFollowShadow ncclGin_None ncclGin_SignalInc ncclGin_SignalAdd ncclGin_StrongSignalInc ncclGin_StrongSignalAdd ncclGin_WeakSignalInc
ncclGin_WeakSignalAdd ncclGin_VASignalInc ncclGin_VASignalAdd ncclGin_StrongVASignalInc ncclGin_StrongVASignalAdd ncclGin_WeakVASignalInc ncclGin_WeakVASignalAdd ncclGin_CounterInc
ncclGin_WeakCounterInc ncclGin_SegmentDevice NCCL_GIN_RESOURCE_SHARING_GPU NCCL_GIN_RESOURCE_SHARING_CTA ncclGin_BackendOne ncclGin_BackendMask ncclGinOptFlagsDefault
ncclGinFenceLevel ncclGinAllContexts ncclGinBarrierSession ncclGinBarrier ncclBarrierSession ncclBarrier lsaBarrier ginBarrier None Put Get Relaxed
ncclLLA2ASession send bcast recv recvUnrolled recvReduce endEpoch
ncclLsaReduceSum ncclLsaReduceSumCopy ncclLsaCopy ncclLsaReduceLsaCopy ncclLsaReduceMultimemCopy ncclLsaReduceSumLsaCopy ncclLsaReduceSumMultimemCopy ncclMultimemReduceSum
ncclMultimemReduceSumCopy ncclMultimemReduceSumLsaCopy ncclMultimemReduceSumMultimemCopy ncclMultimemCopy ncclLocalReduceSum ncclLocalReduceSumCopy ncclLocalCopy
memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst thread_scope_system thread_scope_device thread_scope_block thread_scope_thread
NCCL_VERSION_CODE NCCL_VERSION`

// ncclOthers uses the names that no case needs, so that the compilers of both devices see them.
const ncclOthers = `
#include <nccl_device.h>
extern "C" __global__ void others(ncclDevComm comm, ncclWindow_t w, unsigned long long cycles, int* out) {
	const ncclTeam world = ncclTeamWorld(comm);
	ncclGin all{comm, 0, NCCL_GIN_RESOURCE_SHARING_GPU};
	ncclGin_BackendMask<1u << NCCL_NET_DEVICE_GIN_PROXY> proxies{comm, 0};
	ncclGin_BackendOne<NCCL_NET_DEVICE_GIN_PROXY> one{comm, 0};
	ncclCoopWarp warp;
	ncclGinRequest_t request;
	all.put(world, 0, w, 0, w, 8, 8, ncclGin_VASignalInc{w, 16}, ncclGin_None{}, warp, ncclGin_None{}, cuda::thread_scope_block, cuda::thread_scope_system, ncclGinOptFlagsDefault,
	        ncclGin_SegmentDevice{});
	all.signal(world, 0, ncclGin_VASignalAdd{w, 16, 2}, warp, ncclGin_None{}, cuda::thread_scope_thread, cuda::thread_scope_device), all.signal(world, 0, ncclGin_WeakVASignalAdd{w, 16, 2});
	all.signal(world, 0, ncclGin_StrongVASignalInc{w, 16});
	all.flushAsync(world, 0, &request), all.wait(request);
	ncclGin gin{comm, 0};
	*out = (int)(one.readSignal(0) + proxies.readSignal(0)) + gin.flush(warp, cuda::memory_order_acquire, ncclGin_None{}, cycles);
	*out += gin.waitCounter(warp, 0, 1, 56, cuda::memory_order_relaxed, cycles);
	ncclBarrierSession<ncclCoopCta> rail(ncclCoopCta(), ncclTeamTagRail(), gin, 0), near(ncclCoopCta(), ncclTeamTagLsa(), comm, 0);
	near.sync(ncclCoopCta(), cuda::memory_order_seq_cst), rail.ginBarrier().sync(ncclCoopCta(), cuda::memory_order_release, ncclGinFenceLevel::Get);
	ncclBarrier(ncclCoopCta(), ncclTeamTagWorld(), gin, 0);
}`

// TestNCCLNames: the kernels of the cases, which both devices compile, use every name.
func TestNCCLNames(t *testing.T) {
	used := ncclOthers
	for _, file := range []string{"nccl_test.go", "ncclcopy_test.go"} {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			t.Skip("the sources are not here")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)`\n#include.*?`").FindAllString(string(text), -1) {
			used += m
		}
	}
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`\w+`).FindAllString(used, -1) {
		words[w] = true
	}
	for _, name := range strings.Fields(ncclNames) {
		if !words[name] {
			t.Errorf("no case uses %s", name)
		}
	}
}
