package symmemtest

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

// NCCL's functions that add up and copy, and its multimem pointers.

// ncclReduceCopy has a kernel of each kind, for two types. in holds the values of a rank; out holds
// the results of all functions, one after the other.
const ncclReduceCopy = `
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <nccl_device.h>
struct Larger {
	__device__ float operator()(float a, float b) const { return a < b ? b : a; }
};
template <class T> __device__ void lsa(ncclDevComm const& comm, ncclSymPtr<T> in, ncclSymPtr<T> out, int n, T* scratch) {
	ncclCoopCta cta;
	const ncclTeam team = ncclTeamLsa(comm), self = ncclTeamInnerFactor(team, 1);
	ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamTagLsa(), 0);
	bar.sync(cta, cuda::memory_order_acq_rel);
	T* const mine = out.localPtr();
	auto from = [=](int i) -> T* { return in.lsaPtr(i); };
	// into this rank's memory
	ncclLsaReduceSum(cta, in, mine, n, team), ncclLsaReduceSum(cta, in, mine + n, n, comm);
	ncclLsaReduceSum(cta, in.window, in.offset, mine + 2 * n, (size_t)n, team), ncclLsaReduceSum(cta, in.window, in.offset, mine + 3 * n, n, comm);
	ncclLsaReduceSum(cta, from, team.nRanks, mine + 4 * n, n), ncclLocalReduceSum(cta, from, team.nRanks, mine + 5 * n, n);
	auto last = [=](int) -> T* { return mine + 6 * n; };
	ncclLsaReduceLsaCopy<T>(cta, from, team.nRanks, last, 1, Larger(), n);
	cta.sync();
	ncclLocalReduceSum(cta, 2, mine, (size_t)n, scratch, n);
	cta.sync();
	ncclLocalCopy(cta, scratch, 2, mine + 7 * n, (size_t)n, n);
	cta.sync();
	ncclLocalReduceSumCopy(cta, 2, mine, (size_t)n, 2, mine + 9 * n, (size_t)n, n);
	ncclLocalCopy(cta, scratch, last, 1, 0);
	// to all ranks, each to its place
	auto place = [=](int i) { return out + (11 * n + team.rank * n) + 0 * i; };
	ncclLsaCopy(cta, in.localPtr(), place(0), n, team);
	out += 11 * n + team.nRanks * n;
	ncclLsaCopy(cta, in.localPtr(), (out + team.rank * n).window, (out + team.rank * n).offset, n, comm);
	out += team.nRanks * n;
	// sums of all to all: each rank a part
	const int part = n / team.nRanks, first = team.rank * part;
	ncclLsaReduceSumCopy(cta, in + first, out + first, part, team), ncclLsaReduceSumCopy(cta, in + first, out + (n + first), part, comm);
	ncclLsaReduceSumCopy<T>(cta, in.window, (in + first).offset, out.window, (out + (2 * n + first)).offset, part, team);
	ncclLsaReduceSumCopy<T>(cta, in.window, (in + first).offset, out.window, (out + (3 * n + first)).offset, part, comm);
	ncclLsaReduceSumCopy(cta, in + first, team, out + (4 * n + first), team, part);
	ncclLsaReduceSumCopy(cta, in, team, out + 5 * n, self, n);
	bar.sync(cta, cuda::memory_order_acq_rel);
}
template <class T> __device__ void multimem(ncclDevComm const& comm, ncclSymPtr<T> in, ncclSymPtr<T> out, int n) {
	ncclCoopCta cta;
	const ncclTeam team = ncclTeamLsa(comm);
	const ncclMultimemHandle mm = comm.lsaMultimem;
	ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamTagLsa(), 0, true);
	bar.sync(cta, cuda::memory_order_acq_rel);
	T *const mine = out.localPtr(), *const all = (T*)ncclGetLsaMultimemPointer(in.window, in.offset, comm);
	ncclMultimemReduceSum(cta, in, mine, n, mm), ncclMultimemReduceSum(cta, all, mine + n, n), ncclMultimemReduceSum(cta, in.window, in.offset, mine + 2 * n, n, mm);
	for (int i = threadIdx.x; i < n; i += blockDim.x) mine[3 * n + i] = symm::multimem_sum(all + i);
	out += 4 * n;
	const int place = team.rank * n;
	ncclMultimemCopy(cta, in.localPtr(), out + place, n, mm);
	out += team.nRanks * n;
	ncclMultimemCopy(cta, in.localPtr(), (out + place).lsaMultimemPtr(comm), n);
	out += team.nRanks * n;
	ncclMultimemCopy(cta, in.localPtr(), out.window, (out + place).offset, n, mm);
	out += team.nRanks * n;
	for (int i = threadIdx.x; i < n; i += blockDim.x) symm::multimem_store((T*)ncclGetMultimemPointer(out.window, out.offset, mm) + place + i, in.localPtr()[i]);
	out += team.nRanks * n;
	const int part = n / team.nRanks, first = team.rank * part;
	auto at = [=](int k) { return out + (k * n + first); };
	ncclMultimemReduceSumCopy(cta, in + first, mm, at(0), mm, part), ncclMultimemReduceSumCopy(cta, all + first, at(1).multimemPtr(mm), part);
	ncclMultimemReduceSumCopy<T>(cta, in.window, (in + first).offset, mm, out.window, at(2).offset, mm, part);
	ncclLsaReduceSumMultimemCopy(cta, in + first, team, at(3), mm, part), ncclLsaReduceSumMultimemCopy(cta, in + first, team, at(4).multimemPtr(mm), part);
	ncclMultimemReduceSumLsaCopy(cta, in + first, mm, at(5), team, part), ncclMultimemReduceSumLsaCopy(cta, all + first, at(6), team, part);
	bar.sync(cta, cuda::memory_order_acq_rel);
}
extern "C" __global__ void lsa_float(ncclDevComm comm, ncclWindow_t in, size_t offset, ncclWindow_t out, int n, float* scratch) {
	lsa(comm, ncclSymPtr<float>(in, offset * sizeof(float)), ncclSymPtr<float>(out, 0), n, scratch);
}
extern "C" __global__ void multimem_float(ncclDevComm comm, ncclWindow_t in, size_t offset, ncclWindow_t out, int n) {
	multimem(comm, ncclSymPtr<float>(in, offset * sizeof(float)), ncclSymPtr<float>(out, 0), n);
}
extern "C" __global__ void lsa_half(ncclDevComm comm, ncclWindow_t in, size_t offset, ncclWindow_t out, int n, __half* scratch) {
	lsa(comm, ncclSymPtr<__half>(in, offset * sizeof(__half)), ncclSymPtr<__half>(out, 0), n, scratch);
}
extern "C" __global__ void multimem_half(ncclDevComm comm, ncclWindow_t in, size_t offset, ncclWindow_t out, int n) {
	multimem(comm, ncclSymPtr<__half>(in, offset * sizeof(__half)), ncclSymPtr<__half>(out, 0), n);
}`

// ncclCopies are functions of nccl/reduce_copy.h with other types, to check that they compile.
const ncclCopies = `
#include <cuda_bf16.h>
#include <nccl_device.h>
template <class T> __device__ void sums(ncclDevComm const& comm, ncclWindow_t w, T* local) {
	T* const p = (T*)ncclGetResourceBufferLsaMultimemPointer(comm, 1);
	ncclMultimemReduceSum(ncclCoopWarp(), p, local, 4);
	ncclMultimemCopy(ncclCoopThread(), local, (T*)ncclGetResourceBufferMultimemPointer(comm, 1, comm.lsaMultimem), 4ull);
	ncclLsaReduceSum(ncclCoopWarp(), ncclSymPtr<T>(w, 0), local, 4u, ncclTeamLsa(comm));
	auto one = [=](int) -> T* { return p; };
	auto mine = [=](int) -> T* { return local; };
	ncclLsaReduceSumLsaCopy<T>(ncclCoopCta(), mine, 1, mine, 1, 4);
	ncclMultimemReduceSumMultimemCopy<T>(ncclCoopCta(), one, 1, one, 1, 4), ncclLsaReduceMultimemCopy<T>(ncclCoopCta(), mine, 1, one, 1, symm::NcclPlus(), 4);
}
extern "C" __global__ void all(ncclDevComm comm, ncclWindow_t w, void* p) {
	sums(comm, w, (double*)p), sums(comm, w, (int*)p), sums(comm, w, (unsigned*)p), sums(comm, w, (long long*)p), sums(comm, w, (unsigned long long*)p), sums(comm, w, (__nv_bfloat16*)p);
	ncclLsaReduceSum(ncclCoopWarp(), w, 0, (signed char*)p, 4, ncclTeamLsa(comm));
}`

func ncclReduceCopyCase(t *T) {
	lsa := symmem.LSA()
	ranks, most, sum := lsa.Ranks(), 0, 0
	for _, r := range ranks {
		most, sum = max(most, r+1), sum+r+1
	}
	k := symmem.Compile(ncclReduceCopy)
	symmem.Compile(ncclCopies)
	symmem.Compile(ncclOthers)
	caps := symmem.Caps()
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 1, Multimem: caps.Multicast})
	n := 24 * len(ranks)
	for _, d := range []symmem.DType{symmem.F32, symmem.F16} {
		name := map[symmem.DType]string{symmem.F32: "float", symmem.F16: "half"}[d]
		for _, offset := range []int{0, 3} { // packs, and single elements
			results := 11 + 2*len(ranks) + 6
			in, out := symmem.Empty(d, n+offset), symmem.Empty(d, max(results, 4+4*len(ranks)+7)*n).Fill(-1)
			values, scaled := make([]int, n+offset), func(f int) []int {
				list := make([]int, n)
				for i := range list {
					list[i] = f * (i % 5)
				}
				return list
			}
			copy(values[offset:], scaled(t.rank+1))
			in.CopyFrom(values)
			ins, outs := symmem.Window(in), symmem.Window(out)
			symmem.Synchronize()
			symmem.Meet()
			k.Kernel("lsa_"+name).Launch(symmem.Grid(1), symmem.Block(64), comm, ins, offset, outs, n, symmem.Local(d, n))
			got := out.Ints()
			result := func(what string, i int, want []int) {
				t.equal(fmt.Sprintf("%v at %d: %s", d, offset, what), got[i*n:(i+1)*n], want)
			}
			each := func(what string, at int) int {
				for i, r := range ranks {
					result(fmt.Sprintf("%s of rank %d", what, r), at+i, scaled(r+1))
				}
				return at + len(ranks)
			}
			for i, factor := range []int{sum, sum, sum, sum, sum, sum, most, 2 * sum, 2 * sum, 2 * sum, 2 * sum} {
				result(fmt.Sprint("sum ", i), i, scaled(factor))
			}
			at := each("copy by window", each("copy", 11))
			for i := range 6 {
				result(fmt.Sprint("sum to all ", i), at+i, scaled(sum))
			}
			if caps.Multicast {
				out.Fill(-1)
				symmem.Synchronize()
				symmem.Meet()
				k.Kernel("multimem_"+name).Launch(symmem.Grid(1), symmem.Block(64), comm, ins, offset, outs, n)
				got = out.Ints()
				for i := range 4 {
					result(fmt.Sprint("multimem sum ", i), i, scaled(sum))
				}
				at := 4
				for i := range 4 {
					at = each(fmt.Sprint("multimem copy ", i), at)
				}
				for i := range 7 {
					result(fmt.Sprint("multimem sum to all ", i), at+i, scaled(sum))
				}
			}
			symmem.Meet()
			in.Free()
			out.Free()
		}
	}
	comm.Free()
}

// ncclMultimemRefusedCase: multimem is refused if there is no multicast, if the communicator was
// made without it, and for pointers that are no multimem pointers.
func ncclMultimemRefusedCase(t *T) {
	caps := symmem.Caps()
	if !caps.Multicast {
		t.refused(symmem.KindMisuse, func() { symmem.DevComm(symmem.DevReqs{Multimem: true}) },
			"NVLink multicast is off: "+caps.MulticastWhy, "ncclLsaReduceSum")
	}
	x := symmem.Empty(symmem.I32, 8).Fill(1)
	w := symmem.Window(x)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: 1})
	out := symmem.Local(symmem.I32, 1).Fill(0)
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void pointer(ncclDevComm comm, ncclWindow_t w, int* out) { *out = ncclGetLsaMultimemPointer(w, 0, comm) == nullptr; }
extern "C" __global__ void load(ncclDevComm comm, ncclWindow_t w, int what, int* out) {
	int* const p = (int*)ncclGetLsaMultimemPointer(w, 0, comm);
	if (what == 0) *out = symm::multimem_sum(p + 8);
	if (what == 1) *out = symm::multimem_sum((int*)ncclGetLocalPointer(w, 0));
	if (what == 2) *out = *p;
}`)
	grid, block := symmem.Grid(1), symmem.Block(1)
	k.Launch(grid, block, comm, w, out)
	t.refused(symmem.KindMisuse, symmem.Synchronize, "pointer", "a multimem pointer was asked for", "symm.DevReqs{Multimem: true}")
	t.equal("went on", out.Ints(), []int{1})
	if caps.Multicast && caps.Device == "cpu" {
		all := symmem.DevComm(symmem.DevReqs{Multimem: true})
		t.equal("text", all.String(), "device communicator of world, DevReqs{Multimem: true}")
		for what, words := range [][]string{{"beyond its window"}, {"no multimem pointer"}, nil} {
			k.Kernel("load").Launch(grid, block, all, w, what, out)
			t.refused(symmem.KindFault, symmem.Synchronize, words...)
		}
		all.Free()
	}
	t.equal("kept", x.Ints(), slices.Repeat([]int{1}, 8))
	symmem.Meet()
	comm.Free()
	x.Free()
}
