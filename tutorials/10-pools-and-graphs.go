//go:build ignore

// Memory pools and graphs: pay once for what every step repeats.

// %% [markdown]
// # Memory pools and graphs
//
// A training run, or a model that answers requests, repeats the same step many times. Two costs come back with each
// step, although nothing about them changes:
//
//     each step                     cost                                   paid once with
//     memory that peers can access  all ranks stop on the host and map it  a memory pool
//     the launch of each operation  host time, a few µs per operation      a graph
//
// ![Operations launched one by one, and as a graph.](picture:launches)
//
// On four H200s an all-reduce of 4 KiB takes 2.67 µs (`docs/benchmarks.md`). If the host needs longer than that to
// issue it, the GPU waits for the host. And each meeting on the host lasts until the slowest rank
// arrives; only then is memory mapped.
//
// This tutorial removes both from the step. Start it on one host: a pool's memory is mapped by all ranks.

// %% A vector for each rank.
rank, size := symm.Rank(), symm.WorldSize()
n := 1000
x := symm.Empty(symm.F32, n).Fill(rank + 1)
h := symm.Rendezvous(x)

// %% [markdown]
// ## A step with meetings
//
// Suppose a step needs a symmetric tensor for a short time. `Empty`, `Rendezvous` and `Free` are collective on the
// host: all ranks meet in each of them.

// %% Three meetings per step, and the memory is mapped again each time.
meeting := func() {
	t := symm.Empty(symm.F32, n)
	symm.Rendezvous(t)
	t.Fill(rank + 1)
	symm.AllReduce(t, "sum")
	t.Free()
}
meeting()

// %% [markdown]
// A **memory pool** keeps symmetric memory after it is freed, still mapped by all ranks. Inside `symm.UseMemPool`,
// `symm.Local` takes its memory from the pool. The tensor is then symmetric, like one from `Empty`:

// %% The same step with memory from the pool.
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
// The pool has one *block* now. It was created when the first tensor was taken: that time the ranks did meet. It is
// larger than the 4000 bytes of the tensor, so the next tensor may be a little larger. `Taken` is 0 at the moment.
//
// What about the second step, and the tenth?

// %% Nine more steps.
for range 9 {
	pooled()
}
stats := symm.MemPoolStats()
fmt.Println(stats.Takes, "takes,", stats.Frees, "frees,", stats.Blocks, "block")

// %% [markdown]
// Ten steps, one block. `Blocks` counts how often the ranks met on the host for the pool. `Rendezvous` cost nothing
// either: the memory was mapped already.
//
// The next cell shows what this saves. The times are those of your machine.

// %% The host time of a step, with meetings and with the pool.
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
// ## Symmetric results
//
// Operators return ordinary memory. Usually that is right. But copy engines read the peers' symmetric memory. If the
// result of one operation is the input of an all-gather by copy engines, the call copies it there first, and `Explain` says so:

// %% The sum is ordinary memory of each rank.
sum := symm.OneShotAllReduce(x, "sum")
explained := symm.Explain(func() { symm.AllGather(sum.Slice(0, 2), symm.CopyEngine()) })
fmt.Println(strings.Contains(explained, "8 bytes of ordinary memory are copied"))

// %% [markdown]
// Inside `UseMemPool`, operators take their results from the pool, too. No copy is needed between the two operations.

// %% The sum, in the pool, is the input of the next operation.
symm.UseMemPool(func() {
	sum := symm.OneShotAllReduce(x, "sum")
	symm.Rendezvous(sum)
	gathered := symm.AllGather(sum.Slice(0, 2), symm.CopyEngine())
	fmt.Println(sum.Symmetric(), gathered.Float32s())
	gathered.Free()
	sum.Free()
})

// %% [markdown]
// Two things to remember about the pool:
//
// - A tensor from the pool lives until its `Free`. The garbage collector, which frees ordinary tensors, does not free it.
// - **All ranks take and free in the same order.** The pool cannot ask the other ranks. It works because each rank chooses the same free block by
//   itself: the first one of the right size. If one rank frees in a different order, its next tensor is in a different block than its peers' tensors.
//
// Unchecked, this would produce wrong data much later. So each take and each free is compared with the takes and frees of the other
// ranks, on the device. Ranks 0 and 1 make the mistake, with a pool of their own group:

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
// Each error shows what the other rank did. The session then synchronises all ranks and empties the pools. Tensors that
// were in use keep their data.
//
// In real code the cause is rarely an `if` on the rank. It is a map, whose iteration order differs from rank to rank,
// or a tensor that one rank frees early.

// %% [exercise] Nothing left behind
// `steps(k)` does `k` steps and returns the last sum. Each step takes two tensors from the pool, and the function below frees neither.
// So every step creates two new blocks and meets twice. Fix it: after `steps(k)` nothing is taken, and there are two blocks for any `k`.

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
// Run `steps(3)` and look at `symm.MemPoolStats()`. How many tensors are taken? Which ones?

// %% [hint]
// `sum` is created inside `UseMemPool`, so it comes from the pool, too.

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

// %% [check]
symm.Recover() // empties the pool
last := steps(5)
switch stats, want := symm.MemPoolStats(), float32(4*size+size*(size-1)/2); {
case last != want:
	panic(fmt.Sprintf("steps(5) returns %v, not %v: the steps must still compute the same sum", last, want))
case stats.Takes != 10:
	panic(fmt.Sprintf("five steps have taken %d tensors from the pool, not 10: two each", stats.Takes))
case stats.Taken > 0:
	panic(fmt.Sprintf("%d tensors are still taken, in %d blocks; who frees them?", stats.Taken, stats.Blocks))
case stats.Blocks != 2:
	panic(fmt.Sprintf("there are %d blocks; two are enough if both are free before the next step", stats.Blocks))
}
fmt.Println("correct")

// %% [markdown]
// ## Graphs
//
// Now the launches. A **graph** is a list of operations that the device knows. `symm.Capture` calls a function and records the
// work that it would put into the stream, *instead of* running it. `Replay` puts the whole list into the stream with one call.

// %% Capture runs nothing on the device. Replay does.
y := symm.Local(symm.F32, n).Fill(-1)
g := symm.Capture(func() {
	symm.OneShotAllReduceOut(x, "sum", y)
})
fmt.Println("captured:", y.Float32s()[0])
g.Replay()
fmt.Println("replayed:", y.Float32s()[0])

// %% [markdown]
// The graph holds *operations and addresses*, no Go code. A replay sums the current contents of `x` and writes the sum to `y`.

// %% New numbers, the same graph.
x.Fill(10)
g.Replay()
y.Float32s()[0]

// %% [markdown]
// But a number that is an argument is recorded with the operation. The Go function runs once, during the capture, and never again:

// %% The graph has recorded the 1.
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
// So a value that changes from replay to replay must be in a tensor, where kernels can change it.
//
// ## What a graph rejects
//
// During a capture nothing runs. So nothing can be read: there is no result yet.

// %% [fails] Read a result.
symm.Capture(func() {
	symm.OneShotAllReduceOut(x, "sum", y)
	fmt.Println(y.Float32s()[0])
})

// %% [markdown]
// Nor can a capture allocate memory, directly or for a result. The graph keeps addresses, and a later replay would
// write to memory that has another owner by then. The forms with `Out` use memory that exists already.

// %% [fails] Allocate memory for a result.
symm.Capture(func() {
	symm.OneShotAllReduce(x, "sum")
})

// %% [markdown]
// Meetings on the host are rejected for the same reason: `Empty`, `Rendezvous`, a tensor from the pool. Make these
// calls first, and capture the rest. A graph whose capture failed is discarded; the session is not affected.
//
// A graph also tracks its tensors. If you free one, the graph can no longer be replayed:

// %% [fails] The memory is gone.
filled.Free()
kept.Replay()

// %% [markdown]
// Finally, ranks that communicate in a graph must replay it *together*. It is an all-reduce like any other, so an extra
// replay waits for the other ranks, until the time limit that was captured with the operation:

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
// `g.Elapsed(k)` replays a graph `k` times and returns the device time of one replay. A graph of many calls is the best
// way to measure *one* call, since the launch of the graph then hardly counts. All ranks call it together.

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
// On four H200s the all-reduce of 4 KiB takes 2.67 µs in a graph (`docs/benchmarks.md`). From Go it takes as long as the host
// needs: 3.7 µs on one machine, 8.35 µs on another. On the cpu device the two are about the same, because the kernel itself takes the
// time: use it to learn how, not how fast. Tutorial 12 is about figures that you can trust.

// %% [exercise] A step that counts
// Each replay of the graph that `record()` returns must add `rank + 1` to `mine`, and then write the sum of `mine` over
// all ranks into `total`. So with two ranks `total` is 3 after the first replay, then 6, then 9.
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
// `AllReduce` would replace `mine` by the sum, and the next replay would start from the sum. `OneShotAllReduceOut` leaves `mine` unchanged.

// %% [solution]
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [check]
mine.Fill(0)
total.Fill(0)
h.Barrier(0)
recorded := record()
if mine.Ints()[0] != 0 || total.Ints()[0] != 0 {
	panic("record() itself must do nothing on the device: only replays count")
}
once := size * (size + 1) / 2 // what a replay adds to the total
before := 0
for replay := 1; replay <= 4; replay++ {
	recorded.Replay()
	got, want := total.Ints()[0], replay*once
	switch {
	case got == want:
	case got == 0:
		panic("a replay leaves total at 0: the graph must write the sum of mine into it")
	case got == before:
		panic(fmt.Sprintf("after replay %d total is still %d: the graph has recorded a number, which does not count; the count must be in mine", replay, got))
	case replay > 1 && got > want:
		panic(fmt.Sprintf("after replay %d total is %d, not %d: a replay starts from the sum of all ranks; is mine still this rank's own?", replay, got, want))
	default:
		panic(fmt.Sprintf("after replay %d total is %d, not %d: each replay adds rank + 1 to mine, and total is the sum over the ranks", replay, got, want))
	}
	before = got
}
recorded.Free()
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A memory pool keeps mapped memory: taking it again needs no meeting, and neither does its rendezvous.
// - Take and free in the same order on all ranks. Otherwise you get an error at once.
// - A graph holds operations and addresses. Values that change from replay to replay are in tensors.
// - Create memory and handles first; capture the work; replay together.
//
// In PyTorch the pool is `torch.distributed._symmetric_memory.get_mem_pool` with `torch.cuda.use_mem_pool`, and graphs are `torch.cuda.CUDAGraph`.
// `:doc symm.UseMemPool` and `:doc symm.Capture` have the details.
//
// Read on: `:tutorial 11` is about networks, where a put is the only operation.
