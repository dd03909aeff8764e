//go:build ignore

// Memory pools and graphs: pay once for what every step does again.

// %% [markdown]
// # Memory pools and graphs
//
// A training run or a model that answers requests does the same step again and again. Two costs come back with each step, though nothing about them
// is new:
//
//     each step                     what it costs                        paid once by
//     memory that peers can reach   the ranks meet on the host, and map  a memory pool
//     the launch of each operation  the host, a few µs an operation      a graph
//
// An all-reduce of a short vector takes 3 µs on an H200. If the host needs longer than that to ask for it, the GPU waits for the host. And in a
// meeting on the host all ranks wait for the slowest one, before any memory is mapped.
//
// This tutorial takes both out of the step.

// %% A vector for each rank.
rank, size := symm.Rank(), symm.WorldSize()
n := 1000
x := symm.Empty(symm.F32, n).Fill(rank + 1)
h := symm.Rendezvous(x)

// %% [markdown]
// ## The step that meets
//
// Suppose a step needs a symmetric tensor for a moment. `Empty`, `Rendezvous` and `Free` are collective on the host: in each of them all ranks
// meet.

// %% Three meetings a step, and the memory is mapped anew each time.
meeting := func() {
	t := symm.Empty(symm.F32, n)
	symm.Rendezvous(t)
	t.Fill(rank + 1)
	symm.AllReduce(t, "sum")
	t.Free()
}
meeting()

// %% [markdown]
// A **memory pool** keeps symmetric memory that was freed, still mapped by everybody. Inside of `symm.UseMemPool`, `symm.Local` takes its memory
// from there. The tensor is then symmetric, as one of `Empty`:

// %% The same step with memory of the pool.
pooled := func() {
	symm.UseMemPool(func() {
		t := symm.Local(symm.F32, n)
		symm.Rendezvous(t)
		t.Fill(rank + 1)
		symm.AllReduce(t, "sum")
		t.Free()
	})
}
pooled()
symm.MemPoolStats()

// %% [markdown]
// The pool has one *block* now. It was made when the first tensor was taken: that time the ranks did meet. It is larger than the 4000 bytes of the
// tensor, so that the next one may be a little larger. Nothing is `Taken` at the moment.
//
// What about the second time, and the tenth?

// %% Nine more steps.
for range 9 {
	pooled()
}
stats := symm.MemPoolStats()
fmt.Println(stats.Takes, "takes,", stats.Frees, "frees,", stats.Blocks, "block")

// %% [markdown]
// Ten steps, one block. `Blocks` counts how often the ranks met on the host for the pool. `Rendezvous` was free as well: the mapping came with the
// memory.
//
// Here is what it saves. The times are those of your machine.

// %% The time of a step as the host sees it, one way and the other.
perStep := func(step func()) time.Duration {
	const steps = 20
	symm.Synchronize()
	start := time.Now()
	for range steps {
		step()
	}
	symm.Synchronize()
	return (time.Since(start) / steps).Round(time.Microsecond)
}
fmt.Println("with meetings:", perStep(meeting))
fmt.Println("with the pool:", perStep(pooled))

// %% [markdown]
// ## Results that are symmetric
//
// Operators return ordinary memory. That is right most of the time. But the result of one operation may be the input of the next, and that must be
// symmetric:

// %% [fails] The sum is ordinary memory of each rank.
sum := symm.OneShotAllReduce(x, "sum")
symm.AllGather(sum.Slice(0, 2))

// %% [markdown]
// Within `UseMemPool` operators take their results from the pool, too. No copy is needed between the two.

// %% The sum in the pool goes straight into the next operation.
symm.UseMemPool(func() {
	sum := symm.OneShotAllReduce(x, "sum")
	symm.Rendezvous(sum)
	gathered := symm.AllGather(sum.Slice(0, 2))
	fmt.Println(sum.Symmetric(), gathered.Float32s())
	gathered.Free()
	sum.Free()
})

// %% [markdown]
// Two things to remember about the pool:
//
// - What you take from it lives until its `Free`. The garbage collector, which returns ordinary tensors, leaves it alone.
// - **All ranks take and free in the same order.** The pool has no way to ask the others. It works because each rank finds the same free block by
//   itself: the first one of the right size. If one rank frees in another order, its next tensor is in another block than that of its peers.
//
// Without a check that would be wrong data, much later. So each take and each free compares, on the device, what the others do. Ranks 0 and 1 make
// the mistake, with a pool of their own group:

// %% [fails] Rank 0 frees its first tensor, rank 1 its second.
pair := symm.NewGroup(0, 1)
if rank < 2 {
	symm.UseMemPool(func() {
		a, b := symm.Local(symm.F32, n), symm.Local(symm.F32, n)
		if rank == 0 {
			a.Free()
		} else {
			b.Free()
		}
	}, pair)
	symm.Synchronize()
}

// %% [markdown]
// Both are told what the other one did. The session then brings all ranks back in step, and empties the pools. Tensors that were in use keep their
// data.
//
// In real code the difference is hardly ever an `if` on the rank. It is a map, whose order differs from rank to rank, or a tensor that one rank
// returns early.

// %% [exercise] Nothing left behind
// `steps(k)` does `k` steps and returns the last sum. Each step takes two tensors of the pool, and the function below gives none of them back. So
// every step makes two new blocks, and meets twice. Mend it: after `steps(k)` nothing is taken, and there are two blocks, whatever `k` is.

// %% [start]
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			sum := symm.OneShotAllReduce(t, "sum")
			last = sum.Float32s()[0]
		}
	})
	return last
}

// %% [hint]
// Run `steps(3)` and look at `symm.MemPoolStats()`. How many are taken? Which ones are they?

// %% [hint]
// `sum` is made within `UseMemPool`, so it is of the pool, too.

// %% [hint]
// `t.Free()` and `sum.Free()` at the end of the loop's body. The order of the two does not matter, as long as it is the same on all ranks.

// %% [solution]
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			sum := symm.OneShotAllReduce(t, "sum")
			last = sum.Float32s()[0]
			sum.Free()
			t.Free()
		}
	})
	return last
}

// %% [wrong]
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			last = symm.OneShotAllReduce(t, "sum").Float32s()[0]
			t.Free()
		}
	})
	return last
}

// %% [wrong]
func steps(k int) (last float32) {
	for i := range k {
		t := symm.Empty(symm.F32, n).Fill(rank + i)
		symm.Rendezvous(t)
		last = symm.OneShotAllReduce(t, "sum").Float32s()[0]
		t.Free()
	}
	return last
}

// %% [check]
symm.Recover() // empties the pool
last := steps(5)
switch stats, want := symm.MemPoolStats(), float32(4*size+size*(size-1)/2); {
case last != want:
	panic(fmt.Sprintf("steps(5) returns %v, not %v: the steps shall do what they did", last, want))
case stats.Takes != 10:
	panic(fmt.Sprintf("five steps have taken %d tensors of the pool, not 10: two each", stats.Takes))
case stats.Taken > 0:
	panic(fmt.Sprintf("%d tensors are still taken, in %d blocks; who frees them?", stats.Taken, stats.Blocks))
case stats.Blocks != 2:
	panic(fmt.Sprintf("there are %d blocks; two will do if both are free before the next step", stats.Blocks))
}
fmt.Println("correct")

// %% [markdown]
// ## Graphs
//
// Now the launches. A **graph** is a list of operations that the device knows. `symm.Capture` calls a function and writes down what it would put
// into the stream, *instead of* doing it. `Replay` puts the whole list into the stream by one call.

// %% Capture runs nothing on the device. Replay does.
y := symm.Local(symm.F32, n).Fill(-1)
g := symm.Capture(func() {
	symm.OneShotAllReduceOut(x, "sum", y)
})
fmt.Println("captured:", y.Float32s()[0])
g.Replay()
fmt.Println("replayed:", y.Float32s()[0])

// %% [markdown]
// The graph holds *operations and addresses*, no Go code. Whatever is in `x` when it is replayed is summed, and `y` gets the sum.

// %% Other numbers, the same graph.
x.Fill(10)
g.Replay()
y.Float32s()[0]

// %% [markdown]
// But a number that is an argument is written down with the operation. The Go function runs once, during the capture, and never again:

// %% The graph has kept the 1.
i := 0
filled := symm.Local(symm.I32, 1)
kept := symm.Capture(func() {
	i++
	filled.Fill(i)
})
i = 100
for range 3 {
	kept.Replay()
}
fmt.Println("filled with", filled.Ints()[0], "and i is", i)

// %% [markdown]
// So what shall change from replay to replay must be in a tensor, where kernels can change it.
//
// ## What a graph refuses
//
// While a graph is captured nothing runs. So nothing can be read: there is no result yet.

// %% [fails] Look at a result.
symm.Capture(func() {
	symm.OneShotAllReduceOut(x, "sum", y)
	fmt.Println(y.Float32s()[0])
})

// %% [markdown]
// Nor can memory be taken, by hand or for a result. The graph keeps addresses, and the next replay would write to memory that belongs to somebody
// else by then. The forms with `Out` take memory that is there already.

// %% [fails] Take memory for a result.
symm.Capture(func() {
	symm.OneShotAllReduce(x, "sum")
})

// %% [markdown]
// Meetings on the host are refused for the same reason: `Empty`, `Rendezvous`, a tensor of the pool. Make these before, and capture the rest. A
// graph that could not be captured is dropped, and the session is as it was.
//
// A graph also watches over its tensors. Free one, and the graph is of no use any more:

// %% [fails] The memory is gone.
filled.Free()
kept.Replay()

// %% [markdown]
// Last, ranks that communicate in a graph replay it *together*. It is an all-reduce as any other, so a replay too many waits for the others, until
// the limit that the operation was captured with:

// %% [fails] Rank 0 replays twice.
bounded := symm.Capture(func() {
	symm.OneShotAllReduceOut(x, "sum", y, symm.Timeout(300*time.Millisecond))
})
bounded.Replay()
if rank == 0 {
	bounded.Replay()
}
symm.Synchronize()

// %% [markdown]
// ## Time it
//
// `g.Elapsed(k)` replays a graph `k` times and returns what one replay took on the device. A graph of many calls tells best what *one* of them
// costs, for then not even the launch of the graph counts. Ranks do it together.

// %% Twenty calls, back to back from Go, and from a graph.
const calls = 20
many := func() {
	for range calls {
		symm.OneShotAllReduceOut(x, "sum", y)
	}
}
twenty := symm.Capture(many)
many()
twenty.Replay()
h.Barrier(0)
fmt.Println("a call from Go:   ", symm.Elapsed(many)/calls)
fmt.Println("a call in a graph:", twenty.Elapsed(5)/calls)

// %% [markdown]
// On four H200s the all-reduce of 4 KiB takes 2.6 µs from a graph. From Go it takes what the host needs: 3.7 µs on one machine, 8.4 µs on another. On
// the cpu device the two are about the same, for there the time goes into the kernel: it is for learning how, not how fast. Tutorial 12 is about
// figures one can trust.

// %% [exercise] A step that counts
// Each replay of the graph that `record()` returns shall add `rank + 1` to `mine`, and then put the sum of all ranks' `mine` into `total`. So with
// two ranks `total` is 3 after the first replay, then 6, then 9.
//
// The kernel `bump` adds a number to a tensor of one element. Both tensors and the kernel are ready.

// %% [start]
mine, total := symm.Empty(symm.I32, 1), symm.Local(symm.I32, 1)
symm.Rendezvous(mine)
bump := symm.Compile(`__global__ void bump(int* x, int by) { x[0] += by; }`)

func record() *symm.Graph {
	steps := 0
	return symm.Capture(func() {
		steps++
		mine.Fill(steps * (rank + 1))
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [hint]
// How often does `steps++` run? Replay the given graph twice, and look at `total` each time.

// %% [hint]
// The count must be in a tensor: in `mine` itself. `bump.Launch(symm.Grid(1), symm.Block(1), mine, …)` adds to it, on every replay.

// %% [hint]
// `AllReduce` would put the sum in place of `mine`, and the next replay would begin with the sum. `OneShotAllReduceOut` leaves `mine` as it is.

// %% [solution]
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [wrong]
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		symm.AllReduce(mine, "sum")
		total.CopyFrom(mine)
	})
}

// %% [wrong]
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		total.CopyFrom(symm.OneShotAllReduce(mine, "sum"))
	})
}

// %% [check]
mine.Fill(0)
total.Fill(0)
h.Barrier(0)
recorded := record()
if mine.Ints()[0] != 0 || total.Ints()[0] != 0 {
	panic("record() itself shall do nothing on the device: only replays count")
}
for replay := range 4 {
	recorded.Replay()
	if got, want := total.Ints()[0], (replay+1)*size*(size+1)/2; got != want {
		panic(fmt.Sprintf("after replay %d total is %d, not %d", replay+1, got, want))
	}
}
recorded.Free()
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A memory pool keeps mapped memory: taken again, it costs no meeting, and neither does its rendezvous.
// - Take and free in the same order on all ranks. If not, you are told on the spot.
// - A graph holds operations and addresses. What changes from replay to replay is in tensors.
// - Make memory and handles first; capture what runs; replay together.
//
// In PyTorch the pool is `torch.distributed._symmetric_memory.get_mem_pool` with `torch.cuda.use_mem_pool`, and graphs are `torch.cuda.CUDAGraph`.
// `:doc symm.UseMemPool` and `:doc symm.Capture` have the details.
//
// Read on: `:tutorial 11` is about networks, where a put is all there is.
