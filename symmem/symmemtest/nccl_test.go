package symmemtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// The device API of NCCL, function by function: kernels that include nccl_device.h.

// ncclFunctions counts in out, by thread, what the functions of teams and coops return.
const ncclFunctions = `
#include <nccl_device.h>
extern "C" __global__ void teams(struct ncclDevComm comm, int* out) {
	const ncclTeam_t world = ncclTeamWorld(comm), lsa = ncclTeamLsa(comm), rail = ncclTeamRail(comm);
	const ncclTeam inner = ncclTeamInnerFactor(world, 2), outer = ncclTeamOuterFactor(world, 2);
	const ncclTeam all[] = {world, lsa, rail, inner, outer};
	for (int i = 0; i < 5; i++) out[3 * i] = all[i].nRanks, out[3 * i + 1] = all[i].rank, out[3 * i + 2] = all[i].stride;
	out += 15;
	*out++ = ncclTeamRankToWorld(comm, outer, 0), *out++ = ncclTeamRankToLsa(comm, lsa, 1), *out++ = ncclTeamRankToTeam(world, outer, 1);
	*out++ = ncclTeamRankIsMember(inner, world, comm.rank ^ 1), *out++ = ncclTeamRankIsMember(inner, world, comm.rank ^ 2), *out++ = ncclTeamRankIsMember(outer, world, comm.rank ^ 1);
	const ncclTeam four = {4, 2, 1}, part = {2, 1, 2}, ends = {2, 1, 1};  // ranks 0 to 3; of them 0 and 2; 1 and 2
	*out++ = ncclTeamRankInDifference(four, part, 0), *out++ = ncclTeamRankInDifference(four, part, 1);
	*out++ = ncclTeamRankInDifference(four, ends, 0), *out++ = ncclTeamRankInDifference(four, ends, 1);
}

template <class Coop> __device__ void coop(Coop c, int* out, int root) {
	static_assert(sizeof(Coop) <= 16, "");
	out[0] = c.thread_rank() * 1000 + c.size();
	out[1] = c.num_threads() - c.size();
	c.sync();
	out[2] = ncclCoopBcast(c, (int)threadIdx.x, root);
	c.sync();  // all have the first value
	out[3] = (int)ncclCoopBcast(c, threadIdx.x * 0x100000001ull, root, false) + ncclCoopIsThread(c) * 1000 + ncclCoopWithinWarp(c) * 2000;
	ncclCoopAny any = c;
	out[4] = any.thread_rank() * 1000 + any.size() + any.num_threads() - c.size();
	any.sync();
}
extern "C" __global__ void coops(int* out) {  // of 128 threads
	out += 5 * threadIdx.x;
	const int a = 5 * blockDim.x;
	coop(ncclCoopCta(), out, 77);
	coop(ncclCoopWarp(), out + a, 3);
	coop(ncclCoopThread(), out + 2 * a, 0);
	coop(ncclCoopTile<8>(), out + 3 * a, 5);
	const unsigned odd = 0xaaaaaaaau;
	coop(ncclCoopLanes{threadIdx.x & 1 ? odd : ~odd}, out + 4 * a, 2);
	for (int i = 0; i < 3; i++) {
		if (threadIdx.x < 32) coop(ncclCoopWarpSpan(0, 1, 0), out + 5 * a, 9);
		else coop(ncclCoopWarpSpan(1, 3, 1), out + 5 * a, 40);
	}
	__syncthreads();
	const ncclCoopLanes here = ncclCoopCoalesced(ncclCoopLanes{odd});
	out[6 * a] = (int)ncclCoopGetLaneMask(ncclCoopTile<8>()), out[6 * a + 1] = (int)ncclCoopGetLaneMask(here), out[6 * a + 2] = ncclCoopGetLaneMask(ncclCoopCta()) == ~0u;
	out[6 * a + 3] = ncclCoopCoalesced(ncclCoopTile<4>()).size() + ncclCoopCoalesced(ncclCoopCta()).size();
	ncclCoopLanes self = ncclCoopCoalesced();
	out[6 * a + 4] = self.lmask >> (threadIdx.x & 31) & 1;
}`

func ncclTeamsCase(t *T) {
	comm := symmem.DevComm(symmem.DevReqs{})
	out := symmem.Local(symmem.I32, 25)
	k := symmem.Compile(ncclFunctions)
	k.Launch(symmem.Grid(1), symmem.Block(1), comm, out)
	r, n := t.rank, t.size
	lsa := comm.Group().LSA()
	is := func(b bool) int { return map[bool]int{true: 1}[b] }
	want := []int{n, r, 1, lsa.Size(), lsa.Rank(), 1, n / lsa.Size(), r / lsa.Size(), lsa.Size(), 2, r % 2, 1, n / 2, r / 2, 2}
	want = append(want, r%2, 1, r+2*(1-r/2), 1, 0, is(r^1 == r), 1, 3, 0, 3)
	t.equal("teams", out.Ints(), want)
	comm.Free()

	const threads = 128
	got := symmem.Local(symmem.I32, 7*5*threads)
	k.Kernel("coops").Launch(symmem.Grid(1), symmem.Block(threads), got)
	all := got.Ints()
	for i := range threads {
		lane := i % 32
		for at, c := range []struct {
			name                   string
			rank, size, root, kind int
		}{
			{"Cta", i, threads, 77, 0}, {"Warp", lane, 32, i - lane + 3, 2000}, {"Thread", 0, 1, i, 3000}, {"Tile", i % 8, 8, i - i%8 + 5, 2000},
			{"Lanes", lane / 2, 16, i - lane + 4 + i%2, 2000}, {"WarpSpan", i - 32*is(i >= 32), 32 + 64*is(i >= 32), 9 + 63*is(i >= 32), 0},
		} {
			from := 5 * (at*threads + i)
			t.equal(fmt.Sprintf("%s of thread %d", c.name, i), all[from:from+5],
				[]int{c.rank*1000 + c.size, 0, c.root, c.root + c.kind, c.rank*1000 + c.size})
		}
		odd := int32(-0x55555556)
		from := 5 * (6*threads + i)
		t.equal("masks", all[from:from+5], []int{int(int32(uint32(0xff) << (lane &^ 7))), int(odd), 1, 36, 1})
	}
}

// ncclReduce is an all-reduce as in NCCL's examples: each rank loads a part from all ranks and
// stores the sum to all.
const ncclReduce = `
#include <nccl_device.h>
template <class T> __device__ void reduce(ncclWindow_t send, size_t sendOffset, ncclWindow_t recv, size_t recvOffset, size_t count, ncclDevComm const& comm) {
	const int n = comm.lsaSize, threads = blockDim.x * gridDim.x * n, first = comm.rank - comm.lsaRank;
	for (size_t i = threadIdx.x + blockDim.x * (comm.lsaRank + blockIdx.x * n); i < count; i += threads) {
		T sum = 0;
		for (int p = 0; p < n; p++) sum += ((T*)ncclGetLsaPointer(send, sendOffset, p))[i];
		for (int p = 0; p < n; p++) ((T*)ncclGetPeerPointer(recv, recvOffset, first + p))[i] = sum;
	}
}
extern "C" __global__ void ints(ncclWindow_t send, size_t sendOffset, ncclWindow_t recv, size_t recvOffset, size_t count, struct ncclDevComm comm) {
	ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamLsa(comm), comm.lsaBarrier, blockIdx.x};
	bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
	reduce<int>(send, sendOffset, recv, recvOffset, count, comm);
	bar.sync(ncclCoopCta(), cuda::memory_order_release);
}
extern "C" __global__ void floats(ncclDevComm_t comm, ncclWindow_t send, ncclWindow_t recv, size_t count) {
	ncclLsaBarrierSession bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x, true};  // the slides' way
	bar.arrive(ncclCoopCta(), cuda::memory_order_relaxed);
	bar.wait(ncclCoopCta(), cuda::memory_order_acquire);
	reduce<float>(send, 0, recv, 0, count, comm);
	if (bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel, 1ull << 40) != ncclSuccess) ((float*)ncclGetLocalPointer(recv, 0))[0] = -1;
}`

func ncclAllReduceCase(t *T) {
	const n, blocks = 3000, 4
	send, recv := symmem.Empty(symmem.I32, n+8), symmem.Empty(symmem.I32, n)
	k := symmem.Compile(ncclReduce)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: blocks})
	sends, recvs := symmem.Window(send), symmem.Window(recv)
	sum := 0
	for _, r := range symmem.LSA().Ranks() {
		sum += r + 1
	}
	for round := range 5 {
		send.Fill(0).Slice(8, n+8).Fill((t.rank + 1) * (round + 1))
		k.Launch(symmem.Grid(blocks), symmem.Block(96), sends, 32, recvs, 0, n, comm, symmem.Timeout(20*time.Second))
		t.equal("sums", recv.Ints(), slices.Repeat([]int{sum * (round + 1)}, n))
		symmem.Meet()
	}
	x := symmem.Empty(symmem.F32, 64).Fill(t.rank + 1)
	w := symmem.Window(x)
	y := symmem.Empty(symmem.F32, 64)
	into := symmem.Window(y)
	graph := symmem.Capture(func() {
		k.Kernel("floats").Launch(symmem.Grid(2), symmem.Block(32), comm, w, into, 64)
	})
	for range 3 {
		graph.Replay()
	}
	t.equal("floats in a graph", y.Ints(), slices.Repeat([]int{sum}, 64))
	t.equal("the same window", fmt.Sprint(symmem.Window(x)), "window f32[64] of world")
	t.equal("text", comm.String(), fmt.Sprintf("device communicator of world, DevReqs{LsaBarriers: %d}", blocks))
	graph.Free()
	symmem.Synchronize()
	comm.Free()
	for _, x := range []*symmem.Tensor{send, recv, x, y} {
		x.Free()
	}
}

// ncclBarriersCase meets by barriers of parts of the ranks, of warps and threads, on several
// indices at once, many times.
func ncclBarriersCase(t *T) {
	const rounds = 50
	x := symmem.Empty(symmem.I32, 64)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 6, Barriers: 1})
	k := symmem.Compile(`
#include <nccl_device.h>
template <class Coop> __device__ void turns(Coop coop, ncclDevComm const& comm, ncclTeam team, unsigned index, ncclSymPtr<int> x, int rounds, int* wrong) {
	ncclLsaBarrierSession<Coop> bar(coop, comm, team, comm.lsaBarrier, index);
	const int next = (team.rank + 1) % team.nRanks;
	for (int i = 1; i <= rounds; i++) {
		if (coop.thread_rank() == 0) *(x + index).peerPtr(team, next) = i;
		bar.sync(coop, cuda::memory_order_acq_rel);
		if (*(index + x.localPtr()) != i) atomicAdd(wrong, 1);
		bar.sync(coop, cuda::memory_order_acq_rel);
	}
}
extern "C" __global__ void meet(ncclDevComm comm, ncclWindow_t w, int rounds, int* wrong) {  // 96 threads
	ncclSymPtr<int> x(w, 0);
	if (threadIdx.x == 0) turns(ncclCoopThread(), comm, ncclTeamLsa(comm), 0, x, rounds, wrong);
	else if (threadIdx.x >= 64) turns(ncclCoopWarp(), comm, ncclTeamLsa(comm), 1, x, rounds, wrong);
	__syncthreads();
	turns(ncclCoopCta(), comm, ncclTeamLsa(comm), 2, x, rounds, wrong);
	if (threadIdx.x < 64) turns(ncclCoopWarpSpan(0, 2, 4), comm, ncclTeamLsa(comm), 3, x, rounds, wrong);
	if (comm.lsaSize % 2 == 0) {
		turns(ncclCoopCta(), comm, ncclTeamInnerFactor(ncclTeamLsa(comm), 2), 4, x, rounds, wrong);
		turns(ncclCoopCta(), comm, ncclTeamOuterFactor(ncclTeamLsa(comm), 2), 5, x, rounds, wrong);
	}
}`)
	wrong := symmem.Local(symmem.I32, 1)
	for range 2 {
		k.Launch(symmem.Grid(1), symmem.Block(96), comm, symmem.Window(x), rounds, wrong, symmem.Timeout(60*time.Second))
	}
	t.equal("wrong", wrong.Ints(), []int{0})
	symmem.Synchronize()
	comm.Free()
	x.Free()
}

// ncclLowLatencyCase exchanges values of several sizes, over many epochs.
func ncclLowLatencyCase(t *T) {
	const rounds, slots = 40, 64
	comm := symmem.DevComm(symmem.DevReqs{LLA2ABlocks: 2, LLA2ASlots: 3 * slots})
	k := symmem.Compile(`
#include <nccl_device.h>
struct Three { double a, b, c; };
extern "C" __global__ void exchange(ncclDevComm comm, int rounds, int* wrong) {
	const ncclTeam team = ncclTeamLsa(comm);
	const int n = team.nRanks, me = team.rank;
	ncclLLA2ASession<ncclCoopCta> s(ncclCoopCta(), comm, team, comm.lsaLLA2A, blockIdx.x, 64);
	for (int i = 0; i < rounds; i++) {
		const int base = 1000 * i + 100000 * blockIdx.x;
		for (int p = threadIdx.x; p < n; p += blockDim.x) s.send(p, me, base + 10 * me + p);
		for (int p = threadIdx.x; p < n; p += blockDim.x)
			if (s.recv<int>(p) != base + 10 * p + me) atomicAdd(wrong, 1);
		s.endEpoch(ncclCoopCta());
		if (threadIdx.x == 0) s.bcast(me, Three{1. * base, 2. * me, 3});
		if (threadIdx.x == 1) {
			Three got[8];
			s.recvUnrolled<1, 8>(0, n, 1, got);
			for (int p = 0; p < n; p++)
				if (got[p].a != base || got[p].b != 2 * p || got[p].c != 3) atomicAdd(wrong, 1);
		}
		s.endEpoch(ncclCoopCta());
		if (threadIdx.x == 0) s.bcast(2 * me, (long long)(base + me));
		if (threadIdx.x == 2) {
			const double sum = s.recvReduce<2, long long>(0, n, 2, [](long long v) { return 1. * v; }, [](double a, double b) { return a + b; });
			if (sum != n * (double)base + n * (n - 1) / 2) atomicAdd(wrong, 1);
		}
		s.endEpoch(ncclCoopCta());
	}
}`)
	wrong := symmem.Local(symmem.I32, 1)
	for range 2 {
		k.Launch(symmem.Grid(2), symmem.Block(64), comm, rounds, wrong, symmem.Timeout(60*time.Second))
	}
	t.equal("wrong", wrong.Ints(), []int{0})
	symmem.Synchronize()
	comm.Free()
}

// ncclPointersCase: pointers to windows and to resource buffers equal the pointers of the handle.
func ncclPointersCase(t *T) {
	x := symmem.Empty(symmem.I32, 40).Fill(7 * t.rank)
	h := symmem.Rendezvous(x.Slice(8, 40))
	w := symmem.Window(x.Slice(8, 40))
	t.equal("handle", w.Handle() == h, true)
	comm := symmem.DevComm(symmem.DevReqs{Resources: []int{100, 4096}, LsaBarriers: 1})
	k := symmem.Compile(`
#include <nccl.h>
#include <nccl_device.h>
static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0), "");
static_assert(ncclSuccess == 0 && ncclTimeout == 8, "");
extern "C" __global__ void pointers(ncclDevComm comm, ncclWindow_t w, ncclDevResourceHandle first, ncclDevResourceHandle_t second, unsigned long long* out) {
	const int lsa = (comm.lsaRank + 1) % comm.lsaSize, next = comm.rank - comm.lsaRank + lsa;
	ncclSymPtr<int> p(w, 4);
	ncclSymPtr<char> bytes = p;
	*out++ = (unsigned long long)ncclGetLocalPointer(w, 4), *out++ = (unsigned long long)ncclGetLsaPointer(w, 4, lsa), *out++ = (unsigned long long)ncclGetPeerPointer(w, 4, next);
	*out++ = (unsigned long long)ncclGetPeerPointer(w, 4, ncclTeamWorld(comm), next);
	*out++ = (unsigned long long)p.localPtr(), *out++ = (unsigned long long)p.lsaPtr(lsa), *out++ = (unsigned long long)p.peerPtr(next), *out++ = (unsigned long long)p.peerPtr(ncclTeamLsa(comm), lsa);
	p += 3;
	*out++ = p.offset, *out++ = (p - 2).offset, *out++ = (p + 1u).offset, *out++ = (unsigned long long)(p - ncclSymPtr<int>(w, 4)), *out++ = bytes.offset;
	p -= 3;
	*out++ = p == ncclSymPtr<int>(w, 4), *out++ = p != ncclSymPtr<int>(w, 4);
	*out++ = (unsigned long long)ncclGetResourceBufferLocalPointer(comm, second) - (unsigned long long)ncclGetResourceBufferLocalPointer(comm, first);
	*out++ = ncclGetResourceBufferOffset(second) - ncclGetResourceBufferOffset(first);
	int* theirs = (int*)ncclGetResourceBufferPeerPointer(comm, second, ncclTeamLsa(comm), lsa);
	*out++ = theirs == ncclGetResourceBufferLsaPointer(comm, second, lsa) && (char*)theirs == ncclGetResourceBuffer(comm, second).lsaPtr(lsa);
	ncclLsaBarrierSession<ncclCoopThread> bar(ncclCoopThread(), comm, ncclTeamTagLsa(), 0);
	bar.sync(ncclCoopThread(), cuda::memory_order_relaxed);
	for (int i = 0; i < 1024; i++) theirs[i] = i + comm.rank;
	((int*)ncclGetResourceBufferPeerPointer(comm, first, ncclTeamLsa(comm), lsa))[0] = 50 + comm.rank;
	bar.sync(ncclCoopThread(), cuda::memory_order_acq_rel);
	*out++ = *(int*)ncclGetResourceBufferLocalPointer(comm, first);
	int sum = 0;
	for (int i = 0; i < 1024; i++) sum += ((int*)ncclGetResourceBufferLocalPointer(comm, second))[i];
	*out++ = sum;
}`)
	out := symmem.Local(symmem.U64, 20)
	k.Launch(symmem.Grid(1), symmem.Block(1), comm, w, comm.Resource(0), comm.Resource(1), out)
	at := h.BufferPtrs()
	host := symmem.LSA()
	neighbour := func(k int) int { return host.Ranks()[(host.Rank()+host.Size()+k)%host.Size()] }
	next := neighbour(1)
	mine, theirs := int(at[t.rank])+4, int(at[next])+4
	t.equal("pointers", out.Ints(), []int{mine, theirs, theirs, theirs, mine, theirs, theirs, theirs, 16, 8, 20, 3, 4, 1, 0, 128,
		128, 1, 50 + neighbour(-1), 1024*1023/2 + 1024*neighbour(-1)})
	symmem.Synchronize()
	comm.Free()
	x.Free()
}

// ncclRefusedCase: calls with objects that do not exist are refused, only on this rank, and no
// other call fails.
func ncclRefusedCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	w := symmem.Window(x)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 2, LLA2ABlocks: 1, LLA2ASlots: 4})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void ask(ncclDevComm comm, ncclWindow_t w, int what, unsigned index, int* out) {
	if (what == 0) *out = ncclGetLsaPointer(w, 0, index) == nullptr;
	if (what == 1) *out = ncclGetPeerPointer(w, 0, index) == nullptr;
	if (what == 2) *out = ncclGetLocalPointer(w, index) == nullptr;
	if (what == 3) {
		ncclLsaBarrierSession<ncclCoopThread> bar(ncclCoopThread(), comm, ncclTeamTagLsa(), index);
		bar.sync(ncclCoopThread(), cuda::memory_order_acq_rel);
		*out = 1;
	}
	if (what == 4) {
		ncclLLA2ASession<ncclCoopThread> s(ncclCoopThread(), comm, ncclTeamLsa(comm), comm.lsaLLA2A, index, 4);
		*out = s.recv<int>(0) == 0;
	}
	if (what == 5) {
		ncclLLA2ASession<ncclCoopThread> s(ncclCoopThread(), comm, ncclTeamLsa(comm), comm.lsaLLA2A, 0, 4);
		s.send(0, index, 1);
		*out = 1;
	}
}`)
	out := symmem.Local(symmem.I32, 1)
	host := symmem.LSA()
	beyond := host.Ranks()[0] + host.Size()
	for what, c := range []struct {
		index int
		words []string
	}{
		{host.Size(), []string{"ask", fmt.Sprintf("a pointer to rank %d", beyond), "LSA team"}},
		{beyond, []string{fmt.Sprintf("a pointer to rank %d", beyond)}},
		{17, []string{"at byte 17", "has 16"}},
		{2, []string{"barrier 2 was asked for, and the communicator has 2", "LsaBarriers"}},
		{1, []string{"low-latency block 1", "has 1"}},
		{4, []string{"low-latency slot 4", "has 4"}},
	} {
		cpu := symmem.Caps().Device == "cpu"
		if what == 2 && !cpu {
			continue
		}
		k.Launch(symmem.Grid(1), symmem.Block(1), comm, w, what, c.index, out)
		if what > 0 || cpu { // on GPUs the pointer is null
			t.refused(symmem.KindMisuse, symmem.Synchronize, c.words...)
		}
		t.equal("went on", out.Ints(), []int{1})
	}
	grid, block := symmem.Grid(1), symmem.Block(1)
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, 1, w, 0, 0, out) }, `"ncclDevComm comm"`,
		"symm.DevComm(symm.DevReqs{LsaBarriers: 16})")
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, comm, x, 0, 0, out) }, `"ncclWindow_t w"`, "symm.Window(t)")
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, w, w, 0, 0, out) }, "window i32[4] of world", "ncclWindow_t")
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, comm, comm, 0, 0, out) }, "device communicator of world", "ncclDevComm")
	t.refused(symmem.KindMisuse, func() { symmem.Window(out) }, "is not symmetric")
	t.refused(symmem.KindMisuse, func() { symmem.DevComm(symmem.DevReqs{LsaBarriers: -1}) }, "LsaBarriers must be in [0, ")
	t.refused(symmem.KindMisuse, func() { comm.Resource(0) }, "DevReqs.Resources")
	g := symmem.NewGroup(symmem.World().Ranks()...)
	other := symmem.DevComm(symmem.DevReqs{}, g)
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, other, w, 0, 0, out) }, "of group", "and of world")
	other.Free()
	g.Free()
	symmem.Meet()
	comm.Free()
	t.refused(symmem.KindMisuse, func() { k.Launch(grid, block, comm, w, 0, 0, out) }, "was freed")
	x.Free()
}

// ncclNotCompiledCase: texts that the compiler refuses, or a function of NCCL's that is missing here,
// get an error that says what to write instead.
func ncclNotCompiledCase(t *T) {
	if t.rank > 0 {
		return
	}
	for name, c := range map[string]struct{ text, want string }{
		"a slide":    {"out[0] = multimem_reduce_sum(out);", "multimem_reduce_sum is no function of NCCL's"},
		"the order":  {"out[0] = ncclGetPeerPointer(comm, 0, 1) == 0;", "takes the window"},
		"CFT":        {"ncclCftBarrierSession bar(ncclCoopCta(), comm, 0);", "CFT is not here"},
		"segments":   {"ncclGin gin(comm, 0); gin.get(ncclTeamWorld(comm), 0, comm.resourceWindow, 0, comm.resourceWindow, 0, 0, ncclCoopThread(), ncclGin_None(), 0, ncclGin_SegmentMixed());", "leave the segment type out"},
		"a level":    {"ncclGinBarrierSession bar(ncclCoopCta(), ncclGin(comm, 0), ncclTeamTagWorld(), 0); bar.sync(ncclCoopCta(), cuda::memory_order_acquire, ncclGinFenceLevel::relaxed);", "write ncclGinFenceLevel::Relaxed, or None"},
		"the host's": {"ncclDevCommDestroy(comm);", "dc.Free()"},
	} {
		if e := t.refused(symmem.KindCompile, func() {
			symmem.Compile("#include <nccl_device.h>\nextern \"C\" __global__ void f(ncclDevComm comm, int* out) { " + c.text + " }")
		}); !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// ncclTimeoutCase: a barrier at which a rank is missing ends, and names that rank; after Recover
// the communicator works again.
func ncclTimeoutCase(t *T) {
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 3, LLA2ABlocks: 1, LLA2ASlots: 2})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void lonely(ncclDevComm comm, unsigned long long cycles, int* out) {
	ncclLsaBarrierSession<ncclCoopCta> bar(ncclCoopCta(), comm, ncclTeamTagLsa(), 2);
	if (cycles) out[threadIdx.x] = bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel, cycles);
	else bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel), bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}
extern "C" __global__ void silence(ncclDevComm comm, int* out) {
	ncclLLA2ASession<ncclCoopThread> s(ncclCoopThread(), comm, ncclTeamLsa(comm), comm.lsaLLA2A, 0, 2);
	*out = s.recv<int>(1);
}`)
	out := symmem.Local(symmem.I32, 64)
	grid, block := symmem.Grid(1), symmem.Block(64)
	symmem.Synchronize()
	if t.rank == 0 && symmem.LSA().Size() > 1 { // a rank alone on its host does not wait
		out.Fill(0)
		k.Launch(grid, block, comm, 100_000_000, out)
		symmem.Synchronize()
		t.equal("timeouts", out.Ints(), slices.Repeat([]int{8}, 64))
		k.Launch(grid, block, comm, 0, out, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "lonely on rank 0", "to come to LSA barrier 2")
	}
	symmem.Recover()
	if lsa := symmem.LSA(); lsa.Rank() < lsa.Size()-1 { // the last rank does not come, while some threads wait for ranks that do
		out.Fill(0)
		k.Launch(grid, block, comm, 100_000_000, out)
		symmem.Synchronize()
		t.equal("timeouts of some threads", out.Ints(), slices.Repeat([]int{8}, 64))
		k.Launch(grid, block, comm, 0, out, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, fmt.Sprintf("lonely on rank %d", t.rank), "to come to LSA barrier 2")
	}
	symmem.Recover()
	if t.rank == 0 {
		k.Kernel("silence").Launch(grid, symmem.Block(1), comm, out, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "silence on rank 0", "a value in low-latency slot 1")
	}
	symmem.Recover()
	k.Launch(grid, block, comm, 0, out, symmem.Timeout(20*time.Second))
	symmem.Synchronize()
	symmem.Meet()
	comm.Free()
}

// ncclGinCase calls every function of ncclGin, with the right neighbour as the peer.
func ncclGinCase(t *T) {
	x := symmem.Empty(symmem.I64, 64)
	w := symmem.Window(x)
	comm := symmem.DevComm(symmem.DevReqs{GinSignals: 8, GinCounters: 2, GinContexts: 2, WorldGinBarriers: 2, RailGinBarriers: 1,
		Resources: []int{1000}})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void functions(ncclDevComm comm, ncclWindow_t w, ncclDevResourceHandle buffer, long long* out) {  // 64 threads
	const ncclTeam world = ncclTeamWorld(comm);
	const int right = (comm.rank + 1) % comm.nRanks, first = threadIdx.x == 0;
	ncclGin gin{comm, 0}, other{comm, 3, NCCL_GIN_RESOURCE_SHARING_CTA};
	ncclCoopCta cta;
	long long* const mine = (long long*)ncclGetLocalPointer(w, 0);
	if (threadIdx.x < 8) mine[threadIdx.x] = 100 * comm.rank + threadIdx.x;
	{
		ncclGinBarrierSession<ncclCoopCta> bar(cta, gin, ncclTeamTagWorld(), 0);
		bar.sync(cta, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
		gin.put(world, right, w, 64, w, 0, 32, ncclGin_WeakSignalInc{0}, ncclGin_None{}, cta);
		ncclSymPtr<long long> p(w, 0);
		if (threadIdx.x < 32) gin.put(world, right, p + 12, p + 4, 4, ncclGin_SignalInc{0}, ncclGin_None{}, ncclCoopWarp());
		if (threadIdx.x == 40) gin.putValue(world, right, w, 128, 7000ll + comm.rank, ncclGin_StrongSignalAdd{0, 1}), gin.putValue(world, right, p + 17, 8000ll + comm.rank);
		gin.waitSignal(cta, 0, 3);
		gin.flush(cta);
		bar.sync(cta, cuda::memory_order_acq_rel);  // what all put has landed
		if (threadIdx.x < 10) out[threadIdx.x] = mine[8 + threadIdx.x];
		gin.get(world, right, w, 0, w, 18 * 8, 16, cta);
		gin.flush(cta);
		if (first) {
			ncclGinRequest_t request;
			gin.get(world, right, w, 16, w, 20 * 8, 8);
			gin.flushAsync(world, right, &request);
			gin.wait(request);
			out[10] = mine[18], out[11] = mine[19], out[12] = mine[20];
		}
	}
	ncclGinBarrier(cta, ncclGinAllContexts(comm), ncclTeamTagWorld(), 1);
	ncclGinBarrier(cta, gin, ncclTeamTagRail(), 0, cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);

	// signals alone, of two contexts, and in a window
	gin.signal(world, right, ncclGin_WeakSignalAdd{1, 5}, cta);
	gin.signal(world, right, ncclGin_SignalAdd{1, 7}, cta);
	other.signal(world, right, ncclGin_StrongSignalInc{1}, cta);
	gin.signal(world, right, ncclGin_WeakVASignalInc{w, 400}, cta);
	gin.signal(world, right, ncclGin_StrongVASignalAdd{w, 400, 9}, cta);
	gin.waitSignal(cta, 1, 12, 32);
	other.waitSignal(cta, 1, 1);
	gin.waitSignal(cta, w, 400, 10);
	if (first) out[13] = gin.readSignal(1), out[14] = other.readSignal(1), out[15] = gin.readSignal(w, 400);
	ncclGinBarrier(cta, gin, ncclTeamTagWorld(), 1);

	// shadows and resets
	if (first) gin.increaseSignalShadow(1, 12);
	gin.waitSignalMeetShadow(cta, 1);
	gin.signal(world, right, ncclGin_StrongSignalAdd{1, 30}, cta);
	unsigned long long before, delta;
	gin.waitSignalFollowShadow(cta, 1, 30ull, &before, &delta);
	if (first) out[16] = before, out[17] = delta, out[18] = *gin.getSignalShadowPtr(1);
	ncclGinBarrier(cta, gin, ncclTeamTagWorld(), 1);
	if (first) {
		gin.resetSignal(0), gin.resetSignal(1), gin.resetSignal(w, 400);
		other.resetSignal(1);
		out[19] = gin.readSignal(1) + *gin.getSignalShadowPtr(1) + gin.readSignal(w, 400) + other.readSignal(1) + gin.readSignal(0);
	}
	if (first) out[20] = gin.waitSignal(ncclCoopThread(), 5, 1, 64, cuda::memory_order_acquire, 1000000ull);
	const unsigned long long was = gin.readCounter(1);
	gin.put(world, right, w, 480, w, 0, 8, ncclGin_None{}, ncclGin_CounterInc{1}, cta);
	gin.put(world, right, w, 480, w, 0, 8, ncclGin_None{}, ncclGin_WeakCounterInc{1}, cta);
	other.put(world, right, w, 488, w, 0, 8, ncclGin_None{}, ncclGin_CounterInc{1}, cta);
	gin.waitCounter(cta, 1, was + 2);
	other.waitCounter(cta, 1, 1);
	if (first) out[22] = other.readCounter(1), gin.resetCounter(1), other.resetCounter(1), out[21] = gin.readCounter(1) + other.readCounter(1) + was;
	ncclGinBarrier(cta, gin, ncclTeamTagWorld(), 1);

	// values of every size, at any place
	if (first) {
		gin.putValue(world, right, w, 496, (char)0x11), gin.putValue(world, right, w, 498, (short)0x3322), gin.putValue(world, right, w, 500, 0x77665544);
		gin.putValue(world, right, w, 497, (char)(comm.rank + 1), ncclGin_StrongSignalInc{2});
	}
	gin.waitSignal(cta, 2, 1);
	if (first) out[23] = mine[62], gin.resetSignal(2);
	ncclGinBarrier(cta, gin, ncclTeamTagWorld(), 1);

	// the last element of a resource buffer
	const ncclSymPtr<long long> last = ncclSymPtr<long long>(ncclGetResourceBuffer(comm, buffer)) + 124;
	if (first) gin.putValue(world, right, last, 9000ll + comm.rank, ncclGin_SignalInc{2});
	gin.waitSignal(cta, 2, 1);
	if (first) out[24] = *last.localPtr(), gin.resetSignal(2);
	ncclGinBarrier(cta, gin, ncclTeamTagWorld(), 1);
}`)
	for range 3 {
		x.Fill(0)
		symmem.Synchronize()
		symmem.Meet()
		out := symmem.Local(symmem.I64, 25)
		k.Launch(symmem.Grid(1), symmem.Block(64), comm, w, comm.Resource(0), out, symmem.Timeout(30*time.Second))
		left, right := (t.rank+t.size-1)%t.size, (t.rank+1)%t.size
		var want []int
		for i := range 8 {
			want = append(want, 100*left+i)
		}
		want = append(want, 7000+left, 8000+left, 100*right, 100*right+1, 100*right+2, 12, 1, 10, 12, 30, 42, 0, 8, 0, 1,
			0x7766554433220011+(left+1)<<8, 9000+left)
		t.equal("functions", out.Ints(), want)
		symmem.Meet()
	}
	out := symmem.Local(symmem.I64, 1)
	bad := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void ask(ncclDevComm comm, ncclWindow_t w, int what) {
	ncclGin gin{comm, 0};
	const ncclTeam world = ncclTeamWorld(comm);
	if (what == 0) gin.signal(world, comm.nRanks, ncclGin_StrongSignalInc{0});
	if (what == 1) gin.readSignal(10000);
	if (what == 2) gin.put(world, 0, w, 505, w, 0, 8);
	if (what == 3) ncclGinBarrier(ncclCoopThread(), gin, ncclTeamTagWorld(), 2);
	if (what == 4) gin.readCounter(2);
}`)
	for what, words := range []string{fmt.Sprintf("rank %d was named", t.size), "GIN signal 10000 was named", "byte 513",
		"GIN barrier 2 was asked for", "GIN counter 2 was named"} {
		bad.Launch(symmem.Grid(1), symmem.Block(1), comm, w, what)
		t.refused(symmem.KindMisuse, symmem.Synchronize, words)
	}
	none := symmem.DevComm(symmem.DevReqs{})
	bad.Launch(symmem.Grid(1), symmem.Block(1), none, w, 9)
	t.refused(symmem.KindMisuse, symmem.Synchronize, "GIN was not asked for", "GinSignals")
	out.Free()
	symmem.Meet()
	none.Free()
	comm.Free()
	x.Free()
}

// ncclGinAllToAllCase exchanges blocks as in NCCL's examples: with ranks of the host by stores and
// with others by puts, after a barrier of all.
func ncclGinAllToAllCase(t *T) {
	const n, blocks = 100, 2
	send, recv := symmem.Empty(symmem.I32, t.size*n), symmem.Empty(symmem.I32, t.size*n)
	sends, recvs := symmem.Window(send), symmem.Window(recv)
	comm := symmem.DevComm(symmem.DevReqs{Barriers: blocks, GinSignals: blocks})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void exchange(ncclWindow_t send, ncclWindow_t recv, size_t count, struct ncclDevComm comm, bool fenced) {
	const unsigned int signal = blockIdx.x;
	ncclGin gin{comm, 0};
	const unsigned long long before = gin.readSignal(signal);
	ncclBarrierSession bar{ncclCoopCta(), ncclTeamTagWorld(), gin, blockIdx.x};
	bar.sync(ncclCoopCta(), cuda::memory_order_acquire, ncclGinFenceLevel::None);
	const ncclTeam world = ncclTeamWorld(comm), lsa = ncclTeamLsa(comm);
	const int tid = threadIdx.x + blockIdx.x * blockDim.x, threads = blockDim.x * gridDim.x, first = world.rank - lsa.rank;
	const size_t size = count * sizeof(int);
	for (int r = tid; r < world.nRanks; r += threads)
		if (r < first || r >= first + lsa.nRanks) gin.put(world, r, recv, world.rank * size, send, r * size, size, ncclGin_WeakSignalInc{signal});
	const int* from = (const int*)ncclGetLocalPointer(send, 0);
	for (size_t i = tid; i < count; i += threads)
		for (int p = 0; p < lsa.nRanks; p++) ((int*)ncclGetLsaPointer(recv, world.rank * size, p))[i] = from[(first + p) * count + i];
	if (!fenced && world.rank % threads / blockDim.x == blockIdx.x) gin.waitSignal(ncclCoopCta(), signal, before + world.nRanks - lsa.nRanks);
	gin.flush(ncclCoopCta());
	bar.sync(ncclCoopCta(), cuda::memory_order_release, fenced ? ncclGinFenceLevel::Put | ncclGinFenceLevel::Get : ncclGinFenceLevel::None);
	bar.lsaBarrier().sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}`)
	for round := range 6 {
		values := make([]int32, t.size*n)
		var want []int
		for i := range values {
			values[i] = int32(10000*round + 1000*t.rank + i/n)
			want = append(want, 10000*round+1000*(i/n)+t.rank)
		}
		send.CopyFrom(values)
		recv.Fill(-1)
		k.Launch(symmem.Grid(blocks), symmem.Block(32), sends, recvs, n, comm, round%2 == 1, symmem.Timeout(30*time.Second))
		t.equal("exchanged", recv.Ints(), want)
		symmem.Meet()
	}
	comm.Free()
	send.Free()
	recv.Free()
}

// ginCases are the cases of NCCL's device API that work between hosts.
var ginCases = []string{"NcclGin", "NcclGinAllToAll", "NcclGinPuts"}

// TestGin runs ginCases on simulated hosts, also over networks that change the order of messages.
func TestGin(t *testing.T) {
	for _, device := range devices(t) {
		for _, d := range []division{{2, 2, "null"}, {2, 2, "ucx"}, {4, 2, "null"}, {4, 2, "ucx"}, {4, 4, "null"}} {
			t.Run(fmt.Sprintf("%s/%dranks/%dhosts/%s", device, d.ranks, d.hosts, d.network), func(t *testing.T) {
				briefly(t, d.ranks == 2)
				needRanks(t, device, d.ranks)
				if _, err := net.Available(); d.network == "ucx" && err != nil {
					t.Skip(err)
				}
				w := startOn(t, device, d.ranks, strconv.Itoa(d.hosts), d.network)
				for _, name := range ginCases {
					t.Run(name, func(t *testing.T) { w.run(t, name) })
				}
			})
		}
		for seed := range max(2, *seeds) {
			t.Run(fmt.Sprintf("%s/seed=%d", device, seed+1), func(t *testing.T) {
				briefly(t, false)
				needRanks(t, device, 4)
				w := startOn(t, device, 4, "2", fmt.Sprintf("null reorder=on delay=50us seed=%d", seed+1))
				for _, name := range ginCases {
					t.Run(name, func(t *testing.T) { w.run(t, name) })
				}
			})
		}
	}
}

// ncclRmsNormCase adds up vectors and divides each by its root mean square in one kernel: each
// block handles a token; the token's owner reduces it over the LSA ranks, normalises it and stores
// it to all.
func ncclRmsNormCase(t *T) {
	const hidden, tokens = 96, 3 // tokens of a rank
	ranks := symmem.LSA().Ranks()
	all := tokens * len(ranks)
	x := symmem.Empty(symmem.F32, all, hidden)
	w := symmem.Window(x)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: tokens})
	k := symmem.Compile(`
#include <nccl_device.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void rms_norm(ncclWindow_t window, ncclDevComm comm, int hidden, float eps) {
	__shared__ float sums[32];
	const ncclCoopCta cta;
	const ncclTeam lsa = ncclTeamLsa(comm);
	ncclLsaBarrierSession bar{cta, comm, ncclTeamTagLsa(), blockIdx.x};
	bar.sync(cta, cuda::memory_order_acquire);
	const size_t token = ((size_t)lsa.rank * gridDim.x + blockIdx.x) * hidden * sizeof(float);
	float* const mine = (float*)ncclGetLocalPointer(window, token);
	float squares = 0;
	for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
		float v = 0;
		for (int p = 0; p < lsa.nRanks; p++) v += ((float*)ncclGetLsaPointer(window, token, p))[i];
		mine[i] = v, squares += v * v;
	}
	const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	squares = cg::reduce(warp, squares, cg::plus<float>());
	if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = squares;
	__syncthreads();
	float sum = 0;
	for (int i = 0; i < (int)warp.meta_group_size(); i++) sum += sums[i];
	const float scale = 1 / sqrtf(sum / hidden + eps);
	for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
		const float v = mine[i] * scale;
		for (int p = 0; p < lsa.nRanks; p++) ((float*)ncclGetLsaPointer(window, token, p))[i] = v;
	}
	bar.sync(cta, cuda::memory_order_release);
}`)
	for round := range 4 {
		values, want := make([]float32, all*hidden), make([]float32, all*hidden)
		for i := range values {
			want[i] = float32(1 - 2*((i+i/hidden+round)%3%2))
			share := 1 // the shares of all ranks add up to 4
			if t.rank == ranks[0] {
				share = 4 - (len(ranks) - 1)
			}
			values[i] = float32(share) * want[i]
		}
		x.CopyFrom(values)
		symmem.Synchronize()
		symmem.Meet()
		k.Launch(symmem.Grid(tokens), symmem.Block(64), w, comm, hidden, float32(0), symmem.Timeout(30*time.Second))
		t.equal("normalised", x.Float32s(), want)
		symmem.Meet()
	}
	comm.Free()
	x.Free()
}

// ncclGinPutsCase exchanges blocks by GIN alone, every pair of ranks in several pieces, while each
// block has its own signal and context.
func ncclGinPutsCase(t *T) {
	const piece, pieces, blocks = 40, 3, 2
	n := piece * pieces
	send, recv := symmem.Empty(symmem.I32, blocks*t.size*n), symmem.Empty(symmem.I32, blocks*t.size*n)
	sends, recvs := symmem.Window(send), symmem.Window(recv)
	comm := symmem.DevComm(symmem.DevReqs{WorldGinBarriers: blocks, GinSignals: blocks, GinCounters: 1, GinContexts: blocks})
	wrong := symmem.Local(symmem.I32, 1).Fill(0)
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void exchange(ncclWindow_t send, ncclWindow_t recv, int piece, int pieces, ncclDevComm comm, int base, int* wrong) {
	ncclCoopCta cta;
	ncclGin gin{comm, (int)blockIdx.x};
	const ncclTeam world = ncclTeamWorld(comm);
	const unsigned int signal = blockIdx.x;
	const size_t n = (size_t)piece * pieces, bytes = piece * sizeof(int), first = blockIdx.x * world.nRanks * n;
	int *const out = (int*)ncclGetLocalPointer(send, 0), *const in = (int*)ncclGetLocalPointer(recv, 0);
	for (size_t i = threadIdx.x; i < world.nRanks * n; i += blockDim.x) out[first + i] = base + 1000 * world.rank + (int)i;
	const unsigned long long seen = gin.readSignal(signal), counted = gin.readCounter(0);
	ncclGinBarrierSession<ncclCoopCta> bar{cta, gin, ncclTeamTagWorld(), blockIdx.x};
	bar.sync(cta, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);  // everybody has read what came before
	for (int i = threadIdx.x; i < world.nRanks * pieces; i += blockDim.x) {
		const int peer = i / pieces, k = i % pieces;
		gin.put(world, peer, recv, (first + world.rank * n + k * piece) * sizeof(int), send, (first + peer * n + k * piece) * sizeof(int), bytes, ncclGin_WeakSignalInc{signal},
		        ncclGin_CounterInc{0});
	}
	gin.waitSignal(cta, signal, seen + world.nRanks * pieces);
	for (size_t i = threadIdx.x; i < world.nRanks * n; i += blockDim.x)
		if (in[first + i] != base + 1000 * (int)(i / n) + (int)(world.rank * n + i % n)) atomicAdd(wrong, 1);
	gin.waitCounter(cta, 0, counted + world.nRanks * pieces);  // the sources may change
	gin.flush(cta);
	bar.sync(cta, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
}`)
	for round := range 8 {
		k.Launch(symmem.Grid(blocks), symmem.Block(32), sends, recvs, piece, pieces, comm, 100000*round, wrong, symmem.Timeout(30*time.Second))
	}
	t.equal("wrong", wrong.Ints(), []int{0})
	symmem.Meet()
	comm.Free()
	send.Free()
	recv.Free()
}
