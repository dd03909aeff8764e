//go:build ignore

// Your own one-shot all-reduce: a kernel that reads the memory of all GPUs.

// %% [markdown]
// # Your own one-shot all-reduce
//
// In training and inference, GPUs often add up vectors: each GPU has one vector, and all need the sum. That is an **all-reduce**.
//
// ![Rank 1 reads the vectors of all ranks and adds them up. So does every other rank.](picture:one-shot)
//
//     rank 0 has  1 1 1 1                  10 10 10 10
//     rank 1 has  2 2 2 2    all-reduce    10 10 10 10
//     rank 2 has  3 3 3 3   ───────────>   10 10 10 10
//     rank 3 has  4 4 4 4                  10 10 10 10
//
// The simplest algorithm is *one-shot*: each rank reads the vectors of all ranks and adds them up itself. It takes:
//
// 1. a barrier, so that all vectors are complete before any rank reads;
// 2. a loop that reads from all ranks and adds;
// 3. a barrier, so that no rank changes its vector while others still read it.
//
// You write this as one kernel, in CUDA C++. Without a GPU, this machine's C++ compiler compiles it for the emulated device.
// Start it on one host: its kernels read and write the memory of all ranks, which works only inside a host.

// %% A vector for each rank. Its numbers are negative: they expose mistakes.
rank, size := symm.Rank(), symm.WorldSize()
n := 100
x := symm.Empty(symm.F32, n).Fill(rank - 10)
h := symm.Rendezvous(x)
out := symm.Local(symm.F32, n)

// %% [markdown]
// ## A kernel on one rank
//
// First a kernel that does not communicate. A kernel is a function that many *threads* run at once. Threads are grouped
// in *blocks*; `threadIdx.x` is the number of a thread in its block, `blockDim.x` the number of threads in a block.
//
// Here 32 threads share 100 elements. Thread 0 takes the elements 0, 32, 64, 96; thread 1 takes 1, 33, 65, 97; and so on.

// %% Compile and launch: one block of 32 threads.
twice := symm.Compile(`
__global__ void twice(float* out, const float* in, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * in[i];
}`)
twice.Launch(symm.Grid(1), symm.Block(32), out, x, n)
out.Float32s()[n-1]

// %% [markdown]
// All ranks compile the same text and launch it on their own tensors.

// %% [exercise] Predict: the work of a thread
// The kernel `twice` runs on one block of 32 threads, and there are 100 elements. How many elements does thread 3 double?

// %% [start]
predict := 0.0

// %% [hint]
// Thread 3 begins with `i = 3` and goes on in steps of 32. Write down its values of `i`.

// %% [hint]
// 3, 35, 67 … Is the next one still less than 100?

// %% [solution]
predict := 4

// %% [check]
turns := symm.Local(symm.I32, 32)
symm.Compile(`
__global__ void turns(int* count, int n) {
  count[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) count[threadIdx.x]++;
}`).Launch(symm.Grid(1), symm.Block(32), turns, n)
truth := float64(turns.Ints()[3])
symm.Meet() // kernels take longer on some ranks
switch float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: how many values does i have in thread 3?")
case 3:
	panic("3 would be right for thread 4 and those after it: 100 elements are three rounds of 32 and four more, for threads 0 to 3")
case 100.0 / 32:
	panic("threads share whole elements: some have one more than others")
case 32, 100:
	panic(fmt.Sprintf("%v is not the work of one thread: 32 threads share 100 elements", predict))
default:
	panic(fmt.Sprintf("thread 3 does not double %v elements: its i is 3, then 32 more each time, as long as it is less than 100", predict))
}

// %% [markdown]
// The arguments of a launch are compared with the parameters first:

// %% [fails] An argument is missing.
twice.Launch(symm.Grid(1), symm.Block(32), out, n)

// %% [markdown]
// An error in the kernel's code is shown with its line.

// %% [fails] A typing error.
symm.Compile(`
__global__ void broken(float* out) {
  out[threadIdx.x] = 1.0f
}`).Launch(symm.Grid(1), symm.Block(32), out)

// %% [markdown]
// ## A kernel that reads from its peers
//
// Pass the handle, and the kernel gets a `symm::Handle`, with these members and functions:
//
//     h.rank, h.world_size       the number of this rank, the number of ranks
//     h.buffer<float>(p)         the address of the copy of rank p
//     symm::barrier(h, channel)  waits until all ranks have reached it
//
// All threads of the block call the barrier, which is a `__syncthreads()` too: never put it under `if (threadIdx.x == 0)`.
//
// The address of a peer's copy is used like any other address. On GPUs the load goes over NVLink; nothing in the code shows that.

// %% The all-reduce. Its three parts are the three steps above.
sum := symm.Compile(`
__global__ void sum(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}`)
sum.Launch(symm.Grid(1), symm.Block(32), h, out, n)
total := out.Float32s()
fmt.Println(total[0], total[n-1])

// %% [markdown]
// Every rank has the same sum. That is a complete all-reduce.
//
// `if (!symm::barrier(h, 0)) return;` — a barrier returns `false` if it gave up, because of Ctrl-C or a time limit.
// Then the kernel returns without touching data. This one `if` is why a deadlock does not cost you the session.
//
// Does it agree with the all-reduce of symmrepl?

// %% Compare.
fmt.Println("the largest difference is", out.MaxDiff(symm.OneShotAllReduce(x, "sum")))

// %% [markdown]
// ## Why two barriers?
//
// Without the first barrier, a fast rank reads a vector that a slow rank has not filled yet. Without the second, a fast
// rank continues and fills its vector with the next numbers while a slow rank still reads the old ones. Both usually
// work. That makes them dangerous: the result is wrong once in a thousand runs.
//
// Let us make the second mistake visible. Without the last barrier, a slow reader and a fast writer use the same memory
// at the same time. Rank 0 reads late; the others change their vectors at once.

// %% Without the last barrier, rank 0 reads the wrong numbers.
careless := symm.Compile(`
__global__ void careless(symm::Handle h, float* out, unsigned long long pause) {
  if (!symm::barrier(h, 0)) return;
  if (threadIdx.x == 0) {
    if (h.rank == 0) {
      unsigned long long start = symm::now_ns();
      while (symm::now_ns() - start < pause) {}
    }
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[0];
    out[0] = total;
  }
}`)
x.Fill(1)
careless.Launch(symm.Grid(1), symm.Block(32), h, out, uint64(100e6))
if rank != 0 {
	x.Fill(1000) // the next numbers, too early
}
if got := out.Float32s()[0]; rank == 0 {
	fmt.Println("right:", got == float32(size))
}

// %% [markdown]
// Rank 0 has added numbers of the next round. The kernel is correct on all other ranks, and a slightly faster rank 0 would be correct too.
//
// ## Your turn

// %% Fresh data: element i of rank r is between -200 and -1.
for i := range n {
	x.Slice(i, i+1).Fill(-1 - (7*i+13*rank)%200)
}
h.Barrier(0)
x.Float32s()[:4]

// %% [exercise] Repair: the difference
// `gap` is to compute how far the right neighbour's vector is above this rank's: `out[i]` is the neighbour's `x[i]` minus this rank's, for all `n`
// elements. It is launched with one block of 32 threads. The kernel below gives the right numbers for the first 32 elements, if no rank is
// late. Repair it.

// %% [start]
gap := symm.Compile(`
__global__ void gap(symm::Handle h, float* out, int n) {
  int i = threadIdx.x, right = (h.rank + 1) % h.world_size;
  if (i < n) out[i] = h.buffer<float>(right)[i] - h.buffer<float>(h.rank)[i];
}`)

// %% [hint]
// Compare it with `sum`: what does `sum` have that is missing here, before and after the loop, and what is the loop?

// %% [hint]
// Each thread handles the elements `i`, `i + 32`, `i + 64` …: a `for` in place of the `if`.

// %% [hint]
// A barrier before the loop, so that the neighbour's vector is complete, and one after it, so that no rank changes its vector while its
// left neighbour reads.

// %% [solution]
gap := symm.Compile(`
__global__ void gap(symm::Handle h, float* out, int n) {
  int right = (h.rank + 1) % h.world_size;
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = h.buffer<float>(right)[i] - h.buffer<float>(h.rank)[i];
  symm::barrier(h, 0);
}`)

// %% [check]
limit := symm.Timeout(2 * time.Second)
verdict := symm.Empty(symm.I32, 6)
symm.Rendezvous(verdict)
values := make([]int, n)
for i := range values {
	values[i] = -1 - (7*i+29*rank*rank)%200
}
x.CopyFrom(values)
h.Barrier(0, limit)
mine, theirs := x.Float32s(), h.GetBuffer((rank+1)%size, symm.F32, n).Float32s()
late := size - 1
h.Barrier(0, limit)
if rank == late {
	x.Fill(500) // what its vector held before
}
out.Fill(12345)
h.Barrier(0, limit)
if rank == late {
	time.Sleep(100 * time.Millisecond)
	x.CopyFrom(mine)
}
found := make([]int, 6) // mistakes found on this rank, in the order of the messages below
if symm.Maybe(func() { gap.Launch(symm.Grid(1), symm.Block(32), h, out, n, limit); symm.Synchronize() }) != nil {
	found[0] = 1
}
symm.Recover()
for i, got := range out.Float32s() {
	switch got {
	case theirs[i] - mine[i]:
	case 12345:
		found[1] = 1
	case 500 - mine[i], 0:
		found[2] = 1
	case mine[i] - theirs[i]:
		found[3] = 1
	default:
		found[4] = 1
	}
}
switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
case found[0] > 0:
	panic("a barrier gave up: all ranks must reach each barrier, with all threads of the block")
case found[1] > 0:
	panic(fmt.Sprintf("some elements of out are not written: 32 threads must handle %d elements", n))
case found[3] > 0:
	panic("out has the opposite sign: the neighbour's element comes first, this rank's is taken from it")
case found[4] > 0:
	panic("out has numbers that are not the right neighbour's element minus this rank's: which rank's buffer does the kernel read?")
case found[2] > 0:
	panic(fmt.Sprintf("out has an old value of rank %d, which was late: a barrier must wait for it before any rank reads", late))
}

// On the emulated device the sanitizer grades your code, and its result does not depend on which rank comes first. It watches fewer
// ranks, on which the kernel must be right, too.
few := max(size-1, min(size, 2))
part := symm.NewGroup(symm.World().Ranks()[:few]...)
symm.Sanitize(true, 0)
symm.Findings() // those of before
x.CopyFrom(mine)
out.Fill(12345)
var failed error
if rank < few {
	hPart := symm.Rendezvous(x, part)
	failed = symm.Maybe(func() {
		gap.Launch(symm.Grid(1), symm.Block(32), hPart, out, 0, symm.Timeout(20*time.Second)) // compiled for the sanitizer
		gap.Launch(symm.Grid(1), symm.Block(32), hPart, out, n, limit)
		x.CopyFrom(mine)
		symm.Synchronize()
	})
}
symm.Recover()
findings := symm.Findings()
symm.Sanitize(false, 0)
part.Free()
found = []int{0, 0, 0, 0, 0, len(findings)}
for i, got := range out.Float32s() {
	if r := (rank + 1) % few; rank < few && (failed != nil || got != float32(-1-(7*i+29*r*r)%200)-mine[i]) {
		found[4] = 1
	}
}
switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
case found[4] > 0 && few < size:
	panic(fmt.Sprintf("it is right on %d ranks, but not on %d: h.world_size is their number", size, few))
case found[4]+found[5] > 0:
	said := "the numbers are right, but a rank may change its vector while its left neighbour still reads: the sanitizer finds accesses that nothing orders"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [exercise] The maximum
// Write a kernel `biggest` with the same parameters as `sum`. `out[i]` must be the largest `x[i]` of all ranks. It is
// launched with one block of 32 threads, and there are 100 elements.

// %% [start]
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = h.buffer<float>(h.rank)[i];
}`)

// %% [hint]
// Begin with a copy of the kernel `sum`. Only the lines about `total` have to change. Keep both barriers.

// %% [hint]
// What is the initial value of `total`? All elements here are negative: 0 is larger than all of them.

// %% [hint]
// Start with the copy of rank 0, `float best = h.buffer<float>(0)[i];`, and start the loop over `p` at 1.

// %% [solution]
biggest := symm.Compile(`
__global__ void biggest(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float best = h.buffer<float>(0)[i];
    for (int p = 1; p < h.world_size; p++) {
      float v = h.buffer<float>(p)[i];
      if (v > best) best = v;
    }
    out[i] = best;
  }
  symm::barrier(h, 0);
}`)

// %% [check]
limit := symm.Timeout(2 * time.Second)
verdict := symm.Empty(symm.I32, 8)
symm.Rendezvous(verdict)
fresh, largest, smallest := x.Float32s(), symm.OneShotAllReduce(x, "max").Float32s(), symm.OneShotAllReduce(x, "min").Float32s()
total = symm.OneShotAllReduce(x, "sum").Float32s()
late := size - 1
if rank == late {
	x.Fill(500) // what its vector held before
}
out.Fill(12345)
h.Barrier(0, limit)
if rank == late {
	time.Sleep(100 * time.Millisecond)
	x.CopyFrom(fresh)
}
found := make([]int, 8) // mistakes found on this rank, in the order of the messages below
if symm.Maybe(func() { biggest.Launch(symm.Grid(1), symm.Block(32), h, out, n, limit); symm.Synchronize() }) != nil {
	found[0] = 1
}
symm.Recover()
for i, got := range out.Float32s() {
	switch got {
	case largest[i]:
	case 12345:
		found[1] = 1
	case 500:
		found[2] = 1
	case 0:
		found[3] = 1
	case total[i]:
		found[4] = 1
	case fresh[i]:
		found[6] = 1
	case smallest[i]:
		found[5] = 1
	default:
		found[7] = 1
	}
}
switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
case found[0] > 0:
	panic("a barrier gave up: all ranks must reach each barrier, with all threads of the block")
case found[1] > 0:
	panic(fmt.Sprintf("some elements of out are not written: 32 threads must handle %d elements", n))
case found[2] > 0:
	panic(fmt.Sprintf("out has an old value of rank %d, which was late: a barrier must wait for it before any rank reads", late))
case found[3] > 0:
	panic("out has zeros, but all elements are negative: what is the initial maximum?")
case found[4] > 0:
	panic("out has the sums: the maximum is wanted")
case found[5] > 0:
	panic("out has the smallest elements, not the largest: look at the comparison")
case found[6] > 0:
	panic("a rank has only its own elements: a loop must look at the buffers of all ranks")
case found[7] > 0:
	panic("out has numbers that are not the largest of all ranks: does the loop look at every rank's element i?")
}

// Now rank 0 has much to read, and the others one element. They finish long before rank 0, and change their vectors.
length := 1 << 17
wide, widest := symm.Empty(symm.F32, length), symm.Local(symm.F32, length)
hWide := symm.Rendezvous(wide)
found = make([]int, 8)
for range 4 { // on a busy machine all others may be late
	wide.Fill(rank)
	if rank == 0 {
		biggest.Launch(symm.Grid(1), symm.Block(32), hWide, widest, length, limit)
	} else {
		biggest.Launch(symm.Grid(1), symm.Block(32), hWide, widest, 1, limit)
		wide.Fill(1000)
	}
	if rank == 0 && symm.Reduce("any(x0 == 1000)", widest).Item() == 1 {
		found[0] = 1
	}
	hWide.Barrier(0)
}
wide.Free()
if symm.AllReduce(verdict.CopyFrom(found), "max").Ints()[0] > 0 {
	panic("the result is right, but a rank could return and change its vector while rank 0 still read it; what is missing at the end?")
}

// On the emulated device the sanitizer grades your code, and its result does not depend on which rank comes first. It watches fewer
// ranks, on which the kernel must be right, too.
few := max(size-1, min(size, 2))
part := symm.NewGroup(symm.World().Ranks()[:few]...)
symm.Sanitize(true, 0)
symm.Findings() // those of before
x.Fill(rank - 200)
out.Fill(12345)
var failed error
if rank < few {
	hPart := symm.Rendezvous(x, part)
	failed = symm.Maybe(func() {
		biggest.Launch(symm.Grid(1), symm.Block(32), hPart, out, 0, symm.Timeout(20*time.Second)) // compiled for the sanitizer
		biggest.Launch(symm.Grid(1), symm.Block(32), hPart, out, n, limit)
		x.Fill(rank - 200)
		symm.Synchronize()
	})
}
symm.Recover()
x.CopyFrom(fresh)
findings := symm.Findings()
symm.Sanitize(false, 0)
part.Free()
found[0], found[7] = len(findings), 0
if rank < few && (failed != nil || !out.Equal(few-201)) {
	found[7] = 1
}
switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
case found[7] > 0 && few < size:
	panic(fmt.Sprintf("it is right on %d ranks, but not on %d: h.world_size is their number", size, few))
case found[7]+found[0] > 0:
	said := "the numbers are right by luck: the sanitizer finds accesses that nothing orders"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [markdown]
// ## The same in Triton
//
// A kernel need not be CUDA C++. On GPUs, `symm.LoadKernel` loads a kernel of another compiler. In Triton the loop over
// peers reads a table of addresses; the two barriers are calls around the launch:
//
//     @triton.jit
//     def one_shot(buffers, out, n, ranks, BLOCK: tl.constexpr):
//         i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
//         total = tl.zeros([BLOCK], tl.float32)
//         for r in range(ranks):
//             peer = tl.load(buffers + r).to(tl.pointer_type(tl.float32))
//             total += tl.load(peer + i, mask=i < n, other=0.0)
//         tl.store(out + i, total, mask=i < n)
//
// `docs/loading.md` has the script that makes `one_shot.cubin` and `one_shot.json` of it, on any machine. The emulated device runs no
// machine code: call the function below there, and the error names the remedy.

// %% Its launch: a table of the copies instead of the handle. Call inTriton("one_shot.json") where a GPU is.
func inTriton(file string) []float32 {
	kernel := symm.LoadKernel(file, "", symm.Params("ptr", "*fp32", "i32", "i32"))
	h.Barrier(0)
	kernel.Launch(symm.Grid((n+255)/256), symm.Block(256), h.BufferPtrsDev(), out, n, size)
	h.Barrier(0)
	return out.Float32s()
}

// %% [markdown]
// ## What you know now
//
// - A one-shot all-reduce is a barrier, a loop over peers, and a barrier.
// - A kernel gets the handle, and `h.buffer<T>(p)` is the memory of a peer.
// - A missing barrier is a mistake that shows only now and then, often on another machine.
//
// With more blocks, each block needs its own channel: `symm::barrier(h, blockIdx.x)`. For small vectors, symmrepl's
// all-reduce uses no barrier at all: it sends packets, which carry their own flags. That is the subject of tutorial 07.
//
// Read on: `:tutorial 05` is about long vectors, for which one-shot reads too much.
