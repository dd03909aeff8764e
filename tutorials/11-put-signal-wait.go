//go:build ignore

// GPU-initiated networking: put, signal and wait, in a form that crosses hosts.

// %% [markdown]
// # Put, signal, wait: GPU-initiated networking
//
// Inside of a host, a kernel reads a peer's memory by a load. To another host there is no load: there is a network card. What such a card can do is
// a **put**: take these bytes from my memory, write them *there*, and then raise a **signal** at the other side.
//
//     who asks the card                      what each message costs
//     the CPU, between two kernels           a kernel ends, the CPU wakes up, asks, starts another kernel
//     a kernel (GPU-initiated networking)    the kernel writes a request, and goes on
//
// The second way is called GIN in NCCL (2.28 and newer), and NVSHMEM has it, too. It pays where messages are many and small, as in mixtures of
// experts.
//
// Programs for it use only three things: put with a signal, wait for a signal, and their own memory. If you write for these three, it does not
// matter where the peer is. Here the peers are on your host, and symmrepl carries a put by stores. The rules are those of a network, and they are
// what you learn here.

// %% A window: memory that every rank has registered.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
h := symm.Rendezvous(t)
count := uint64(0) // messages sent so far

// %% [markdown]
// NCCL calls it a *window*: memory of the same size on all ranks, registered with the card once. A put names its target by rank and place in the
// window, never by an address. Beside the data there are *signals*: 64-bit words in the tensor's signal pad, which begin at 0.
//
// `h.PutWithSignal(peer, tensor, word, value)` copies the tensor into the peer's copy, and then sets a word of the peer to a value.
// `h.WaitForSignal(word, ">=", value)` waits for one's own word.

// %% To the right. Whoever sees the word sees the data.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
count++
h.PutWithSignal(right, message, 0, count)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// In tutorial 03 a signal was a bit, and waiting consumed it. A word keeps its value. So one *counts*: the first message sets it to 1, the second
// to 2. The receiver knows how many it has had, and waits for the next number.
//
// Why `>=` and not `==`? Because a word does not stop for you.

// %% [fails] Rank 0 has sent twice before rank 1 looks.
if rank == 0 {
	h.PutWithSignal(1, message, 1, 1)
	h.PutWithSignal(1, message, 1, 2)
}
h.Barrier(0)
if rank == 1 {
	h.WaitForSignal(1, "==", 1, symm.Timeout(300*time.Millisecond))
}
symm.Synchronize()

// %% [markdown]
// The word is 2, and will never be 1 again. With `>=` the wait is over at once. NCCL's `waitSignal` knows nothing but "at least".
//
// ## Three questions about every put
//
// 1. **When may I change what I sent?** When it was *read*. That is called local completion.
// 2. **When is it there?** When the receiver has seen the signal.
// 3. **When may I send to the same place again?** When the receiver has said that it has read it.
//
// First question. On a network a put is only a request. The card may read your memory much later, and NCCL has two ways to ask: `flush` waits until
// all that was put was read, and a put can count up a *counter* of your own. Here a put is work in the stream, and what comes behind it in the
// stream waits:

// %% Change the message right behind the put.
message.Fill(7)
count++
h.PutWithSignal(right, message, 0, count)
message.Fill(999)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// Nobody sees the 999. With two streams somebody might.
//
// Second question: *there* means there for the one who waits for this signal. Two puts to two peers have no order: a signal of rank 1 says nothing
// about what rank 2 has got. Even two puts to *one* peer need care. In a stream, a signal stands for everything that was put before it. On a
// network that is so only for what NCCL calls a *strong* signal, on the same context; a *weak* one speaks for its own put alone.
//
// The third question is the receiver's to answer. It answers by a put of nothing: a signal without data.

// %% Three messages through one place. Word 3 says "here it is", word 4 "I have read it".
h.ResetSignal(3)
h.ResetSignal(4)
h.Barrier(0) // before anybody sets them
nothing := message.Slice(0, 0)
var seen []float32
for step := uint64(1); step <= 3; step++ {
	h.WaitForSignal(4, ">=", step-1) // the right one has read the one before
	h.PutWithSignal(right, message.Fill(10*rank+int(step)), 3, step)
	h.WaitForSignal(3, ">=", step)
	seen = append(seen, t.Float32s()[0])
	h.PutWithSignal(left, nothing, 4, step)
}
seen

// %% [markdown]
// Take word 4 away, and it still works nearly always. You know by now what that is worth.
//
// ## From a kernel
//
// Until now the host asked for each put. GPU-initiated means that a kernel does.
//
//     symm::put_with_signal(h, peer, offset, source, bytes, word, value)    all threads of a block
//     symm::wait_for_signal(h, word, value, true)                           one thread; true is "at least"
//
// An all-gather around a ring: in each step a rank passes on, to the right, the block that came last from the left.
//
//     step 0   0 ──a──> 1   1 ──b──> 2   2 ──c──> 3   3 ──d──> 0     everybody its own
//     step 1   0 ──d──> 1   1 ──a──> 2   2 ──b──> 3   3 ──c──> 0     what came in step 0
//     step 2   0 ──c──> 1   1 ──d──> 2   2 ──a──> 3   3 ──b──> 0
//
// All `N-1` steps are in *one* launch. Each rank talks to its neighbours only, which suits networks. Each step has a word and a place of its own,
// so that nothing is overwritten within a launch.

// %% The ring, in one kernel.
ring := symm.Compile(`
__global__ void ring(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size;
  for (int step = 0; step < h.world_size - 1; step++) {
    const int block = (h.rank + h.world_size - step) % h.world_size;
    const symm::u64 at = block * n * sizeof(float), bytes = n * sizeof(float);
    symm::put_with_signal(h, right, at, h.buffer<char>(h.rank) + at, bytes, step, epoch);
    bool came = true;
    if (threadIdx.x == 0) came = symm::wait_for_signal(h, step, epoch, true);
    if (!__syncthreads_and(came)) return;
  }
}`)
all := symm.Empty(symm.F32, size*2).Fill(-1)
hAll := symm.Rendezvous(all)
all.Slice(2*rank, 2*rank+2).Fill(10 * rank)
hAll.Barrier(0)
ring.Launch(symm.Grid(1), symm.Block(32), hAll, 2, uint64(1))
all.Float32s()

// %% [markdown]
// Three details:
//
// - One thread waits, and `__syncthreads_and` takes its answer to all threads of the block. The wait is an *acquire*: what was put before the
//   signal is visible after it, to the whole block behind the `__syncthreads_and`.
// - In the put, the signal is a *release*. All threads copy, then they meet, then one thread stores the word. `symm.cuh` has it in ten lines.
// - `epoch` goes up with every launch, since the words keep their values. With the same epoch again, every wait would be over before it began.
//
// ## Two levels
//
// NVLink inside of a host is often ten times as fast as the network between hosts. So algorithms have two levels: first all that can be done
// inside, then across, as little as possible. Let us call the first half of our ranks one host, and the second half the other. (Their number must
// be even.) A rank's *partner* is the one in the same place on the other host.

// %% An all-reduce in two levels: a group for each host, puts between partners.
perHost := size / 2
var mates []int
for i := range perHost {
	mates = append(mates, rank/perHost*perHost+i)
}
host := symm.NewGroup(mates...)
partner := (rank + perHost) % size

part := host.Empty(symm.F32, 4).Fill(rank + 1)
symm.Rendezvous(part)
symm.AllReduce(part, "sum") // inside
count++
h.PutWithSignal(partner, part, 0, count) // across
h.WaitForSignal(0, ">=", count)
fmt.Println("my host has", part.Float32s()[0], "and the other", t.Float32s()[0])
fmt.Println("all ranks together:", part.Float32s()[0]+t.Float32s()[0])

// %% [markdown]
// Each rank sends its vector once across, not once to every rank over there. With `p` ranks a host it gets by with a `p`-th of that: reduce-scatter
// inside, put one's slice across, all-gather inside.
//
// ## Your turn: a halo exchange
//
// A simulation has its cells spread over the ranks. To compute a cell one needs its neighbours, and at the edge these are on another rank. So each
// rank keeps a copy of them, its *halo*, and refreshes it in each step:
//
//     rank 0   [ … | a b c d | e ]     rank 1 has put its first cell, e, into the halo of rank 0
//     rank 1   [ d | e f g h | … ]     rank 0 has put its last cell, d, into the halo of rank 1
//
// The ring is closed: to the right of the last rank is rank 0.

// %% A field: six cells, and a halo of one on each side.
cells := 6
u := symm.Empty(symm.F32, cells+2).Fill(-1)
hu := symm.Rendezvous(u)

// %% [exercise] The halo exchange
// Write the kernel `halo(h, n, epoch)`; `n` is the number of cells. It puts `u[1]`, the first cell, to the *left* neighbour, into its `u[n+1]`, and
// `u[n]`, the last cell, to the *right* one, into its `u[0]`. It returns when both halos of this rank have come. It is launched with one block of
// 32 threads, and with an epoch that is larger each time. It must work for two ranks, too, where left and right are the same.
//
// The one below does one half.

// %% [start]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  if (threadIdx.x == 0) symm::wait_for_signal(h, 0, epoch, true);
}`)

// %% [hint]
// The other half is a second put: to `(h.rank + h.world_size - 1) % h.world_size`, from `u + 1`, to the place of `u[n+1]`. Offsets are in bytes.

// %% [hint]
// Two messages come to each rank. Each needs a word of its own: if both set word 0, one that came looks like two.

// %% [hint]
// Put both first, then wait for both: `if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);` has one thread wait for each word.

// %% [solution]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [wrong]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
}`)

// %% [wrong]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n + 1, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [wrong]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, 1);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, 1);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, 1, true);
}`)

// %% [check]
symm.Recover() // words that an earlier answer has set are 0 again
everywhere := func(mine bool) bool {
	no := symm.Empty(symm.I32, 1).Fill(0)
	if !mine {
		no.Fill(1)
	}
	symm.Rendezvous(no)
	return symm.OneShotAllReduce(no, "max").Ints()[0] == 0
}
exchange := func(epoch int) {
	halo.Launch(symm.Grid(1), symm.Block(32), hu, cells, uint64(epoch), symm.Timeout(time.Second))
	symm.Synchronize()
}
value := func(r, cell, epoch int) float32 { return float32(1000*epoch + 100*r + cell) }

bad := ""
for epoch := 1; epoch <= 2 && bad == ""; epoch++ {
	want := []float32{value(left, cells, epoch)}
	for cell := 1; cell <= cells; cell++ {
		want = append(want, value(rank, cell, epoch))
	}
	want = append(want, value(right, 1, epoch))
	u.CopyFrom(want)
	u.Slice(0, 1).Fill(-1)
	u.Slice(cells+1, cells+2).Fill(-1)
	symm.Meet()
	failed := symm.Maybe(func() { exchange(epoch) })
	symm.Recover()
	got := u.Float32s()
	for i := range got {
		switch {
		case failed != nil:
			bad = failed.Error()
		case got[i] != want[i] && bad == "" && i > 0 && i <= cells:
			bad = fmt.Sprintf("after the exchange u[%d] is %v, not %v: a put went there; offsets are in bytes", i, got[i], want[i])
		case got[i] != want[i] && bad == "":
			bad = fmt.Sprintf("after the exchange u[%d] is %v, not %v", i, got[i], want[i])
		}
	}
	if !everywhere(bad == "") && bad == "" {
		bad = "all is right here, but not on another rank"
	}
}
if bad != "" {
	panic(bad)
}

// One rank stays away in the second of two: its neighbours must miss it.
symm.Meet()
exchange(1)
symm.Meet()
gaveUp := symm.Maybe(func() {
	if rank != 0 {
		exchange(2)
	}
}) != nil
symm.Recover()
if neighbour := rank == 1 || rank == size-1; !everywhere(!neighbour || gaveUp) {
	panic("the kernel ends although a neighbour has not sent in this epoch: it must wait for both words to reach the epoch")
}
fmt.Println("correct")

// %% [markdown]
// ## Over several hosts
//
// Under a launcher a script runs on ranks that somebody else has started. Four on one host:
//
//     torchrun --no-python --nproc-per-node 4 symmrepl run FILE.go
//
// Two hosts with two ranks each. Both run this, the second one with `--node-rank 1`:
//
//     export SYMMREPL_TOKEN=…        # a secret of at least 32 characters, the same on both
//     torchrun --no-python --nnodes 2 --node-rank 0 --nproc-per-node 2 \
//         --master-addr FIRST --master-port 29500 symmrepl run FILE.go
//
// Every rank runs every cell, on both hosts, and the ranks of each host share memory in a group of theirs, here `NewGroup(0, 1)` and
// `NewGroup(2, 3)`: the first of the two levels. For the second one symmrepl has no network transport yet. `Empty` for the whole world is refused
// there, with a message that says which ranks are where. The kernels of this tutorial translate line by line into those that cross:
//
//     here                              NCCL GIN
//     symm.Empty and symm.Rendezvous    ncclMemAlloc and ncclCommWindowRegister
//     symm::put_with_signal(…)          gin.put(team, peer, window, offset, …, signal)
//     word = value                      a signal that is added to
//     symm::wait_for_signal(…, true)    gin.waitSignal(coop, signal, least)
//     the put has returned              gin.flush(coop), or a counter
//
// One difference to watch: here a signal is *set*, so each word needs a single writer. There it is *added to*, and several peers may count up one
// signal.
//
// ## What you know now
//
// - Put with a signal, wait, count: enough for hosts that share no memory.
// - Three questions: when was it read, when is it there, when may the place be used again.
// - Wait for "at least", with an epoch that goes up.
// - A word for each message that may come.
//
// In PyTorch, `torch.ops.symm_mem.nccl_put_with_signal` and `nccl_wait_for_signal` are the calls from the host. `:doc symm.Handle.PutWithSignal`
// says what holds here.
//
// Read on: `:tutorial 12` measures all of this.
