//go:build ignore

// GPU-initiated networking: put, signal and wait, in a form that crosses hosts.

// %% [markdown]
// # Put, signal, wait: GPU-initiated networking
//
// Inside a host, a kernel reads a peer's memory by a load. To another host there is no load: there is a network card. Such a
// card can do a **put**: read these bytes from my memory, write them *there*, and then set a **signal** on the other side.
//
//     who requests the put                   cost of each message
//     the CPU, between two kernels           a kernel ends, the CPU wakes up, makes the request, starts another kernel
//     a kernel (GPU-initiated networking)    the kernel writes a request, and continues
//
// NCCL calls the second way GIN (2.28 and newer); NVSHMEM has it, too. It pays when messages are many and small, as in
// mixtures of experts.
//
// Programs for it use only three things: put with a signal, wait for a signal, and their own memory. A program limited
// to these three does not depend on where the peer is. Here the peers are on your host, and symmrepl performs a put by
// stores. The rules are those of a network, and you learn them here.

// %% A window: memory that every rank has registered.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
h := symm.Rendezvous(t)
count := uint64(0) // messages sent so far

// %% [markdown]
// NCCL calls it a *window*: memory of the same size on all ranks, registered with the card once. A put names its target by rank and offset in
// the window, never by an address. Next to the data there are *signals*: 64-bit words in the tensor's signal pad, which are 0 at the beginning.
//
// `h.PutWithSignal(peer, tensor, word, value)` copies the tensor into the peer's copy, and then sets a word of the peer
// to a value. `h.WaitForSignal(word, ">=", value)` waits for the rank's own word.

// %% To the right. A rank that sees the word sees the data.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
count++
h.PutWithSignal(right, message, 0, count)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// In tutorial 03 a signal was a bit, and a wait consumed it. A word keeps its value. So signals *count*: the first message
// sets the word to 1, the second to 2. The receiver knows how many messages it has received, and waits for the next number.
//
// Why `>=` and not `==`? Because a word can pass your number before you look.

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
// The word is 2 and will never be 1 again. With `>=` the wait ends at once. NCCL's `waitSignal` offers only "at least".
//
// ## Three questions about every put
//
// 1. **When may I change the source?** After it was *read*. This is called local completion.
// 2. **When has the data arrived?** When the receiver has seen the signal.
// 3. **When may I send to the same place again?** When the receiver has signalled that it has read it.
//
// First question. On a network a put is only a request. The card may read your memory much later, and NCCL has two ways
// to find out: `flush` waits until all sources have been read, and a put can increment a *counter* of yours. Here a put
// is stream-ordered, and later work in the stream waits for it:

// %% Change the message right after the put.
message.Fill(7)
count++
h.PutWithSignal(right, message, 0, count)
message.Fill(999)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// No rank sees the 999. With two streams one could.
//
// Second question: the data has arrived for the rank that waits for this signal. Two puts to two peers have no order: a signal on
// rank 1 says nothing about the data on rank 2. Even two puts to *one* peer need care. In a stream, a signal covers all earlier
// puts. On a network only a *strong* signal in NCCL's terms does that, on the same context; a *weak* signal covers only its own put.
//
// The receiver answers the third question. Its answer is an empty put: a signal without data.

// %% Three messages through one place. Word 3 means "data is here", word 4 "I have read it".
h.ResetSignal(3)
h.ResetSignal(4)
h.Barrier(0) // before any rank sets them
nothing := message.Slice(0, 0)
var seen []float32
for step := uint64(1); step <= 3; step++ {
	h.WaitForSignal(4, ">=", step-1) // the right neighbour has read the previous message
	h.PutWithSignal(right, message.Fill(10*rank+int(step)), 3, step)
	h.WaitForSignal(3, ">=", step)
	seen = append(seen, t.Float32s()[0])
	h.PutWithSignal(left, nothing, 4, step)
}
seen

// %% [markdown]
// Without word 4, it still works nearly always. By now you know what that is worth.
//
// ## From a kernel
//
// Until now the host requested each put. GPU-initiated means that a kernel does.
//
//     symm::put_with_signal(h, peer, offset, source, bytes, word, value)    called by all threads of a block
//     symm::wait_for_signal(h, word, value, true)                           called by one thread; true means "at least"
//
// An all-gather around a ring: in each step a rank passes the block that it received last from the left on to the right.
//
//     step 0   0 ──a──> 1   1 ──b──> 2   2 ──c──> 3   3 ──d──> 0     each rank its own block
//     step 1   0 ──d──> 1   1 ──a──> 2   2 ──b──> 3   3 ──c──> 0     the block received in step 0
//     step 2   0 ──c──> 1   1 ──d──> 2   2 ──a──> 3   3 ──b──> 0
//
// All `N-1` steps are in *one* launch. Each rank communicates only with its neighbours, which suits networks. Each step
// has its own word and its own place, so that nothing is overwritten within a launch.

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
// - One thread waits, and `__syncthreads_and` gives its result to all threads of the block. The wait is an *acquire*: data put before the signal is
//   visible after the wait, and after `__syncthreads_and` to the whole block.
// - In the put, the signal is a *release*. All threads copy, then they synchronise, then one thread stores the word. `symm.cuh` has it in ten lines.
// - `epoch` increases with every launch, since the words keep their values. With the same epoch again, every wait would end at once.
//
// ## Two levels
//
// NVLink inside a host is often ten times as fast as the network between hosts. So algorithms have two levels: as much as
// possible inside the host, then as little as possible between hosts. Let us call the first half of our ranks one host, and
// the second half the other. (Their number must be even; a rank that is alone has no other host.) A rank's *partner* has the same position
// on the other host.

// %% An all-reduce on two levels: a group for each host, puts between partners.
perHost := (size + 1) / 2
var mates []int
for i := range perHost {
	mates = append(mates, rank/perHost*perHost+i)
}
host := symm.NewGroup(mates...)
partner := (rank + perHost) % size

part := host.Empty(symm.F32, 4).Fill(rank + 1)
symm.Rendezvous(part)
symm.AllReduce(part, "sum") // inside the host
count++
t.Fill(0)
h.Barrier(0) // before anybody puts
if partner != rank {
	h.PutWithSignal(partner, part, 0, count) // to the other host
	h.WaitForSignal(0, ">=", count)
}
fmt.Println("my host has", part.Float32s()[0], "and the other", t.Float32s()[0])
fmt.Println("all ranks together:", part.Float32s()[0]+t.Float32s()[0])

// %% [markdown]
// Each rank sends its vector to the other host once, not once to every rank there. With `p` ranks per host, a `p`-th of
// that is enough: reduce-scatter inside, put the rank's slice across, all-gather inside.
//
// ## Your turn: a halo exchange
//
// A simulation has its cells spread over the ranks. Computing a cell needs its neighbours, and at the edge these are on
// another rank. So each rank keeps a copy of them, its *halo*, and updates it in each step:
//
//     rank 0   [ … | a b c d | e ]     rank 1 has put its first cell, e, into the halo of rank 0
//     rank 1   [ d | e f g h | … ]     rank 0 has put its last cell, d, into the halo of rank 1
//
// The ring is closed: the right neighbour of the last rank is rank 0.

// %% A field: six cells, and a halo of one on each side.
cells := 6
u := symm.Empty(symm.F32, cells+2).Fill(-1)
hu := symm.Rendezvous(u)

// %% [exercise] The halo exchange
// Write the kernel `halo(h, n, epoch)`; `n` is the number of cells. It puts `u[1]`, the first cell, into `u[n+1]` of the *left*
// neighbour, and `u[n]`, the last cell, into `u[0]` of the *right* neighbour. It returns when both halos of this rank have arrived. It is
// launched with one block of 32 threads and an epoch that increases. It must also work for two ranks, where left and right are the same.
//
// The kernel below does one half of it.

// %% [start]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  if (threadIdx.x == 0) symm::wait_for_signal(h, 0, epoch, true);
}`)

// %% [hint]
// The other half is a second put: to `(h.rank + h.world_size - 1) % h.world_size`, from `u + 1`, to the offset of `u[n+1]`. Offsets are in bytes.

// %% [hint]
// Each rank receives two messages. Each message needs its own word: if both set word 0, one message looks like two.

// %% [hint]
// Put both first, then wait for both: in `if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);` one thread waits for each word.

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
symm.Recover() // clears words that an earlier answer set
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

// One rank skips the second of two exchanges: its neighbours must notice.
symm.Meet()
exchange(1)
symm.Meet()
gaveUp := symm.Maybe(func() {
	if rank != 0 {
		exchange(2)
	}
}) != nil
symm.Recover()
if neighbour := size > 1 && (rank == 1 || rank == size-1); !everywhere(!neighbour || gaveUp) {
	panic("the kernel ends although a neighbour has not sent in this epoch: it must wait for both words to reach the epoch")
}
fmt.Println("correct")

// %% [markdown]
// ## Over several hosts
//
// A launcher starts the ranks, and a script runs on them. Four ranks on one host:
//
//     torchrun --no-python --nproc-per-node 4 symmrepl run FILE.go
//
// Two hosts with two ranks each. Run this on both, on the second one with `--node-rank 1`:
//
//     export SYMMREPL_TOKEN=…        # a secret of at least 32 characters, the same on both
//     torchrun --no-python --nnodes 2 --node-rank 0 --nproc-per-node 2 \
//         --master-addr FIRST --master-port 29500 symmrepl run FILE.go
//
// Every rank on both hosts runs every cell, and the ranks of each host share memory in a team, `symm.LSA()`: the first of the two
// levels. `symm.Rail()` is the team of a rank and its counterparts on the other hosts, for the second level, for which symmrepl has no
// network transport yet. `symmrepl -n 4 --hosts 2` plays two hosts on one machine. The kernels of this tutorial translate line by
// line to NCCL's, which cross hosts:
//
//     here                              NCCL GIN
//     symm.Empty and symm.Rendezvous    ncclMemAlloc and ncclCommWindowRegister
//     symm::put_with_signal(…)          gin.put(team, peer, window, offset, …, signal)
//     word = value                      a signal that is incremented
//     symm::wait_for_signal(…, true)    gin.waitSignal(coop, signal, least)
//     the return of the put             gin.flush(coop), or a counter
//
// One difference to note: here a signal is *set*, so each word needs a single writer. In NCCL a signal is
// *incremented*, so several peers may use one signal.
//
// ## What you know now
//
// - Put with a signal, wait, count: enough for hosts that share no memory.
// - Three questions: when was it read, when has it arrived, when may the place be used again.
// - Wait for "at least", with an epoch that increases.
// - One word for each message that may arrive.
//
// In PyTorch, `torch.ops.symm_mem.nccl_put_with_signal` and `nccl_wait_for_signal` are the calls from the host. `:doc
// symm.Handle.PutWithSignal` has the exact rules here.
//
// Read on: `:tutorial 12` measures all of this.
