//go:build ignore

// Copy engines and overlap: move data while the GPU computes.

// %% [markdown]
// # Copy engines, and overlap with a matrix product
//
// A GPU can compute while data moves. So overlap the two:
//
// ![An all-gather and a product, in turn and at the same time.](picture:overlap)
//
//     one after the other    [ all-gather ][ product        ]
//     overlapped             [ all-gather ]
//                            [ product        ]
//
// But what moves the data? Usually a kernel, which needs the same *multiprocessors* as the product. A large product
// fills them all, so the kernel gets its turn only when blocks of the product end. On four H200s, an all-gather of 64 MiB
// from each rank takes 585 µs alone and 1530 µs beside a large product: hardly anything overlaps.
//
// A GPU also has **copy engines**, units that only copy and use no multiprocessor. The same all-gather by copy engines
// takes 587 µs alone and 600 µs beside the product, and the product is not slowed by it. (`docs/benchmarks.md` has the table.)
//
// Start it on one host: copy engines reach only the GPUs of their own host.
//
// We begin with an all-gather of a few rows. Each rank owns 4 rows of `all`; `mine` is this rank's part of it.

// %% A symmetric tensor, and this rank's part.
rank, size := symm.Rank(), symm.WorldSize()
m, k, n := 4, 8, 8
all := symm.Empty(symm.F32, size*m, k)
h := symm.Rendezvous(all)
mine := all.Slice(rank*m, (rank+1)*m).Fill(rank + 1)

// %% By multiprocessors and by copy engines. Explain shows what ran.
fmt.Println(symm.Explain(func() { symm.AllGatherOut(mine, all) }))
fmt.Println(symm.Explain(func() { symm.AllGatherOut(mine, all, symm.CopyEngine()) }))

// %% Each rank has the rows of all ranks.
first := make([]float32, size)
for p := range first {
	first[p] = all.Slice(p*m, p*m+1).Float32s()[0]
}
first

// %% [markdown]
// The second all-gather runs no kernel, not even to wait for the other ranks: the streams synchronise by memory
// operations. On the other hand, each copy takes some microseconds to start, so for small messages the kernel is faster.
//
// `mine` is already in its place in `all`. That matters: if a part had to be copied within the GPU, the product at the
// same time would slow that copy, and the all-gather would take more than twice as long.
//
// A copy engine copies. It cannot add, so an all-reduce cannot use it. (`ReduceScatter` can: copy engines bring the pieces, and a kernel
// adds them up.)

// %% [fails] An all-reduce by copy engines?
symm.AllReduce(all, "sum", symm.CopyEngine())

// %% [markdown]
// ## Two streams
//
// A **stream** is a queue of work. Work in one stream runs in order. Work in two streams may run at the same time,
// unless an **event** orders it: one stream *records* the event, another *waits* for it.
//
// ![Two streams; the events filled and gathered order them.](picture:streams)
//
//     main stream    fill ─ record filled          ─ product a × b ─ wait for gathered ─ product all × w
//                                 │                                         │
//     side stream                 wait for filled ─ all-gather ─ record gathered

// %% An all-gather, and at the same time a product that does not need its result.
side := symm.NewStream()
filled, gathered := symm.NewEvent(), symm.NewEvent()
a, b, c := symm.Local(symm.F32, 16, 16).Fill(1), symm.Local(symm.F32, 16, 16).Fill(2), symm.Local(symm.F32, 16, 16)
w, y := symm.Local(symm.F32, k, n).Fill(1), symm.Local(symm.F32, size*m, n)

mine.Fill(10 * (rank + 1))
filled.Record()
filled.Wait(side)
symm.AllGatherOut(mine, all, symm.CopyEngine(), side)
gathered.Record(side)

symm.MatMul(c, a, b) // at the same time as the all-gather
gathered.Wait()
symm.MatMul(y, all, w) // needs its result

fmt.Println("c", c.Float32s()[0], "y", y.Slice(0, 1).Float32s()[0], y.Slice((size-1)*m, size*m).Float32s()[0])

// %% [markdown]
// Note what waits: the *streams*. The host has enqueued all the work and continued.
//
// `symm.Async` does the same without names for the stream and its events: it calls a function with a stream of its own as the
// current one, after the work that was issued before. `Wait` makes the current stream wait for that work.

// %% The all-gather as a work of its own.
mine.Fill(20 * (rank + 1))
work := symm.Async(func() { symm.AllGatherOut(mine, all, symm.CopyEngine()) })
symm.MatMul(c, a, b) // at the same time
work.Wait()
symm.MatMul(y, all, w)
fmt.Println("y", y.Slice(0, 1).Float32s()[0], y.Slice((size-1)*m, size*m).Float32s()[0])

// %% [markdown]
// ## A forgotten event
//
// Without `gathered.Wait()`, the second product may read data that has not arrived. Usually the all-gather is fast enough, and the mistake stays
// hidden. To see it every time, we put a gate into the side stream: it waits for a word of the signal pad that the main stream sets later.

// %% What the main stream reads before and after it waits for the event.
theirs := all.Slice((rank+1)%size*m, (rank+1)%size*m+1) // a row of the right neighbour
all.Fill(0)
h.Barrier(0) // all is 0 on every rank before any rank goes on
mine.Fill(rank + 1)
filled.Record()

filled.Wait(side)
h.WaitForSignal(100, ">=", 1, side) // the gate
symm.AllGatherOut(mine, all, symm.CopyEngine(), side)
gathered.Record(side)

early := theirs.Float32s()[0]
h.SignalAdd(rank, 100, 1) // opens the gate
gathered.Wait()
late := theirs.Float32s()[0]
h.ResetSignal(100)
fmt.Println("early", early, "late", late)

// %% [markdown]
// The gate also shows that the streams are independent: the main stream continues while the side stream waits.
//
// ## How long does it take?
//
// The next cell measures a product, an all-gather, and both at once. On the emulated device one processor does everything, so overlap
// gains nothing. On GPUs, look at the last two lines: the product with an all-gather by multiprocessors, and with one by copy engines.

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
// ## When the product needs the data that moves
//
// So far the product did not need the result of the all-gather. Often it does: `y = all × w`. But not all at once! Rows of
// `y` need only the same rows of `all`. So divide the work into pieces, and multiply each piece as soon as it has arrived:
//
//     arrives      [ own ][ left's ][ next      ][ …
//     product      [ own  ][ left's  ][ next      ][ …

// %% [exercise] Predict: four pieces
// Four ranks. The product of one rank's rows takes 200 µs. The own rows are there at the beginning; the other three pieces arrive 300, 600
// and 900 µs later. Each is multiplied
// as soon as it has arrived and the product before it has ended. After how many µs is everything multiplied?

// %% [start]
predict := 0.0

// %% [hint]
// Draw a line for the arrivals and one for the products, as above. When does the product of the first piece from another rank begin, at 200
// or at 300?

// %% [hint]
// The last piece arrives at 900, and nothing is left to multiply before it. How long does its product take?

// %% [solution]
predict := 1100.0

// %% [check]
finish := 200.0 // of the own rows
for _, arrives := range []float64{300, 600, 900} {
	finish = max(finish, arrives) + 200
}
switch float64(predict) {
case finish:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: when has the last product ended?")
case 900 + 4*200:
	panic("1700 would be right if everything had to arrive first: three of the products run while rows still arrive")
case 800:
	panic("800 is the time of the products alone: they wait for rows")
case 900:
	panic("at 900 the last piece arrives, and its product only begins")
case 1000:
	panic("the product of the first piece from another rank cannot begin at 200: it arrives at 300")
default:
	panic(fmt.Sprintf("not %v: each product begins when its rows are there and the product before has ended, and takes 200", predict))
}

// %% [markdown]
// Each rank puts its rows into every rank's `all`, followed by a 64-bit word with the number of the round: word 2 is
// for the rows of rank 2. The main stream waits for one word, multiplies, waits for the next.

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
		p := (rank - i + size) % size // the rank's own rows first, then those of the left neighbour, which sends to this rank first
		if p != rank {
			h.WaitForSignal(p, ">=", uint64(round))
		}
		symm.MatMul(rowsOf(y, p), rowsOf(all, p), w)
	}
	h.Barrier(0) // every rank has used the rows: the next round may overwrite them
}

for step := range 3 {
	mine.Fill((step + 1) * (rank + 1))
	gatherAndMultiply()
	fmt.Println(rowsOf(y, 0).Float32s()[0], rowsOf(y, size-1).Float32s()[0])
}

// %% [markdown]
// `push` begins with the event `filled`. It orders two things: the rows must be filled before they are sent, and the
// barrier of the last round must be over. Without it, a fast rank overwrites rows that a slow rank still multiplies.
//
// Here, too, a copy engine makes large puts (64 KiB and more). Only the word after them is stored by a kernel, of one block.
//
// ## In one call
//
// This pattern is so common that it is an operation: `AllGatherMatMul`, PyTorch's `fused_all_gather_matmul`. Copy engines fetch the
// rows of one rank while the rows of another are multiplied. It takes a list of factors and makes a product for each.
//
// `MatMulReduceScatter` goes the opposite way: all ranks' products are added up, and each rank gets its rows of the sum. A rank
// multiplies the rows for one rank after the other and sends each while the next are multiplied; at the end a kernel adds up.

// %% Gather and multiply; multiply, add up and scatter.
mine.Fill(rank + 1)
symm.AllGatherMatMulOut(mine, []*symm.Tensor{w}, all, []*symm.Tensor{y})
fmt.Println("products", rowsOf(y, 0).Float32s()[0], rowsOf(y, size-1).Float32s()[0])
sum := symm.MatMulReduceScatter(all, w, "sum") // every rank multiplies all rows
fmt.Println("sum", sum.Shape(), sum.Float32s()[0])

// %% [varies] How they went.
fmt.Println(symm.Explain(func() {
	symm.AllGatherMatMulOut(mine, []*symm.Tensor{w}, all, []*symm.Tensor{y})
	symm.MatMulReduceScatter(all, w, "sum")
}))

// %% [markdown]
// Such calls carry tensor parallelism. Training that shards the weights (FSDP) gathers and scatters whole layers instead, beside the
// products of other layers: `tutorials/fsdp.go` is a step of it.
//
// ## One layer ahead
//
// Suppose that each rank owns a part of the weights of every layer. While a layer is multiplied, the weights of the next one are gathered.
// Two buffers are enough: layers 0, 2, 4 … use buffer 0, and layers 1, 3, 5 … use buffer 1.
//
// ![Weights are gathered one layer ahead, into two buffers; gather 2 needs the buffer of product 0.](picture:ahead)
//
//     side stream     [ gather 0 ][ gather 1 ]    [ gather 2 ]  [ gather 3 ]
//     main stream                 [ product 0    ][ product 1   ][ product 2 …
//
// Gathers follow one another on the side stream. But gather 2 uses the buffer of layer 0. What must it wait for?

// %% Two buffers and their events, and two functions that enqueue work on the current stream: gather a layer, multiply a layer.
layers := 4
owned := symm.Local(symm.F32, layers*m, k) // this rank's part of every layer
made := symm.Local(symm.F32, layers*size*m, n)
madeFrom := func(layer int) *symm.Tensor { return made.Slice(layer*size*m, (layer+1)*size*m) }
buffers := []*symm.Tensor{symm.Empty(symm.F32, size*m, k), symm.Empty(symm.F32, size*m, k)}
for _, b := range buffers {
	symm.Rendezvous(b)
}
arrived := []*symm.Event{symm.NewEvent(), symm.NewEvent()} // one for each buffer
used := []*symm.Event{symm.NewEvent(), symm.NewEvent()}
gather := func(layer, buffer int) { symm.AllGatherOut(rowsOf(owned, layer), buffers[buffer], symm.CopyEngine()) }
multiply := func(layer, buffer int) { symm.MatMul(madeFrom(layer), buffers[buffer], w) }

// %% [exercise] Repair: one layer ahead
// `forward(layers)` is to gather and to multiply every layer, so that
//
// - a layer is multiplied when its weights have arrived,
// - no gather overwrites a buffer that a product still reads,
// - the next layer is gathered while a layer is multiplied, and the host waits for nothing.
//
// It breaks the second rule. Usually the products are fast enough, and nobody notices. Repair it. The events `used` are there for it. A wait
// for an event that was never recorded ends at once.

// %% [start]
func forward(layers int) {
	for layer := range layers {
		b := layer % 2
		symm.OnStream(side, func() { gather(layer, b) })
		arrived[b].Record(side)
		arrived[b].Wait()
		multiply(layer, b)
	}
}

// %% [hint]
// The event `arrived` orders a product after its gather. Which order is missing: between which product, and which gather?

// %% [hint]
// A buffer is free when the product that reads it has ended. So record `used[b]` on the main stream. Where? And which stream waits for it?

// %% [hint]
// `used[b].Record()` after `multiply`, and `used[b].Wait(side)` before `gather`. The gather of layer 2 then waits for the product of layer 0,
// and not for the product of layer 1.

// %% [solution]
func forward(layers int) {
	for layer := range layers {
		b := layer % 2
		used[b].Wait(side)
		symm.OnStream(side, func() { gather(layer, b) })
		arrived[b].Record(side)
		arrived[b].Wait()
		multiply(layer, b)
		used[b].Record()
	}
}

// %% [check]
symm.Recover() // ends waits that an earlier answer left
realGather, realMultiply := gather, multiply
for layer := range layers {
	rowsOf(owned, layer).Fill(10*layer + rank + 1)
}
made.Fill(0)
symm.Meet()
mistakes := make([]int, 4) // found on this rank, in the order of the messages below
if symm.Maybe(func() { forward(layers); symm.Synchronize() }) != nil {
	mistakes[3] = 1
}
symm.Recover()
for layer := range layers {
	for p := range size {
		if !rowsOf(madeFrom(layer), p).Equal(k * (10*layer + p + 1)) {
			mistakes[3] = 1
		}
	}
}

// From now on gather and multiply only wait for each other: shut makes the current stream wait until a stream reaches open.
pause := symm.Timeout(500 * time.Millisecond)
shut := func() { h.WaitForSignal(101, ">=", 1, pause) }
open := func() { h.SignalAdd(rank, 101, 1) }
ends := func(gathers, multiplies map[int]func()) bool { // by layer
	play := func(work map[int]func()) func(layer, buffer int) {
		return func(layer, buffer int) {
			if f := work[layer]; f != nil {
				f()
			}
		}
	}
	gather, multiply = play(gathers), play(multiplies)
	failed := symm.Maybe(func() { forward(layers); symm.Synchronize() })
	gather, multiply = realGather, realMultiply
	symm.Recover()
	return failed == nil
}
if ends(map[int]func(){1: shut}, map[int]func(){1: open}) { // product 1 does not wait for gather 1: this must not end
	mistakes[0] = 1
}
if ends(map[int]func(){2: open}, map[int]func(){0: shut}) { // gather 2 does not wait for product 0: this must not end
	mistakes[1] = 1
}
pause = symm.Timeout(2 * time.Second) // what follows must end, on a busy machine too
if !ends(map[int]func(){2: open}, map[int]func(){1: shut}) { // gather 2 waits for product 1
	mistakes[2] = 1
}
judged := symm.Empty(symm.I32, 4)
symm.Rendezvous(judged)
switch mistakes = symm.AllReduce(judged.CopyFrom(mistakes), "max").Ints(); {
case mistakes[0] > 0:
	panic("layer 1 is multiplied before its weights have arrived: the main stream must wait for the event that side records after the gather")
case mistakes[1] > 0:
	panic("layer 2 is gathered into the buffer of layer 0, whose product still reads it: side must wait for that product")
case mistakes[2] > 0:
	panic("layer 2 is not gathered while layer 1 is multiplied: wait only for the product that used the same buffer, and let the host wait for nothing")
case mistakes[3] > 0:
	panic("a product is wrong: gather and multiply every layer once, and multiply from the buffer into which it was gathered")
}
fmt.Println("correct")

// %% [markdown]
// The same question comes back wherever memory is used again: who still reads it? An event orders the two streams of a rank. Between ranks,
// symmrepl's all-gather takes care: it begins when all ranks have come.
//
// ## All in one kernel
//
// Waits can be finer still. In your own kernel each *block* can wait for its rows. Then the product is one launch, and
// each block begins when its data has arrived. This is called *fusing*.

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
// One thread waits, and `__syncthreads` makes the data that it has seen visible to the whole block.
//
// A warning: waiting blocks stay on their multiprocessors. If they fill the GPU, and the work they wait for needs a multiprocessor as well, it is a deadlock.
// So leave room. Or use no multiprocessor: a copy engine moves the data, and a memory operation such as `symm.StreamWriteValue32` sets a word after it.
//
// ## Your turn
//
// Now the opposite order: compute first, then send. The result of a product goes to the right neighbour in four pieces.
// While one piece moves, the next is computed.

// %% An event, and two functions that enqueue work on the current stream: compute a piece, send a piece.
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
// Write `pipeline(pieces)`. It calls `compute(i)` and `send(i)` for each piece. Pieces are computed on the main stream and sent on `side`, so that
//
// - no piece is sent before it is computed,
// - the first piece is sent while others are still being computed,
// - sending does not delay computing, and the host waits for nothing.
//
// `symm.OnStream(side, func() { … })` makes `side` the current stream inside the function.

// %% [start]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		send(i)
	}
}

// %% [hint]
// The given code uses one stream. So each piece is computed only after the previous one has been sent. Which of the two calls belongs on `side`?

// %% [hint]
// `symm.OnStream(side, func() { send(i) })` sends on the side stream. But it does not wait until piece `i` is computed. What makes one stream wait for another?

// %% [hint]
// After `compute(i)`: `ready.Record()`, and `ready.Wait(side)` before the send. You can record the event again for the
// next piece: a wait refers to the latest record at the time the wait was issued.

// %% [solution]
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		ready.Record()
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [check]
symm.Recover() // ends waits that an earlier answer left
inbox.Fill(0)
factor.Fill(rank + 1)
hInbox.Barrier(0)
limit := symm.Timeout(500 * time.Millisecond)
found := make([]int, 4) // mistakes found, in the order of the messages below
if symm.Maybe(func() {
	pipeline(pieces)
	for i := range pieces {
		hInbox.WaitForSignal(i, ">=", 1, limit)
	}
	if !inbox.Equal(k * ((rank+size-1)%size + 1)) {
		found[1] = 1
	}
	symm.Synchronize()
}) != nil {
	found[1] = 1
}
symm.Recover()

// From now on compute and send only wait for each other: shut makes the current stream wait until a stream reaches open.
shut := func() { hInbox.WaitForSignal(100, ">=", 1, limit) }
open := func() { hInbox.SignalAdd(rank, 100, 1) }
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
	panic("a piece is sent before it is computed: let side wait for an event that the main stream records after the piece")
case found[1] > 0:
	panic("the right neighbour has not received the product: is each piece computed and sent?")
case found[2] > 0:
	panic("a send that is slow holds up the pieces after it: send on side, and let neither the main stream nor the host wait for it")
case found[3] > 0:
	panic("the first piece is not sent before the last is computed: send each piece as soon as it is computed")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Copy engines move data without using multiprocessors: `symm.CopyEngine()`.
// - Work on two streams overlaps. Events order work that must not overlap. `symm.Async` brings a stream and its events.
// - A consumer that needs the data in pieces waits in pieces: one word for each, on a stream or in a kernel. `AllGatherMatMul` and
//   `MatMulReduceScatter` do it for products.
//
// symmrepl keeps operations that use the signals of one group, such as barriers and reductions, in order, whichever
// streams they are on. You must order plain puts and the words after them yourself.
//
// Read on: `:tutorial 10` is about memory pools and graphs, which remove host work from each step.
