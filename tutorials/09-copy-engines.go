//go:build ignore

// Copy engines and overlap: move data while the GPU computes.

// %% [markdown]
// # Copy engines, and overlap with a matrix product
//
// While data travels, a GPU could compute. So do not let one wait for the other:
//
//     one after the other    [ all-gather ][ product        ]
//     overlapped             [ all-gather ]
//                            [ product        ]
//
// But who carries the data? Usually a kernel, and it runs on the same *multiprocessors* as the product, which then has fewer of them. On four H200s a
// large product takes a quarter longer with such an all-gather beside it.
//
// A GPU has other units that can copy: its **copy engines**. They do nothing else, and they take no multiprocessor. With an all-gather of theirs beside it, the
// same product takes as long as alone. (`docs/benchmarks.md` has the table.)
//
// We begin with an all-gather of a few rows. Each rank owns 4 rows of `all`; `mine` is this rank's part of it.

// %% A symmetric tensor, and this rank's part.
rank, size := symm.Rank(), symm.WorldSize()
m, k, n := 4, 8, 8
all := symm.Empty(symm.F32, size*m, k)
h := symm.Rendezvous(all)
mine := all.Slice(rank*m, (rank+1)*m).Fill(rank + 1)

// %% By multiprocessors and by copy engines. Explain says what ran.
fmt.Println(symm.Explain(func() { symm.AllGatherOut(mine, all) }))
fmt.Println(symm.Explain(func() { symm.AllGatherOut(mine, all, symm.CopyEngine()) }))

// %% Each rank has everybody's rows.
first := make([]float32, size)
for p := range first {
	first[p] = all.Slice(p*m, p*m+1).Float32s()[0]
}
first

// %% [markdown]
// No kernel runs in the second one, not even to wait for the others: the streams meet by memory operations. In return, each copy needs some microseconds to
// get going, so for small messages the kernel is quicker.
//
// `mine` is in its place in `all` already. That matters: a part that has to be copied within the GPU suffers from the product beside it, and the all-gather
// took more than twice as long.
//
// A copy engine copies. It cannot add, so a reduction has no use for it.

// %% [fails] An all-reduce by copy engines?
symm.AllReduce(all, "sum", symm.CopyEngine())

// %% [markdown]
// ## Two streams
//
// A **stream** is a queue of work. Work in one stream runs in order. Work in two streams may run at the same time, if nobody says otherwise. And an **event**
// says otherwise: one stream *records* it, another *waits* for it.
//
//     main stream    fill ─ record filled          ─ product a × b ─ wait for gathered ─ product all × w
//                                 │                                         │
//     side stream                 wait for filled ─ all-gather ─ record gathered

// %% An all-gather, and beside it a product that does not need it.
side := symm.NewStream()
filled, gathered := symm.NewEvent(), symm.NewEvent()
a, b, c := symm.Local(symm.F32, 16, 16).Fill(1), symm.Local(symm.F32, 16, 16).Fill(2), symm.Local(symm.F32, 16, 16)
w, y := symm.Local(symm.F32, k, n).Fill(1), symm.Local(symm.F32, size*m, n)

mine.Fill(10 * (rank + 1))
filled.Record()
filled.Wait(side)
symm.AllGatherOut(mine, all, symm.CopyEngine(), side)
gathered.Record(side)

symm.MatMul(c, a, b) // beside the all-gather
gathered.Wait()
symm.MatMul(y, all, w) // needs it

fmt.Println("c", c.Float32s()[0], "y", y.Slice(0, 1).Float32s()[0], y.Slice((size-1)*m, size*m).Float32s()[0])

// %% [markdown]
// Note who waits: the *streams*. The host has put all of it into the queues and gone on.
//
// ## A forgotten event
//
// Leave out `gathered.Wait()`, and the second product may read what is not there yet. On most days the all-gather is quick enough, and nobody sees it.
// To see it every time, we put a gate into the side stream: it waits for a word of the signal pad that the main stream sets later.

// %% What the main stream reads before it waits for the event, and after.
theirs := all.Slice((rank+1)%size*m, (rank+1)%size*m+1) // a row of the right neighbour
all.Fill(0)
h.Barrier(0) // nobody reads mine before it is filled, nor all before it is 0
mine.Fill(rank + 1)
filled.Record()

filled.Wait(side)
h.WaitForSignal(100, ">=", 1, side) // the gate
symm.AllGatherOut(mine, all, symm.CopyEngine(), side)
gathered.Record(side)

early := theirs.Float32s()[0]
symm.StreamWriteValue32(h.GetSignalPad(rank), 200, 1) // opens it: 64-bit word 100 begins at 32-bit word 200
gathered.Wait()
late := theirs.Float32s()[0]
h.ResetSignal(100)
fmt.Println("early", early, "late", late)

// %% [markdown]
// The gate also shows that the streams are independent: the main stream goes on while the side stream is held up.
//
// ## How long does it take?
//
// The next cell measures a product, an all-gather, and both at once. On the emulated device, one processor does all, so nothing can be won. On GPUs look at the last two
// lines: the product beside an all-gather by multiprocessors, and by copy engines.

// %% [varies] Device time on this rank.
dim, elements := 96, 1<<14
if symm.GetBackend() != "CPU" {
	dim, elements = 8192, 1<<25
}
p, q, r := symm.Local(symm.BF16, dim, dim).Rand(1), symm.Local(symm.BF16, dim, dim).Rand(2), symm.Local(symm.BF16, dim, dim)
big := symm.Empty(symm.BF16, size*elements)
symm.Rendezvous(big)
own := big.Slice(rank*elements, (rank+1)*elements)
product := func() { symm.MatMul(r, p, q) }
both := func(opts ...symm.Option) func() {
	return func() {
		filled.Record()
		filled.Wait(side)
		symm.AllGatherOut(own, big, append(opts, side)...)
		product()
	}
}
fmt.Println(symm.Explain(product))
product()
symm.AllGatherOut(own, big)
symm.AllGatherOut(own, big, symm.CopyEngine())
fmt.Println("the product alone           ", symm.Elapsed(product))
fmt.Println("the all-gather alone        ", symm.Elapsed(func() { symm.AllGatherOut(own, big, symm.CopyEngine()) }))
fmt.Println("beside one by a kernel      ", symm.Elapsed(both()))
symm.Synchronize()
fmt.Println("beside one by copy engines  ", symm.Elapsed(both(symm.CopyEngine())))
symm.Synchronize()
big.Free()

// %% [markdown]
// ## When the product needs what travels
//
// So far the product beside the all-gather did not need its result. Often it does: `y = all × w`. But not all at once! Rows of `y` need the same rows of `all` only.
// So cut the work into pieces, and multiply each as soon as it is there:
//
//     arrives      [ own ][ left's ][ next      ][ …
//     product      [ own  ][ left's  ][ next      ][ …
//
// Each rank puts its rows into everybody's `all`, with a 64-bit word behind them that has the number of the round: word 2 is for the rows of rank 2. The main
// stream waits for one word, multiplies, waits for the next.

// %% A handle for the rows of each rank: Put begins where the handle's tensor begins.
rowsOf := func(t *symm.Tensor, p int) *symm.Tensor { return t.Slice(p*m, (p+1)*m) }
parts := make([]*symm.Handle, size)
for p := range parts {
	parts[p] = symm.Rendezvous(rowsOf(all, p))
}
round := int(h.GetSignal((rank + 1) % size)) // the number of the last round, 0

// %% Put on the side stream, multiply on the main stream.
func push() {
	round++
	filled.Record()
	filled.Wait(side)
	for i := 1; i < size; i++ {
		parts[rank].PutWithSignal((rank+i)%size, mine, rank, uint64(round), side)
	}
}

func gatherAndMultiply() {
	push()
	for i := range size {
		p := (rank - i + size) % size // the own rows first, then those of the left neighbour, which sends to us first
		if p != rank {
			h.WaitForSignal(p, ">=", uint64(round))
		}
		symm.MatMul(rowsOf(y, p), rowsOf(all, p), w)
	}
	h.Barrier(0) // everybody has used its rows: the next round may overwrite them
}

for step := range 3 {
	mine.Fill((step + 1) * (rank + 1))
	gatherAndMultiply()
	fmt.Println(rowsOf(y, 0).Float32s()[0], rowsOf(y, size-1).Float32s()[0])
}

// %% [markdown]
// `push` begins with the event `filled`. It has two jobs: the rows must be filled before they are sent, and the barrier of the last round must be over. Leave it out, and a
// quick rank overwrites rows that a slow one still multiplies.
//
// Large puts (64 KiB and more) are made by a copy engine here, too. Only the word behind them is stored by a kernel, of a single block.
//
// ## All in one kernel
//
// Waiting can be finer still. In a kernel of your own each *block* can wait for its rows. Then the product is one launch, and each block begins when its data
// is there. This is called *fusing*.

// %% One block for the rows of each rank.
fused := symm.Compile(`
__global__ void fused(symm::Handle h, const float* w, float* y, int m, int k, int n, int round) {
  int p = (h.rank - (int)blockIdx.x + h.world_size) % h.world_size;
  __shared__ bool there;
  if (threadIdx.x == 0) there = p == h.rank || symm::wait_for_signal(h, p, round, true);
  __syncthreads();
  if (!there) return;
  const float* x = h.buffer<float>(h.rank) + p * m * k;
  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
    float sum = 0;
    for (int j = 0; j < k; j++) sum += x[i / n * k + j] * w[j * n + i % n];
    y[p * m * n + i] = sum;
  }
}`)
mine.Fill(100 * (rank + 1))
push()
fused.Launch(symm.Grid(size), symm.Block(32), h, w, y, m, k, n, round)
h.Barrier(0)
fmt.Println(rowsOf(y, 0).Float32s()[0], rowsOf(y, size-1).Float32s()[0])

// %% [markdown]
// One thread waits, and `__syncthreads` hands on what it has seen to the whole block.
//
// A warning: blocks that wait stay on their multiprocessors. If they fill the GPU, and what they wait for needs a multiprocessor as well, nobody gets on. So leave
// room. Or do without: a copy engine carries the data, and a memory operation such as `symm.StreamWriteValue32` sets a word behind it.
//
// ## Your turn
//
// The other way round: compute first, then send. The result of a product goes to the right neighbour, in four pieces. While a piece travels, the next is
// computed.

// %% An event, and two functions that put work into the current stream: compute a piece, send a piece.
ready := symm.NewEvent()
pieces := 4
factor := symm.Local(symm.F32, pieces*m, k)
result := symm.Local(symm.F32, pieces*m, n)
inbox := symm.Empty(symm.F32, pieces*m, n)
hInbox := symm.Rendezvous(inbox)
slots := make([]*symm.Handle, pieces)
for i := range slots {
	slots[i] = symm.Rendezvous(rowsOf(inbox, i))
}
compute := func(i int) { symm.MatMul(rowsOf(result, i), rowsOf(factor, i), w) }
send := func(i int) { slots[i].PutWithSignal((rank+1)%size, rowsOf(result, i), i, 1) }

// %% [exercise] A pipeline
// Write `pipeline(pieces)`. It calls `compute(i)` and `send(i)` for each piece. Pieces are computed on the main stream and sent on `side`, such that
//
// - no piece is sent before it is computed,
// - the first piece is sent while others are still being computed,
// - sending does not hold up computing, and the host waits for nothing.
//
// `symm.OnStream(side, func() { … })` makes `side` the current stream for what is called within.

// %% [start]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		send(i)
	}
}

// %% [hint]
// As given, all goes into one stream. So a piece is computed only after the one before it has been sent. Which of the two calls belongs on `side`?

// %% [hint]
// `symm.OnStream(side, func() { send(i) })` sends on the side stream. But then nothing says that piece `i` has been computed. What lets one stream wait for another?

// %% [hint]
// After `compute(i)`: `ready.Record()`, and `ready.Wait(side)` before the send. An event can be recorded again for the next piece: who waits, waits for what was
// recorded last when the wait was issued.

// %% [solution]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		ready.Record()
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
	}
	ready.Record()
	ready.Wait(side)
	for i := range pieces {
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.Synchronize()
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		ready.Record()
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
		ready.Record(side)
		ready.Wait()
	}
}

// %% [check]
symm.Recover() // of waits that an earlier answer has left
inbox.Fill(0)
factor.Fill(rank + 1)
hInbox.Barrier(0)
limit := symm.Timeout(500 * time.Millisecond)
found := make([]int, 4) // what is wrong, in the order in which it is said
if symm.Maybe(func() {
	pipeline(pieces)
	for i := range pieces {
		hInbox.WaitForSignal(i, ">=", 1, limit)
	}
	for _, got := range inbox.Float32s() {
		if got != float32(k*((rank+size-1)%size+1)) {
			found[1] = 1
		}
	}
	symm.Synchronize()
}) != nil {
	found[1] = 1
}
symm.Recover()

// From now on compute and send do nothing but wait for each other: shut makes the current stream wait until some stream has come to open.
shut := func() { hInbox.WaitForSignal(100, ">=", 1, limit) }
open := func() { symm.StreamWriteValue32(hInbox.GetSignalPad(rank), 200, 1) }
ends := func(computing, sending func(i int), afterwards func()) bool {
	realCompute, realSend := compute, send
	defer func() { compute, send = realCompute, realSend }()
	compute, send = computing, sending
	failed := symm.Maybe(func() {
		pipeline(pieces)
		afterwards()
		symm.Synchronize()
	})
	symm.Recover()
	return failed == nil
}
at := func(piece int, f func()) func(int) {
	return func(i int) {
		if i == piece {
			f()
		}
	}
}
nothing := func() {}
if ends(at(0, shut), at(0, open), nothing) { // piece 0 is not computed before it is sent: this must not end
	found[0] = 1
}
if !ends(at(0, nothing), at(0, shut), open) { // piece 0 is not sent before all are computed
	found[2] = 1
}
if !ends(at(pieces-1, shut), at(0, open), nothing) { // the last piece is not computed before piece 0 is sent
	found[3] = 1
}
verdict := symm.Empty(symm.I32, 4).CopyFrom(found)
symm.Rendezvous(verdict)
switch found = symm.AllReduce(verdict, "max").Ints(); {
case found[0] > 0:
	panic("a piece is sent before it is computed, or never: let side wait for an event that the main stream records after the piece")
case found[1] > 0:
	panic("the right neighbour has not got the product: is each piece computed and sent?")
case found[2] > 0:
	panic("a send that is slow holds up the pieces after it: send on side, and let neither the main stream nor the host wait for it")
case found[3] > 0:
	panic("the first piece is not sent before the last is computed: send each piece as soon as it is computed")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Copy engines carry data and leave the multiprocessors alone: `symm.CopyEngine()`.
// - Work on two streams overlaps. Events say what must not.
// - Whoever needs the data in pieces waits for it in pieces: a word for each, on a stream or in a kernel.
//
// Operations that use the signals of one group, such as barriers and reductions, are kept in order by symmrepl, on whichever streams you put them. Plain puts and the
// words behind them are yours to order.
//
// Read on: `:tutorial 10` is about memory pools and graphs, which take the host out of the way.
