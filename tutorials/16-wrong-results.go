//go:build ignore

// Wrong results: bounds, races and fences, and the sanitizer that finds them.

// %% [markdown]
// # Wrong results: bounds, races, fences
//
// If a program hangs, you notice it. A program with a race prints a number, and often the right
// one. Three kinds of mistakes are like that:
//
//     bounds     an index too far reads or overwrites the memory behind
//     races      two threads use the same memory, one of them writes, and nothing orders the two
//     order      something orders the two, but too weakly: right on this machine, wrong on the next
//
// A test finds them by luck. The *sanitizer* finds them by watching: it sees every access of every
// thread on every rank, and it knows barriers, signals, fences, events and launches. It checks
// whether two accesses are ordered, not whether the result is wrong in this run.
//
// It works on the cpu device, which runs the same kernels: on a machine with GPUs start this
// tutorial by `symmrepl tutorial 16 --device cpu`. Start it on one host: its kernels read and write the memory of all ranks. At the prompt and in a notebook `:sanitize on`
// switches it on, for one cell `:sanitize CODE`, and for a script `symmrepl run --sanitize`. In Go
// it is a function:

// %% Watch from here on.
symm.Sanitize(true, 0)
rank, size := symm.Rank(), symm.WorldSize()
right := (rank + 1) % size

// %% [markdown]
// ## Bounds
//
// Four blocks of 256 threads, and 1000 elements. What do the last 24 threads do?

// %% [fails] A kernel without its bound check.
t := symm.Local(symm.F32, 1000)
fill := symm.Compile(`
__global__ void fill(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}`)
fill.Launch(symm.Grid(4), symm.Block(256), t)
symm.Synchronize()

// %% [markdown]
// The report names the line, a thread with a wrong access, and the memory next to the address.

// %% [exercise] Predict: how many threads are outside?
// A tensor has 500 elements. A kernel with `x[2 * i] = 1`, where `i` is `blockIdx.x * blockDim.x + threadIdx.x`, is launched with 2 blocks
// of 256 threads. How many threads
// write outside the tensor?

// %% [start]
predict := 0.0

// %% [hint]
// There are 512 threads, with `i` from 0 to 511. For which `i` is `2 * i` at least 500?

// %% [hint]
// From `i = 250` on. How many numbers are 250 to 511?

// %% [solution]
predict := 262.0

// %% [check]
outside := symm.Local(symm.I32, 512)
symm.Compile(`
__global__ void outside(int* is) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  is[i] = 2 * i >= 500;
}`).Launch(symm.Grid(2), symm.Block(256), outside)
truth := symm.Reduce("sum(x0)", outside).Item()
symm.Meet() // kernels take longer on some ranks
switch float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: the last thread writes element 1022 of 500")
case 12:
	panic("12 would be right for x[i]: the index is twice that")
case 250:
	panic("250 is the number of threads that write inside")
case truth - 1:
	panic("element 500 is outside, too: the last one is 499")
case 256:
	panic("all of the second block is outside, but some threads of the first are, too")
default:
	panic(fmt.Sprintf("not %v: of 512 threads, count those with 2 * i >= 500", predict))
}

// %% [markdown]
// ## A race in a block
//
// ![Two threads and one word: a race, and the same accesses ordered by a barrier.](picture:race)
//
// This sum of a block is in many books. One line is missing, and the result is usually right.

// %% A sum without its first barrier.
in, out := symm.Local(symm.F32, 256).Fill(1), symm.Local(symm.F32, 1)
sum := symm.Compile(`
__global__ void sum(float* out, const float* in) {
  __shared__ float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s[0];
}`)
sum.Launch(symm.Grid(1), symm.Block(256), out, in)
symm.Synchronize()

// %% [markdown]
// The report has both accesses, which order is missing, and the repair. It appears once, however
// many threads race. If the sanitizer finds the same race again, one line says so; `:sanitize list`
// shows the reports.
//
// ## A race between ranks
//
// Tutorial 04 said that an all-reduce needs a barrier before and one after. Now the sanitizer
// checks that.

// %% No barrier before the reads.
x := symm.Empty(symm.F32, 64)
h := symm.Rendezvous(x)
add := symm.Compile(`
__global__ void add(symm::Handle h, float* out) {
  float total = 0;
  for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[threadIdx.x];
  out[threadIdx.x] = total;
  symm::barrier(h, 0);
}`)
x.Fill(rank)
add.Launch(symm.Grid(1), symm.Block(64), h, symm.Local(symm.F32, 64))
symm.Synchronize()

// %% [markdown]
// One of the accesses is in `Fill`, which is a kernel too: for this access the report names the
// call.
//
// ## An order that is too weak
//
// The next kernel sends data and then sets a flag; the receiver polls the flag. There is an order. But a `volatile` store promises nothing about the stores before it: a GPU may make
// the flag visible first. This machine's processor does not, so no test here can fail.

// %% A volatile flag without a fence.
data := symm.Empty(symm.I32, 32)
hData := symm.Rendezvous(data)
pass := symm.Compile(`
__global__ void pass(symm::Handle h, int* out) {
  int next = (h.rank + 1) % h.world_size;
  h.buffer<int>(next)[threadIdx.x] = h.rank;
  __syncthreads();
  if (threadIdx.x == 0) {
    *(volatile unsigned*)h.pad(next) = 1;
    while (*(volatile unsigned*)h.pad(h.rank) == 0);
  }
  __syncthreads();
  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];
}`)
pass.Launch(symm.Grid(1), symm.Block(32), hData, symm.Local(symm.I32, 32))
symm.Synchronize()

// %% [exercise] Repair: an order that is strong enough
// `hand` is the kernel `pass` under another name. Repair it, so that the sanitizer finds nothing and each rank has its left neighbour's
// number. Keep the flag: use a fence on
// each side, or a release and an acquire. It is launched once, with one block of 32 threads; the pad is zero before.

// %% [start]
hand := symm.Compile(`
__global__ void hand(symm::Handle h, int* out) {
  int next = (h.rank + 1) % h.world_size;
  h.buffer<int>(next)[threadIdx.x] = h.rank;
  __syncthreads();
  if (threadIdx.x == 0) {
    *(volatile unsigned*)h.pad(next) = 1;
    while (*(volatile unsigned*)h.pad(h.rank) == 0);
  }
  __syncthreads();
  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];
}`)

// %% [hint]
// Two things need an order: the data before the flag on the side that sends, and the flag before the data on the side that reads.

// %% [hint]
// The peers are other GPUs. `__threadfence()` orders for one GPU; which fence orders for all?

// %% [hint]
// With functions: `symm::store_release(h.pad(next), 1u);` and `while (symm::load_acquire(h.pad(h.rank)) == 0);`

// %% [solution]
hand := symm.Compile(`
__global__ void hand(symm::Handle h, int* out) {
  int next = (h.rank + 1) % h.world_size;
  h.buffer<int>(next)[threadIdx.x] = h.rank;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *(volatile unsigned*)h.pad(next) = 1;
    while (*(volatile unsigned*)h.pad(h.rank) == 0);
    __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];
}`)

// %% [check]
symm.Recover() // the pad is zero again
symm.Sanitize(true, 0)
symm.Findings() // those of before
handed, bad := symm.Local(symm.I32, 32).Fill(-1), symm.Empty(symm.I32, 3)
symm.Rendezvous(bad)
data.Fill(-1)
symm.Meet()
hung, notLeft := 0, 0
if symm.Maybe(func() { hand.Launch(symm.Grid(1), symm.Block(32), hData, handed); symm.Synchronize() }) != nil {
	hung = 1
}
symm.Maybe(symm.Meet)
seen := symm.Findings()
symm.Recover()
for _, v := range handed.Ints() {
	if v != (rank+size-1)%size {
		notLeft = 1
	}
}
switch now := symm.AllReduce(bad.CopyFrom([]int{hung, notLeft, len(seen)}), "max").Ints(); {
case now[0] > 0:
	panic("the kernel does not end: each rank sets the flag of the next one, and waits for its own")
case now[2] > 0:
	said := "the sanitizer finds accesses that are not ordered, or too weakly; the peers are on other GPUs, and both sides need an order"
	for _, f := range seen {
		said += "\n- " + f.String()
	}
	panic(said)
case now[1] > 0:
	panic("out is not the number of the left neighbour")
}
few := max(size-1, min(size, 2)) // on fewer ranks the numbers must go to the right, too
part := symm.NewGroup(symm.World().Ranks()[:few]...)
data.Fill(-1)
symm.Meet()
failed := 0
if rank < few {
	hPart := symm.Rendezvous(data, part)
	if symm.Maybe(func() {
		hPart.SignalAdd(rank, 0, 1) // the flag, so that no rank waits for one that has failed
		hand.Launch(symm.Grid(1), symm.Block(32), hPart, handed, symm.Timeout(time.Second))
		symm.Synchronize()
	}) != nil {
		failed = 1
	}
}
symm.Recover()
symm.Findings() // the message below is enough
part.Free()
if rank < few && !data.Equal((rank+few-1)%few) {
	failed = 1
}
if symm.AllReduce(bad.CopyFrom([]int{failed, 0, 0}), "max").Ints()[0] > 0 {
	panic(fmt.Sprintf("it is right on %d ranks, but not on %d: h.world_size is their number", size, few))
}
fmt.Println("correct")

// %% [markdown]
// There are three repairs: `__threadfence_system()` before the store and after the loop;
// `symm::store_release` and `symm::load_acquire`; or one of symmrepl's signals, which include both.
// `__threadfence()` would be too narrow: it orders for one GPU only.
//
// ## In another order
//
// Even the sanitizer needs luck to find some mistakes: a flag left over from the last round lets a
// wait pass only if the peer is late. So vary the order. `:sanitize 20 CODE` runs a cell in 20
// orders of threads, blocks and ranks, and `symmrepl run --sanitize --schedules 20` a script. Each
// finding names the seed of the order that shows it; `--seed` repeats that order.
//
// You can allow a harmless race by a comment on its line. The report then shows the comment
// instead: `x[0] = 1; // symm:allow race: all write the same`.
//
// ## Your turn
//
// A ring: each rank passes a vector to the right, and adds up the vectors that it receives, round
// after round.

// %% A vector for the ring, and the sums.
ringData := symm.Empty(symm.I32, 64)
ring := symm.Rendezvous(ringData)
sums := symm.Local(symm.I32, 64)

// %% [exercise] Make it clean
// The kernel `around` has three mistakes: a barrier of the block is missing, the waits are for one thread only, and a slot is written again before its reader has answered. Mend it. It is launched
// with one block of 64 threads, and `sums[i]` must be the sum of the values that the left neighbour has sent in all rounds.

// %% [start]
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    sums[i] += h.buffer<int>(h.rank)[i];
  }
}`)

// %% [hint]
// Which threads have written before thread 0 signals? Which threads may read after thread 0 has
// waited? `__syncthreads` answers both.

// %% [hint]
// When may `last` write again? When all threads have read, and thread 0 has sent a signal for it:
// on another channel, in the other direction.

// %% [hint]
// After the sum: `__syncthreads(); if (i == 0) symm::put_signal(h, last, 1), symm::wait_signal(h, next, 1); __syncthreads();`

// %% [solution]
around := symm.Compile(`
__global__ void around(symm::Handle h, int* sums, int rounds) {
  int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size, i = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    h.buffer<int>(next)[i] = 10 * round + h.rank;
    __syncthreads();
    if (i == 0) symm::put_signal(h, next, 0);
    if (i == 0) symm::wait_signal(h, last, 0);
    __syncthreads();
    sums[i] += h.buffer<int>(h.rank)[i];
    __syncthreads();
    if (i == 0) symm::put_signal(h, last, 1);
    if (i == 0) symm::wait_signal(h, next, 1);
    __syncthreads();
  }
}`)

// %% [check]
symm.Recover()
symm.Sanitize(true, 0)
left := (rank + size - 1) % size
sums.Fill(0)
wrong := symm.Empty(symm.I32, 2)
symm.Rendezvous(wrong)
symm.Findings() // those of before
if symm.Maybe(func() {
	around.Launch(symm.Grid(1), symm.Block(64), ring, sums, 3, symm.Timeout(5*time.Second))
	symm.Synchronize()
}) != nil {
	wrong.Fill(1)
}
symm.Recover()
wrongSum := 0
for _, v := range sums.Ints() {
	if v != 30+3*left {
		wrongSum = 1
	}
}
found := symm.Findings()
verdict := symm.AllReduce(wrong.CopyFrom([]int{wrongSum, len(found)}), "max").Ints() // whoever came second has findings
switch {
case verdict[1] > 0:
	said := "the sanitizer finds accesses that nothing orders"
	for _, f := range found {
		said += "\n- " + f.String()
	}
	panic(said)
case verdict[0] > 0:
	panic("a sum is not what the left neighbour has sent")
}
few := max(size-1, min(size, 2)) // on fewer ranks it must be right, too
part := symm.NewGroup(symm.World().Ranks()[:few]...)
sums.Fill(0)
failed := 0
if rank < few {
	hPart := symm.Rendezvous(ringData, part)
	if symm.Maybe(func() {
		around.Launch(symm.Grid(1), symm.Block(64), hPart, sums, 1, symm.Timeout(time.Second))
		symm.Synchronize()
	}) != nil || !sums.Equal((rank+few-1)%few) {
		failed = 1
	}
}
symm.Recover()
symm.Findings() // the message below is enough
part.Free()
if symm.AllReduce(wrong.CopyFrom([]int{failed, 0}), "max").Ints()[0] > 0 {
	panic(fmt.Sprintf("it is right on %d ranks, but not on %d: h.world_size is their number", size, few))
}
symm.Sanitize(false, 0)
fmt.Println("correct")

// %% Watch no longer.
symm.Sanitize(false, 0)

// %% [markdown]
// ## What you know now
//
// - A right result proves little. The sanitizer checks whether two accesses are ordered, on this
//   machine and on a GPU.
// - Bounds, races in a block, between blocks, streams and ranks, orders that are too weak: one report each, with both lines and the repair.
// - `--schedules` checks more orders, a seed repeats one of them, and a comment allows a harmless
//   race.
//
// Read on: `:tutorial 17` carries a kernel to PyTorch; if you come from 06, `:tutorial 07` is about packets. `docs/checker.md` describes bugs in released libraries, and how the sanitizer reports
// them.
