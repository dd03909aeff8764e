//go:build ignore

// Deadlocks: programs that hang, how to see why, and how to mend them.

// %% [markdown]
// # Deadlocks: find and fix them
//
// A multi-GPU program that is wrong usually does not crash. It hangs. Each rank waits for another, and nobody says a word.
//
// All deadlocks are of one kind: **somebody waits for what never comes**. There are four usual reasons, and you will make each of them here, on
// purpose:
//
// 1. nobody sends;
// 2. the sender and the receiver name different channels;
// 3. one rank does not take part in something that all must do;
// 4. everybody waits before sending.
//
// Every wait here has a limit of 400 ms, by `symm.Timeout`. Without one, symmrepl shows after a moment which rank waits for what, and Ctrl-C
// (in a notebook ■) ends the waits. In both cases the session goes on.

// %% A handle, neighbours, and a limit for waits.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.I32, 1).Fill(rank)
h := symm.Rendezvous(t)
limit := symm.Timeout(400 * time.Millisecond)

// %% [markdown]
// ## Nobody sends
//
// Rank 0 waits for rank 1. Rank 1 has other things to do.

// %% [fails] Wait for somebody who does not know.
if rank == 0 {
	h.WaitSignal(1, 0, limit)
}
symm.Synchronize()

// %% [markdown]
// Read such a message like a sentence: *who* waited, for *whom*, for *what*. Then look at the code of the other one: where does rank 1 put a signal on channel 0?
// Nowhere.
//
// ## Different channels
//
// Rank 1 does send now. But on another channel.

// %% [fails] One says 2, the other says 3.
if rank == 1 {
	h.PutSignal(0, 2, limit)
}
if rank == 0 {
	h.WaitSignal(1, 3, limit)
}
symm.Synchronize()

// %% [markdown]
// To rank 0 it looks the same as before. But this time there is a trace: a signal that nobody has waited for. When a wait fails, `symm.PendingSignals()` on
// all ranks shows whether the signal went elsewhere. (After a wait that was given up, the session clears the signals, so look before the next
// cell, or in a program of your own.)
//
// ## One rank does not take part
//
// A barrier needs everybody. An `if` that only some ranks enter must have none inside.

// %% [fails] Rank 0 goes home early.
if rank != 0 {
	h.Barrier(1, limit)
}
symm.Synchronize()

// %% [markdown]
// Here the ranks that wait are not to blame. The one that is missing is rank 0, and the message names it. In real code this is an early `return`
// on one rank, or a loop that runs once less there.
//
// ## Everybody waits first
//
// The classic. Each rank waits for its left neighbour, and would then signal to its right.

// %% [fails] After you! No, after you!
h.WaitSignal(left, 0, limit)
h.PutSignal(right, 0, limit)
symm.Synchronize()

// %% [markdown]
// All ranks wait, in a circle:
//
//     0 waits for the last rank … 2 waits for 1, 1 waits for 0
//
// Draw who waits for whom as arrows. If the arrows make a circle, that is a deadlock, whatever the code looks like. Cut the circle anywhere: at least one rank
// has to send before it waits. Easiest is that all do.

// %% Send first, then wait.
h.PutSignal(right, 0, limit)
h.WaitSignal(left, 0, limit)
symm.Synchronize()
fmt.Println("no circle")

// %% [markdown]
// ## Sending can wait, too
//
// "Send first" is not always enough. A channel holds *one* signal between two ranks. A second `PutSignal` waits until the first has been consumed.

// %% [fails] Two signals into a channel that holds one.
h.PutSignal(right, 0, limit)
h.PutSignal(right, 0, limit)
h.WaitSignal(left, 0, limit)
h.WaitSignal(left, 0, limit)
symm.Synchronize()

// %% [markdown]
// Everybody waits in its *second put*, so nobody comes to its first wait. That is a circle again; only the arrows go the other way. The message
// says `put_signal`: that is how you tell.
//
// In large programs the same happens with buffers: whatever holds a limited number of messages can be full.
//
// ## Find it yourself
//
// A *halo exchange* is what simulations do: each rank sends its edge to the left and to the right, and gets an edge from each. The code below hangs.

// %% [exercise] Mend the exchange
// `exchange(rounds)` shall, in each round, send one signal to the left and one to the right, and wait for one from each. Mend it, without taking any
// put or wait away: for each round and each rank, there are two puts and two waits. It shall also work with two ranks, where left and right are the same!
//
// Enter `exchange(1)` and read the message. Keep `limit` on everything, so that you need not interrupt it. The order is yours to change, and so are the channels.

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
// Who is the first to send? Draw the arrows.

// %% [hint]
// If all puts come before all waits, the circle is cut. Try that with four ranks. Does it work with two? (`symmrepl tutorial -n 2 06` starts two.)

// %% [hint]
// With two ranks, both signals go to the same rank. On one channel, the second put waits for the first one to be consumed. So use two channels: one for
// what goes to the left, another for what goes to the right.

// %% [hint]
// What comes from the right neighbour was sent to *its* left. So the wait for the right names the channel of what goes to the left.

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

// %% [wrong]
func exchange(rounds int) {
	for range rounds {
		h.WaitSignal(right, 0, limit)
		h.WaitSignal(left, 1, limit)
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong]
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong]
func exchange(rounds int) {}

// %% [wrong]
func exchange(rounds int) {
	h.PutSignal(left, 0, limit)
	h.PutSignal(right, 1, limit)
	h.WaitSignal(right, 0, limit)
	h.WaitSignal(left, 1, limit)
	symm.Synchronize()
}

// %% [wrong]
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 0, limit)
		h.WaitSignal(left, 0, limit)
		h.WaitSignal(right, 0, limit)
	}
	symm.Synchronize()
}

// %% [check]
symm.Recover() // of signals that an earlier answer has left
exchange(1)
exchange(2)
symm.Synchronize()
h.Barrier(7, limit)
unread := symm.Empty(symm.I32, 1).Fill(len(symm.PendingSignals()))
symm.Rendezvous(unread)
if symm.OneShotAllReduce(unread, "sum").Ints()[0] > 0 {
	panic("nothing hangs, but some signals were put that nobody has waited for: put and wait come in pairs")
}
found := make([]int, 2) // what is wrong, in the order in which it is said
if size%2 == 0 {        // in pairs, each as two ranks by themselves
	left, right = rank^1, rank^1
	if symm.Maybe(func() { exchange(1); symm.Synchronize() }) != nil {
		found[0] = 1
	}
	left, right = (rank+size-1)%size, (rank+1)%size
	symm.Recover()
}
start, pause := time.Now(), 100*time.Millisecond
if rank == 0 { // now one rank is late for the second round: its neighbours must wait
	exchange(1)
	symm.Synchronize()
	time.Sleep(pause)
	exchange(1)
} else {
	exchange(2)
}
symm.Synchronize()
if time.Since(start) < pause && (rank == 1 || rank == size-1) {
	found[1] = 1
}
symm.Recover()
verdict := symm.Empty(symm.I32, 2).CopyFrom(found)
symm.Rendezvous(verdict)
switch found = symm.AllReduce(verdict, "max").Ints(); {
case found[0] > 0:
	panic("it works with these ranks, but not with two, whose left and right are the same: does each of the two signals have its own channel?")
case found[1] > 0:
	panic("the exchange ends although a neighbour is still missing: it must wait for both, in each round")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A deadlock is a circle of ranks that wait for each other, or somebody who never comes.
// - Read the message: who, for whom, on which channel, in a put, a wait or a barrier.
// - Put a limit on waits while you develop.
// - All ranks must do the same collective things, in the same order.
// - A put can wait, too: a channel holds one signal.
//
// `:ranks` shows at any time what each rank waits for, from a second prompt (`symmrepl attach`), too. And if a rank does not answer at all,
// `:restart 2` replaces it.
//
// Read on: `:tutorial 07` is about packets, which bring their own signal along.
