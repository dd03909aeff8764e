package symmemtest

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// Programs in the idioms of NVSHMEM: kernels that include nvshmem.h, of one block of 64 threads on
// every PE. Each of them gets symmetric memory a and b, of 4096 words, symmetric signals, of 64
// words, all zero, and ordinary memory out, of 4096 words; n is the words of a part.

const shmemPrograms = `
#include <nvshmem.h>
#include <nvshmemx.h>
#define ME nvshmem_my_pe()
#define PES nvshmem_n_pes()
#define FIRST if (threadIdx.x == 0)
__device__ void wait(uint64_t* word, uint64_t least) {  // the whole block
	FIRST nvshmem_signal_wait_until(word, NVSHMEM_CMP_GE, least);
	__syncthreads();
}
__device__ void copy(int* to, const int* from, int n) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
	__syncthreads();
}

// The data of PE 0 goes from PE to PE.
extern "C" __global__ void ring_broadcast(int* a, int* b, uint64_t* sig, int* out, int n) {
	if (ME == 0)
		for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = 3 * i + 1;
	else wait(sig, 1);
	if (ME + 1 < PES) nvshmemx_int_put_signal_block(a, a, n, sig, 1, NVSHMEM_SIGNAL_SET, ME + 1);
	__syncthreads();
	copy(out, a, n);
}

// A sum by 2 * (PES - 1) steps around a ring; every step has a signal and a place of its own.
extern "C" __global__ void ring_all_reduce(int* a, int* b, uint64_t* sig, int* out, int n) {
	const int right = (ME + 1) % PES;
	for (int i = threadIdx.x; i < n * PES; i += blockDim.x) a[i] = i + ME;
	for (int step = 0; step < 2 * (PES - 1); step++) {
		const bool reduces = step < PES - 1;
		const int part = (ME - step + 2 * PES + (reduces ? 0 : PES - 1) + (reduces ? 0 : 1)) % PES;
		int* const place = b + (step % 2) * n;
		if (step >= 2) wait(sig + 8, step - 1);  // the neighbour has used what lay there
		nvshmemx_int_put_signal_nbi_block(place, a + part * n, n, sig, 1, NVSHMEM_SIGNAL_ADD, right);
		wait(sig, step + 1);
		int* const mine = a + (part - 1 + PES) % PES * n;
		for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = reduces ? mine[i] + place[i] : place[i];
		__syncthreads();
		FIRST {
			nvshmem_quiet();
			nvshmemx_signal_op(sig + 8, 1, NVSHMEM_SIGNAL_ADD, (ME + PES - 1) % PES);
		}
		__syncthreads();
	}
	copy(out, a, n * PES);
	nvshmemx_barrier_all_block();  // no signal is under way
}

// Pieces follow each other through all PEs, two at a time, with answers that make room.
extern "C" __global__ void pipeline(int* a, int* b, uint64_t* sig, int* out, int n) {
	const int pieces = 8, room = 2;
	for (int k = 0; k < pieces; k++) {
		int* const place = a + k % room * n;
		if (ME == 0) {
			for (int i = threadIdx.x; i < n; i += blockDim.x) out[k * n + i] = 100 * k + i;
			__syncthreads();
		} else {
			wait(sig, k + 1);
			for (int i = threadIdx.x; i < n; i += blockDim.x) out[k * n + i] = place[i] + 1;
			__syncthreads();
			FIRST {
				nvshmem_fence();
				nvshmemx_signal_op(sig + 1, 1, NVSHMEM_SIGNAL_ADD, ME - 1);
			}
		}
		if (ME + 1 < PES) {
			if (k >= room) wait(sig + 1, k - room + 1);
			FIRST nvshmem_fence();  // the count says which pieces are there only if none overtakes another
			nvshmemx_putmem_signal_block(place, out + k * n, 4 * n, sig, 1, NVSHMEM_SIGNAL_ADD, ME + 1);
		}
	}
	nvshmemx_barrier_all_block();  // no signal is under way
}

// A row of cells, of which each becomes the sum of its neighbours, with a halo on both sides.
extern "C" __global__ void halo(int* a, int* b, uint64_t* sig, int* out, int n) {
	const int left = (ME + PES - 1) % PES, right = (ME + 1) % PES, rounds = 5;
	int *from = a, *to = a + n + 2;
	for (int i = threadIdx.x; i < n; i += blockDim.x) from[i + 1] = (ME * n + i) % 7;
	__syncthreads();
	for (int round = 0; round < rounds; round++) {
		int* const edge = b + 2 * (round % 2);  // what the left and the right neighbour put
		FIRST {
			nvshmem_int_p(edge + 1, from[1], left);
			nvshmem_int_p(edge, from[n], right);
			nvshmem_fence();
			nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_ADD, left);
			nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_ADD, right);
		}
		wait(sig, 2 * round + 2);
		FIRST from[0] = edge[0], from[n + 1] = edge[1];
		__syncthreads();
		for (int i = threadIdx.x; i < n; i += blockDim.x) to[i + 1] = from[i] + from[i + 2];
		nvshmemx_barrier_all_block();
		int* const t = from;
		from = to, to = t;
	}
	copy(out, from + 1, n);
}

// PEs take tasks from a counter of PE 0, and put their results there.
extern "C" __global__ void work_queue(int* a, int* b, uint64_t* sig, int* out, int n) {
	FIRST {
		for (int task; (task = nvshmem_int_atomic_fetch_add(b, 1, 0)) < n;) {
			nvshmem_int_p(a + task, task * task, 0);
			nvshmem_int_atomic_inc(b + 1, 0);
		}
	}
	nvshmemx_barrier_all_block();
	copy(out, a, n);
	FIRST out[n] = b[1], out[n + 1] = b[0];
}

extern "C" __global__ void all_to_all(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int i = threadIdx.x; i < n * PES; i += blockDim.x) a[i] = 1000 * ME + i;
	__syncthreads();
	for (int p = threadIdx.x / 32; p < PES; p += blockDim.x / 32) nvshmemx_int_put_nbi_warp(b + ME * n, a + p * n, n, p);
	nvshmemx_barrier_all_block();
	copy(out, b, n * PES);
}

// Rows of a matrix become columns: element j of row i of PE p goes to element of rows of PE j.
extern "C" __global__ void transpose(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int i = threadIdx.x; i < n * PES; i += blockDim.x) a[i] = ME * n * PES + i;
	__syncthreads();
	for (int p = 0; p < PES; p++) nvshmemx_int_iput_block(b + ME * n, a + p, 1, PES, n, p);
	nvshmemx_barrier_all_block();
	copy(out, b, n * PES);
}

// Every PE owns some of the bins.
extern "C" __global__ void histogram(int* a, int* b, uint64_t* sig, int* out, int n) {
	const int bins = 4 * PES;
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		const int bin = (i * 7 + ME) % bins;
		nvshmem_int_atomic_add(a + bin / PES, 1, bin % PES);
	}
	nvshmemx_barrier_all_block();
	copy(out, a, 4);
}

// PE 0 counts who has come, and tells everybody.
__device__ void own_barrier(int* words, int round) {
	FIRST {
		nvshmem_quiet();
		if (nvshmem_int_atomic_fetch_add(words, 1, 0) == round * PES - 1) {
			nvshmem_fence();
			for (int p = 0; p < PES; p++) nvshmem_int_atomic_set(words + 1, round, p);
		}
		nvshmem_int_wait_until(words + 1, NVSHMEM_CMP_GE, round);
		nvshmem_fence();
	}
	__syncthreads();
}
extern "C" __global__ void atomic_barrier(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int round = 1; round <= 4; round++) {
		FIRST nvshmem_int_p(a + ME, 10 * round + ME, (ME + round) % PES);
		own_barrier(b, 2 * round - 1);
		FIRST out[round - 1] = a[((ME - round) % PES + PES) % PES];
		own_barrier(b, 2 * round);
	}
}

// Keys go to the PE of their range, where their senders reserve places.
extern "C" __global__ void sample_sort(int* a, int* b, uint64_t* sig, int* out, int n) {
	FIRST {
		for (int i = 0; i < n; i++) {
			const int key = (i * 37 + ME * 11) % (8 * PES), to = key / 8;
			const int at = nvshmem_int_atomic_fetch_inc(b, to);
			nvshmem_int_p(a + at, key, to);
		}
	}
	nvshmemx_barrier_all_block();
	FIRST {
		const int count = b[0];
		for (int i = 0; i < 8; i++) out[i + 1] = 0;
		for (int i = 0; i < count; i++) out[1 + a[i] - 8 * ME]++;
		out[0] = count;
	}
}

extern "C" __global__ void one_shot_all_reduce(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = i * (ME + 1);
	__syncthreads();
	for (int k = 0; k < PES; k++) nvshmemx_int_put_signal_nbi_block(a + ME * n, out, n, sig + ME, 1, NVSHMEM_SIGNAL_SET, (ME + k) % PES);
	for (int p = threadIdx.x; p < PES; p += blockDim.x) nvshmem_signal_wait_until(sig + p, NVSHMEM_CMP_EQ, 1);
	FIRST nvshmem_quiet();  // out may be overwritten
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		int sum = 0;
		for (int p = 0; p < PES; p++) sum += a[p * n + i];
		out[i] = sum;
	}
}

extern "C" __global__ void two_shot_all_reduce(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int i = threadIdx.x; i < n * PES; i += blockDim.x) a[i] = i * (ME + 1);
	nvshmemx_barrier_all_block();
	for (int p = 0; p < PES; p++) nvshmemx_int_get_nbi_block(b + p * n, a + ME * n, n, p);
	FIRST nvshmem_quiet();
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		int sum = 0;
		for (int p = 0; p < PES; p++) sum += b[p * n + i];
		out[i] = sum;
	}
	nvshmemx_barrier_all_block();
	nvshmemx_int_fcollect_block(NVSHMEM_TEAM_WORLD, a, out, n);
	copy(out, a, n * PES);
}

extern "C" __global__ void ping_pong(int* a, int* b, uint64_t* sig, int* out, int n) {
	if (threadIdx.x != 0 || PES < 2 || ME > 1) return;
	for (int round = 1; round <= 20; round++) {
		if (ME == 1) nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, round);
		nvshmemx_signal_op(sig, round, NVSHMEM_SIGNAL_SET, 1 - ME);
		if (ME == 0) nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, round);
	}
	out[0] = (int)nvshmem_signal_fetch(sig);
}

// Whoever has the lock of PE 0 may change what it guards.
extern "C" __global__ void lock(int* a, int* b, uint64_t* sig, int* out, int n) {
	FIRST {
		for (int i = 0; i < 4; i++) {
			while (nvshmem_int_atomic_compare_swap(b, 0, ME + 1, 0) != 0) {}
			nvshmem_fence();
			int* const value = out + 1;
			nvshmem_int_get(value, a, 1, 0);
			*value += ME + 1;
			nvshmem_int_put(a, value, 1, 0);
			nvshmem_quiet();
			nvshmem_int_atomic_set(b, 0, 0);
		}
	}
	nvshmemx_barrier_all_block();
	FIRST out[0] = nvshmem_int_g(a, 0);
}

// PE 0 serves the requests of the others as they come.
extern "C" __global__ void server(int* a, int* b, uint64_t* sig, int* out, int n) {
	if (threadIdx.x != 0) return;
	if (ME != 0) {
		nvshmem_int_p(a + ME, 5 * ME, 0);
		nvshmem_fence();
		nvshmem_int_p(b + ME, 1, 0);
		nvshmem_int_wait_until(b + 32, NVSHMEM_CMP_NE, 0);
		out[0] = b[32];
		return;
	}
	int done[8] = {1};
	for (int i = 1; i < PES; i++) {
		const size_t from = nvshmem_int_wait_until_any(b, PES, done, NVSHMEM_CMP_EQ, 1);
		done[from] = 1;
		nvshmem_int_p(b + 32, a[from] + 1, (int)from);
	}
	out[0] = nvshmem_int_wait_until_any(b, PES, done, NVSHMEM_CMP_EQ, 1) == (size_t)-1;
}

// A binary tree.
extern "C" __global__ void tree_broadcast(int* a, int* b, uint64_t* sig, int* out, int n) {
	if (ME == 0)
		for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = 7 - i;
	else wait(sig, 1);
	__syncthreads();
	for (int child = 2 * ME + 1; child <= 2 * ME + 2 && child < PES; child++) nvshmemx_int_put_signal_nbi_block(a, a, n, sig, 1, NVSHMEM_SIGNAL_ADD, child);
	copy(out, a, n);
	FIRST nvshmem_quiet();
}

// Tokens go to the PE of their expert; each PE waits for as many as all will send it.
extern "C" __global__ void moe_dispatch(int* a, int* b, uint64_t* sig, int* out, int n) {
	const int width = 4;
	for (int t = threadIdx.x / 32; t < n; t += blockDim.x / 32) {
		const int expert = (t * 3 + ME) % PES;
		int at = 0;
		if (threadIdx.x % 32 == 0) at = nvshmem_int_atomic_fetch_add(b, 1, expert);
		at = __shfl_sync(~0u, at, 0);
		int* const token = out + t * width;
		if (threadIdx.x % 32 < width) token[threadIdx.x % 32] = (ME * n + t) * width + threadIdx.x % 32;
		__syncwarp();
		nvshmemx_int_put_signal_warp(a + at * width, token, width, sig, 1, NVSHMEM_SIGNAL_ADD, expert);
	}
	int expected = 0;
	for (int p = 0; p < PES; p++)
		for (int t = 0; t < n; t++) expected += (t * 3 + p) % PES == ME;
	wait(sig, expected);
	FIRST {
		nvshmem_quiet();
		int sum = 0;
		for (int i = 0; i < expected * width; i++) sum += a[i];
		out[0] = expected, out[1] = sum;
	}
}

// Every PE marks itself in a set at all PEs, and those with odd numbers leave it again.
extern "C" __global__ void sets(int* a, int* b, uint64_t* sig, int* out, int n) {
	unsigned* const set = (unsigned*)a;
	FIRST for (int p = 0; p < PES; p++) nvshmem_uint_atomic_or(set, 1u << ME, p);
	nvshmemx_barrier_all_block();
	FIRST out[0] = (int)set[0];
	nvshmemx_sync_all_block();
	FIRST for (int p = 0; p < PES; p++) if (ME % 2) nvshmem_uint_atomic_and(set, ~(1u << ME), p);
	nvshmemx_barrier_all_block();
	FIRST out[1] = (int)set[0];
	nvshmemx_sync_all_block();
	FIRST nvshmem_uint_atomic_xor(set, 1u << ME, (ME + 1) % PES);
	nvshmemx_barrier_all_block();
	FIRST out[2] = (int)nvshmem_uint_atomic_fetch(set, ME);
}

// A list whose head is at PE 0: each PE puts itself in front.
extern "C" __global__ void list(int* a, int* b, uint64_t* sig, int* out, int n) {
	FIRST {
		const int next = nvshmem_int_atomic_swap(b, ME + 1, 0);
		nvshmem_int_p(a + ME, next, 0);
	}
	nvshmemx_barrier_all_block();
	FIRST {
		int members = 0, at = nvshmem_int_g(b, 0);
		for (int i = 0; i < PES && at; i++) {
			members |= 1 << (at - 1);
			at = nvshmem_int_g(a + at - 1, 0);
		}
		out[0] = members, out[1] = at;
	}
}

// Every PE gets a column of the matrix of its neighbour.
extern "C" __global__ void columns(int* a, int* b, uint64_t* sig, int* out, int n) {
	for (int i = threadIdx.x; i < n * n; i += blockDim.x) a[i] = 10000 * ME + i;
	nvshmemx_barrier_all_block();
	FIRST nvshmem_int_iget(out, a + 2, 1, n, n, (ME + 1) % PES);
	nvshmemx_barrier_all_block();
}

// Messages of all PEs arrive in places of their own and are used as they come.
extern "C" __global__ void mailbox(int* a, int* b, uint64_t* sig, int* out, int n) {
	if (threadIdx.x != 0) return;
	for (int p = 0; p < PES; p++) {
		nvshmem_int_p(a + ME, 100 * ME + p, p);
		nvshmem_fence();
		nvshmem_uint64_p(sig + ME, 1, p);
	}
	int status[8] = {};
	size_t indices[8];
	int sum = 0;
	for (int left = PES; left > 0;) {
		const size_t found = nvshmem_uint64_wait_until_some(sig, PES, indices, status, NVSHMEM_CMP_EQ, 1);
		for (size_t i = 0; i < found; i++) {
			sum += a[indices[i]];
			status[indices[i]] = 1;
		}
		left -= (int)found;
	}
	out[0] = sum;
	nvshmem_barrier_all();
}
`

// shmemProgram is a kernel of shmemPrograms with what out has then.
type shmemProgram struct {
	name string
	n    int
	want func(me, pes, n int) []int
}

// series is f(0), f(1), and so on.
func series(n int, f func(i int) int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}

var shmemProgramsTable = []shmemProgram{
	{"ring_broadcast", 200, func(_, _, n int) []int { return series(n, func(i int) int { return 3*i + 1 }) }},
	{"ring_all_reduce", 50, func(_, pes, n int) []int { return series(n*pes, func(i int) int { return pes*i + pes*(pes-1)/2 }) }},
	{"pipeline", 40, func(me, _, n int) []int { return series(8*n, func(i int) int { return 100*(i/n) + i%n + me }) }},
	{"halo", 20, func(me, pes, n int) []int {
		cells := series(n*pes, func(i int) int { return i % 7 })
		for range 5 {
			cells = series(n*pes, func(i int) int { return cells[(i+n*pes-1)%(n*pes)] + cells[(i+1)%(n*pes)] })
		}
		return cells[me*n : me*n+n]
	}},
	{"work_queue", 100, func(me, pes, n int) []int {
		if me != 0 {
			return make([]int, n+2)
		}
		return append(series(n, func(i int) int { return i * i }), n, n+pes)
	}},
	{"all_to_all", 30, func(me, pes, n int) []int { return series(n*pes, func(i int) int { return 1000*(i/n) + me*n + i%n }) }},
	{"transpose", 20, func(me, pes, n int) []int { return series(n*pes, func(i int) int { return i/n*n*pes + i%n*pes + me }) }},
	{"histogram", 96, func(me, pes, n int) []int {
		counts := make([]int, 4)
		for p := range pes {
			for i := range n {
				if bin := (i*7 + p) % (4 * pes); bin%pes == me {
					counts[bin/pes]++
				}
			}
		}
		return counts
	}},
	{"atomic_barrier", 1, func(me, pes, _ int) []int {
		return series(4, func(i int) int { return 10*(i+1) + ((me-i-1)%pes+pes)%pes })
	}},
	{"sample_sort", 40, func(me, pes, n int) []int {
		counts := make([]int, 9)
		for p := range pes {
			for i := range n {
				if key := (i*37 + p*11) % (8 * pes); key/8 == me {
					counts[0]++
					counts[1+key%8]++
				}
			}
		}
		return counts
	}},
	{"one_shot_all_reduce", 100, func(_, pes, n int) []int { return series(n, func(i int) int { return i * pes * (pes + 1) / 2 }) }},
	{"two_shot_all_reduce", 50, func(_, pes, n int) []int { return series(n*pes, func(i int) int { return i * pes * (pes + 1) / 2 }) }},
	{"ping_pong", 1, func(me, pes, _ int) []int {
		if pes < 2 || me > 1 {
			return []int{0}
		}
		return []int{20}
	}},
	{"lock", 1, func(_, pes, _ int) []int { return []int{2 * pes * (pes + 1)} }},
	{"server", 1, func(me, _, _ int) []int {
		if me == 0 {
			return []int{1}
		}
		return []int{5*me + 1}
	}},
	{"tree_broadcast", 100, func(_, _, n int) []int { return series(n, func(i int) int { return 7 - i }) }},
	{"moe_dispatch", 20, func(me, pes, n int) []int {
		count, sum := 0, 0
		for p := range pes {
			for t := range n {
				if (t*3+p)%pes == me {
					count++
					sum += 4*4*(p*n+t) + 6
				}
			}
		}
		return []int{count, sum}
	}},
	{"sets", 1, func(me, pes, _ int) []int {
		all, even := 1<<pes-1, 0x55&(1<<pes-1)
		return []int{all, even, even ^ 1<<((me+pes-1)%pes)}
	}},
	{"list", 1, func(_, pes, _ int) []int { return []int{1<<pes - 1, 0} }},
	{"columns", 12, func(me, pes, n int) []int { return series(n, func(i int) int { return 10000*((me+1)%pes) + n*i + 2 }) }},
	{"mailbox", 1, func(me, pes, _ int) []int { return []int{100*pes*(pes-1)/2 + pes*me} }},
}

func shmemProgramsCase(t *T) {
	const words = 4096
	k := symmem.Compile(shmemPrograms)
	a, b, sig := symmem.Empty(symmem.I32, words), symmem.Empty(symmem.I32, words), symmem.Empty(symmem.U64, 64)
	out := symmem.Local(symmem.I32, words)
	for _, x := range []*symmem.Tensor{a, b, sig} {
		symmem.Rendezvous(x)
	}
	for _, p := range shmemProgramsTable {
		for _, x := range []*symmem.Tensor{a, b, sig, out} {
			x.Fill(0)
		}
		symmem.Meet()
		k.Kernel(p.name).Launch(symmem.Grid(1), symmem.Block(64), a, b, sig, out, p.n, symmem.Timeout(60*time.Second))
		symmem.Meet()
		want := p.want(t.rank, t.size, p.n)
		t.equal(p.name, out.Slice(0, len(want)).Ints(), slices.Clone(want))
	}
	for _, x := range []*symmem.Tensor{a, b, sig} {
		x.Free()
	}
}
