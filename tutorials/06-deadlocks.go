//go:build ignore

// Deadlocks: programs that hang, how to see why, and how to fix them.

// %% [markdown]
// # Deadlocks: find and fix them
//
// A wrong multi-GPU program usually does not crash. It hangs: each rank waits for another, and no rank reports anything.
//
// All deadlocks are of one kind: **a rank waits for something that never happens**. There are four usual reasons, and
// you will produce each of them here, on purpose:
//
// 1. no rank sends;
// 2. the sender and the receiver name different channels;
// 3. one rank skips a call that all ranks must make;
// 4. all ranks wait before they send.
//
// If a wait cannot end any more, symmrepl ends it within two seconds, with an error. If a wait may
// still end, symmrepl shows after a moment which rank waits for what, and you can end the wait by
// Ctrl-C (■ in a notebook). In both cases the session continues. All waits here except the first
// have a limit of 400 ms, `symm.Timeout`, so that you see each mistake sooner.

// %% A handle, the neighbours, and a limit for waits.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.I32, 1).Fill(rank)
h := symm.Rendezvous(t)
limit := symm.Timeout(400 * time.Millisecond)

// %% [markdown]
// ## No rank sends
//
// Rank 0 waits for rank 1. Rank 1 never puts the signal.

// %% [fails] Wait for a signal that no rank puts.
if rank == 0 {
	h.WaitSignal(1, 0)
}
symm.Synchronize()

// %% [markdown]
// Read such a message in this order: the *rank* that waited, the *peer*, the awaited *event*, and what
// the peer does instead. Then look at the code of the other rank: where does rank 1 put a signal on
// channel 0? Nowhere. Below the message is a table of all ranks and their work.
//
// How can symmrepl know that the signal will not come? Rank 1 has finished the cell, none of its
// goroutines still runs, and no message is on its way. While a rank computes, sleeps, or runs a
// kernel of yours, it may still send, and the wait goes on.
//
// With a limit the wait ends when the time is over, whatever the other ranks do.

// %% [fails] The same with a limit.
if rank == 0 {
	h.WaitSignal(1, 0, limit)
}
symm.Synchronize()

// %% [markdown]
// A wait that gives up does not stop the stream. Until the error is reported, the rank puts no
// further signals and its later waits for signals end at once, so that you see the first mistake
// and not its consequences. Kernels and copies queued behind the wait still run, on data that never
// arrived. Their results, and the output of Go code before it calls `symm.Synchronize()`, mean
// nothing.
//
// ## Different channels
//
// Now rank 1 sends, but on another channel.

// %% [fails] The put names channel 2, the wait channel 3.
if rank == 1 {
	h.PutSignal(0, 2, limit)
}
if rank == 0 {
	h.WaitSignal(1, 3, limit)
}
symm.Synchronize()

// %% [markdown]
// For rank 0 this looks the same as before. But this time there is a trace: a signal that no rank has waited for. The hint
// names its channel. After a wait that gave up, the session clears the signals, and `symm.ClearedSignals()` on all ranks
// shows which there were. (In your own program, `symm.PendingSignals()` shows them while they are there.)

// %% Which signals were left?
symm.ClearedSignals()

// %% [markdown]
// ## One rank does not take part
//
// All ranks must reach a barrier. Do not put one inside an `if` that only some ranks enter.

// %% [fails] Rank 0 skips the barrier.
if rank != 0 {
	h.Barrier(1, limit)
}
symm.Synchronize()

// %% [markdown]
// The ranks that wait are correct. Rank 0 is missing, and the message names it. In real code the cause is an early
// `return` on one rank, or a loop with one iteration less. Errors that differ only in ranks are shown as one.
//
// ## All ranks wait first
//
// The classic deadlock. Each rank waits for its left neighbour before it signals to its right neighbour.

// %% [fails] Every rank waits, then sends.
h.WaitSignal(left, 0, limit)
h.PutSignal(right, 0, limit)
symm.Synchronize()

// %% [markdown]
// All ranks wait, in a cycle:
//
// ![A cycle of waits: each rank waits for its left neighbour.](picture:circle)
//
//     0 waits for the last rank … 2 waits for 1, 1 waits for 0
//
// Draw an arrow from each rank to the rank it waits for. If the arrows form a cycle, it is a deadlock, whatever the code
// looks like.

// %% [exercise] Predict: how many cycles?
// Six ranks, and each waits for the rank two after it: rank 0 for 2, rank 4 for 0, rank 5 for 1. How many separate cycles do the arrows form?

// %% [start]
predict := 0.0

// %% [hint]
// Start at rank 0 and follow the arrows until you are back. Which ranks did you not visit?

// %% [hint]
// 0 waits for 2, 2 for 4, 4 for 0. Then start at rank 1.

// %% [solution]
predict := 2

// %% [check]
cycles := func(ranks, step int) (n float64) {
	seen := make([]bool, ranks)
	for r := range ranks {
		if !seen[r] {
			n++
		}
		for ; !seen[r]; r = (r + step) % ranks {
			seen[r] = true
		}
	}
	return n
}
switch float64(predict) {
case cycles(6, 2):
	fmt.Println("correct")
case 0:
	panic("predict is still 0, and there is a cycle: each rank waits, and nobody can go on")
case 1:
	panic("1 would be right if every rank waited for the next one: from rank 0 the arrows never reach rank 1")
case 3:
	panic("3 is the number of ranks in a cycle; how many cycles are there?")
case 6:
	panic("6 is the number of arrows: several of them form a cycle")
default:
	panic(fmt.Sprintf("not %v: follow the arrows from rank 0, then from the first rank that you have not visited", predict))
}

// %% [markdown]
// Break the cycle anywhere: at least one rank must send before it waits. It is simplest if all ranks do.

// %% Send first, then wait.
h.PutSignal(right, 0, limit)
h.WaitSignal(left, 0, limit)
symm.Synchronize()
fmt.Println("no cycle")

// %% [markdown]
// ## A send can wait, too
//
// "Send first" is not always enough. A channel holds *one* signal between two ranks. A second `PutSignal` waits until the first is consumed.

// %% [fails] Two signals into a channel that holds one.
h.PutSignal(right, 0, limit)
h.PutSignal(right, 0, limit)
h.WaitSignal(left, 0, limit)
h.WaitSignal(left, 0, limit)
symm.Synchronize()

// %% [markdown]
// Every rank waits in its *second put*, so no rank reaches its first wait. This is a cycle again; only the arrows point
// the other way. The `put_signal` in the message shows this.
//
// In large programs the same happens with buffers: anything that holds a limited number of messages can be full.
//
// ## Find the mistake
//
// Loops are another source of deadlocks. Some ranks have more to do than others, and each item ends with a barrier.

// %% Work that is counted, and a handle for the barriers between its rounds.
worked := 0
work := func() {
	symm.Synchronize() // a barrier is work of the device: the host must wait for it
	worked++
}
hRounds := symm.Rendezvous(symm.Empty(symm.I32, 1))

// %% [exercise] Write: uneven work
// Write `rounds(items)`. Each rank calls it with a number of its own. In each round a rank that still has items calls `work()` once, and
// then all ranks meet in the
// barrier on channel 1, so that nobody begins an item before all have ended the one before. The function below hangs when the numbers differ.
//
// `most(n)` returns the largest `n` of all ranks.

// %% [start]
func most(n int) int {
	return symm.AllReduce(symm.Empty(symm.I32, 1).Fill(n), "max").Ints()[0]
}

func rounds(items int) {
	for range items {
		work()
		hRounds.Barrier(1, limit)
	}
}

// %% [hint]
// A rank with fewer items leaves the loop early. In which call do the others then wait?

// %% [hint]
// All ranks must make the same number of rounds, whatever they have to do: as many as the rank with the most items needs.

// %% [hint]
// `for i := range most(items)`: work only `if i < items`, but meet in every round.

// %% [solution]
func rounds(items int) {
	for i := range most(items) {
		if i < items {
			work()
		}
		hRounds.Barrier(1, limit)
	}
}

// %% [check]
outcome, moments := symm.Empty(symm.I32, 3), symm.Empty(symm.I64, 8)
symm.Rendezvous(outcome)
symm.Rendezvous(moments)
notes := make([]*symm.Handle, 4) // what a rank writes while it works, for each of its first items
for i := range notes {
	notes[i] = symm.Rendezvous(symm.Empty(symm.I32, 1))
}
note := symm.Local(symm.I32, 1)
honest := work
const watched = 4 // the turn in which the sanitizer of the emulated device looks for what is in order by luck
for turn := range watched + 1 {
	symm.Recover() // ends waits that an earlier answer left
	items := []int{2, 3, 0, 1}[(rank+turn)%4]
	if turn == 3 {
		items *= 2 + symm.AllReduce(outcome.Fill(time.Now().UnixNano()%3), "max").Ints()[0] // nobody knows how many rounds there are
	}
	symm.Sanitize(turn == watched, 0)
	symm.Meet()
	symm.Findings()         // those of before
	times := make([]int, 8) // when each item began, and when it ended, in µs
	done := 0
	work = func() {
		symm.Synchronize()
		if done++; done > len(notes) {
			return
		}
		times[2*done-2] = int(time.Now().UnixMicro())
		if done > 1 { // what all have written in the round before
			for p := range size {
				notes[done-2].Get(p, note)
			}
		}
		notes[done-1].Put(rank, note)
		if rank == turn%size {
			time.Sleep(15 * time.Millisecond) // this rank is slow
		}
		honest()
		times[2*done-1] = int(time.Now().UnixMicro())
	}
	found := make([]int, 3)
	if symm.Maybe(func() { rounds(items); symm.Synchronize() }) != nil { // a wait that gives up becomes an error
		found[0] = 1
	}
	work = honest
	symm.Maybe(symm.Meet)
	symm.Recover()
	found[1] = len(symm.Findings()) // the items are in order by luck
	symm.Sanitize(false, 0)
	if done != items {
		found[2] = 1
	}
	const slack = 5000 // of the clocks of two hosts
	for i, ended := range symm.AllGather(moments.CopyFrom(times)).Ints() {
		if next := i%8 + 1; i%2 == 1 && next < 8 && times[next] > 0 && times[next] < ended-slack {
			found[1] = 1 // it began before all had ended the one before
		}
	}
	switch now := symm.AllReduce(outcome.CopyFrom(found), "max").Ints(); {
	case now[2] > 0 && now[0] == 0:
		panic("a rank has called work more or less often than it has items")
	case now[0] > 0:
		panic("a rank waits in a barrier that another does not reach: all ranks must call it equally often, also those that have no items left")
	case now[1] > 0:
		panic("a rank may begin an item before another has ended the one before: all ranks meet after each round, not only at the end")
	}
}
fmt.Println("correct")

// %% [markdown]
// Now the other way round: code that has everything, in the wrong order.
//
// Simulations use a *halo exchange*: each rank sends its edges to the left and to the right, and receives an edge from each. The code below hangs.

// %% [exercise] Fix the exchange
// In each round, `exchange(rounds)` must send one signal to the left and one to the right, and wait for one from each. Fix it without removing
// a put or a wait: each rank has two puts and two waits in each round. It must also work with two ranks, where left and right are the same!
//
// Run `exchange(1)` and read the message. Keep `limit` in every call, so that you need not interrupt. You can change the order and the channels.

// %% [start]
func exchange(rounds int) {
	for range rounds {
		h.WaitSignal(left, 0, limit)
		h.PutSignal(left, 0, limit)
		h.WaitSignal(right, 0, limit)
		h.PutSignal(right, 0, limit)
	}
	symm.Synchronize()
}

// %% [hint]
// Which rank sends first? Draw the arrows.

// %% [hint]
// If all puts come before all waits, the cycle is broken. Try that with four ranks. Does it work with two? (`symmrepl tutorial -n 2 06` starts two.)

// %% [hint]
// With two ranks, both signals go to the same rank. On one channel, the second put waits until the first signal is
// consumed. So use two channels: one for signals to the left, the other for signals to the right.

// %% [hint]
// The signal from the right neighbour was sent to *its* left. So the wait for the right neighbour names the channel of signals to the left.

// %% [solution]
func exchange(rounds int) {
	const toLeft, toRight = 0, 1
	for range rounds {
		h.PutSignal(left, toLeft, limit)
		h.PutSignal(right, toRight, limit)
		h.WaitSignal(right, toLeft, limit)
		h.WaitSignal(left, toRight, limit)
	}
	symm.Synchronize()
}

// %% [check]
symm.Recover() // clears signals that an earlier answer left
verdict := symm.Empty(symm.I32, 2)
symm.Rendezvous(verdict)
anywhere := func(hangs bool, pending int) (bool, bool) {
	bad := []int{0, pending}
	if hangs {
		bad[0] = 1
	}
	bad = symm.AllReduce(verdict.CopyFrom(bad), "max").Ints()
	return bad[0] > 0, bad[1] > 0
}
unread := func() (pending int) { // signals are on their way for a moment between hosts
	symm.Maybe(symm.Meet) // which fails after a wait that was ended
	for range 50 {
		if pending = len(symm.PendingSignals()); pending == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return pending
}
ends := func(f func()) bool { return symm.Maybe(func() { f(); symm.Synchronize() }) == nil }
for rounds := 1; rounds <= 2; rounds++ {
	ended := ends(func() { exchange(rounds) })
	pending := unread()
	symm.Recover()
	switch hangs, over := anywhere(!ended, pending); {
	case hangs && rounds == 1:
		panic("exchange(1) hangs: no rank may wait before it has put, and the wait for a neighbour names the channel on which that neighbour puts")
	case over:
		panic("nothing hangs, but no rank has waited for some signals: puts and waits must come in pairs")
	case hangs:
		panic("exchange(1) ends, but exchange(2) hangs: each round needs all its puts and waits")
	}
}
if size%2 == 0 { // in pairs, as if there were two ranks
	left, right = rank^1, rank^1
	ended := ends(func() { exchange(1) })
	left, right = (rank+size-1)%size, (rank+1)%size
	symm.Recover()
	if hangs, _ := anywhere(!ended, 0); hangs {
		panic("it works with these ranks, but not with two, whose left and right are the same: does each of the two signals have its own channel?")
	}
}
alone := true
if rank == 0 { // as if it were the only rank, while the others look on
	left, right = rank, rank
	alone = ends(func() { exchange(1) })
	left, right = (rank+size-1)%size, (rank+1)%size
}
symm.Recover()
if bad, _ := anywhere(!alone, 0); bad {
	panic("the exchange waits for ranks that are no neighbours: not a barrier, but the signals of both neighbours must end it")
}
start, pause := time.Now(), 100*time.Millisecond
late := ends(func() {
	if rank == 0 { // this rank is late for the second round: its neighbours must wait
		exchange(1)
		symm.Synchronize()
		time.Sleep(pause)
		exchange(1)
	} else {
		exchange(2)
	}
})
tooSoon := time.Since(start) < pause && (rank == 1 || rank == size-1)
symm.Recover()
if bad, _ := anywhere(tooSoon || !late, 0); bad {
	panic("the exchange ends although a neighbour is still missing: it must wait for both, in each round")
}
edges, edge := make([]*symm.Handle, 2), symm.Local(symm.I32, 1)
for round := range edges {
	edges[round] = symm.Rendezvous(symm.Empty(symm.I32, 1))
}
symm.Sanitize(true, 0) // on the emulated device it finds a neighbour that is here by luck
symm.Meet()
symm.Findings() // those of before
orders := ends(func() {
	for _, h := range edges { // what a rank wrote before its exchange is what its neighbours read after theirs
		h.Put(rank, edge)
		exchange(1)
		h.Get(left, edge)
		h.Get(right, edge)
	}
})
symm.Recover()
byLuck := len(symm.Findings()) > 0
symm.Sanitize(false, 0)
if bad, _ := anywhere(byLuck || !orders, 0); bad {
	panic("the exchange ends although a neighbour may still be missing: it must wait for the signals of both, in each round")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A deadlock is a cycle of ranks that wait for each other, or a rank that never arrives.
// - Read the message: which rank waits, for which peer, on which channel, in a put, a wait or a
//   barrier.
// - A wait that cannot end becomes an error. Put a limit on waits that others may still end, while you develop.
// - All ranks must make the same collective calls, in the same order.
// - A put can wait, too: a channel holds one signal.
//
// `:ranks` shows at any time what each rank waits for, also from a second prompt (`symmrepl attach`). If a rank does
// not answer at all, `:restart 2` replaces it.
//
// Read on: `:tutorial 07` is about packets, which carry their own flag. `:tutorial 16` is about mistakes that do not hang but give wrong
// results; you can read it now or after 15.
