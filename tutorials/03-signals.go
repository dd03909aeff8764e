//go:build ignore

// Signals: one rank tells another that something is there.

// %% [markdown]
// # Signals: put and wait
//
// A rank can write into the memory of another. But when may the other look? A barrier answers that for all ranks at once. Often that is too
// much: if rank 0 sends to rank 1, why should rank 3 wait?
//
// A **signal** is for two. One rank puts it, the other waits for it:
//
//     rank 0                          rank 1
//     put data into rank 1's copy
//     put a signal ───────────────>   wait for the signal
//                                     look at the data
//
// The signal travels after the data. So when the wait is over, the data is there. This is the one rule on which all the fast algorithms stand.

// %% A tensor, a handle, and neighbours.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
h := symm.Rendezvous(t)

// %% [markdown]
// First a signal without data. Signals travel on *channels*, which are numbers. Both sides name the same one, here 0.

// %% Everybody signals to the right, and waits for the left.
h.PutSignal(right, 0)
h.WaitSignal(left, 0)
fmt.Println(left, "has signalled")

// %% [markdown]
// `WaitSignal` also *consumes* the signal. Wait a second time, and you wait for a second signal.
//
// Now with data. The order is what matters: put, then signal; wait, then look.

// %% Data, and a signal behind it.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
h.Put(right, message)
h.PutSignal(right, 0)
h.WaitSignal(left, 0)
t.Float32s()

// %% [markdown]
// Everybody has the number of its left neighbour. No barrier was needed.
//
// ## Mistakes
//
// What if nobody puts the signal? A real program hangs then, and you look at four silent logs. Here the wait gets a limit, with `symm.Timeout`.

// %% [fails] The first rank waits for a signal that nobody sends.
if rank == 0 {
	h.WaitSignal(1, 0, symm.Timeout(300*time.Millisecond))
}
symm.Synchronize()

// %% [markdown]
// The message says who waited, for whom, and on which channel. Without the limit you would get a table after a moment, with the same news, and
// Ctrl-C, or a notebook's ■, ends the wait. Nothing is lost by it: the kernels return, memory and variables stay.
//
// `symm.Synchronize` waits until the work on the device is done. Operations only put work into a queue, called the *stream*; what goes wrong there
// shows when somebody waits for it.
//
// The opposite mistake is a signal that nobody waits for.

// %% A signal too many.
if rank == 0 {
	h.PutSignal(1, 5)
}
symm.Synchronize()
h.Barrier(0)
symm.PendingSignals()

// %% [markdown]
// That does no harm at once. It does later: the next one who waits on this channel gets the old signal, and looks at data that is not there yet. So
// look for pending signals when results are wrong now and then. Rank 1 takes it away:

// %% Consume it.
if rank == 1 {
	h.WaitSignal(0, 5)
}
symm.Synchronize()
h.Barrier(0)
symm.PendingSignals()

// %% [markdown]
// ## Both ways, on two channels
//
// When a slot is used again and again, one signal is not enough. The writer says "it is there". The reader must say "I have read it", or the writer
// overwrites what is still being read.
//
//     left                            right
//     put data
//     signal on 0 ────────────────>   wait on 0
//                                     read
//     wait on 1   <────────────────   signal on 1
//     put the next data …

// %% Three messages through one slot.
seen := []float32{}
for step := range 3 {
	message.Fill(10*rank + step)
	h.Put(right, message)
	h.PutSignal(right, 0) // it is there
	h.WaitSignal(left, 0)
	seen = append(seen, t.Float32s()[0])
	h.PutSignal(left, 1) // I have read it
	h.WaitSignal(right, 1)
}
seen

// %% [markdown]
// Everybody has seen all three messages of its left neighbour, in order.
//
// Now it is your turn. A token goes once around the ring. The variables `token` and `hToken` are ready.

// %% A tensor for the token.
token := symm.Empty(symm.I32, 1)
hToken := symm.Rendezvous(token)

// %% [exercise] Pass it on
// Write `relay()`. Rank 0 puts the number 1 into the `token` of its right neighbour. Each other rank waits for the token, doubles it, and passes it
// on to its right. At the end rank 0 waits for it, and has 2, 4, 8 … in its `token`: doubled once by each of the others.
//
// `pass(n)` below puts a number into the token of the right neighbour. `token.Ints()[0]` is your own.

// %% [start]
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
}

func relay() {
	if rank == 0 {
		pass(1)
	}
}

// %% [hint]
// As given, only rank 0 does something. Suppose the others called `pass(2 * token.Ints()[0])` right away: what would they double? Who has to wait for whom?

// %% [hint]
// A signal must follow the number: `hToken.PutSignal(right, 0)` after the put. All but rank 0 wait for their left neighbour *before* they look
// at their token.

// %% [hint]
// Rank 0 is different: it begins without waiting, and waits for the last rank at the end. If it waited first, nobody would ever begin.

// %% [solution]
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(1)
		hToken.WaitSignal(left, 0)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
}

// %% [wrong]
func relay() {
	if rank == 0 {
		pass(1)
		hToken.PutSignal(right, 0)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
	hToken.PutSignal(right, 0)
}

// %% [wrong]
func relay() {
	if rank != 0 {
		pass(2 * token.Ints()[0])
	} else {
		pass(1)
	}
	hToken.PutSignal(right, 0)
	hToken.WaitSignal(left, 0)
}

// %% [wrong]
func relay() {
	if rank == 0 {
		token.Fill(1 << (size - 1))
	}
}

// %% [check]
bad, want, limit := "", 1<<(size-1), symm.Timeout(5*time.Second)
for round := 0; round < 40 && bad == ""; round++ { // what is wrong now and then shall be found, too
	symm.Recover() // of signals that are left
	token.Fill(-1)
	hToken.Barrier(7, limit)
	if rank == round%size { // each time another rank is late
		time.Sleep(5 * time.Millisecond)
	}
	relay()
	symm.Synchronize()
	hToken.Barrier(7, limit)
	got := hToken.GetBuffer(0, symm.I32, 1).Ints()[0]
	switch {
	case got == 2*want:
		bad = fmt.Sprintf("the token of rank 0 is %d, not %d; only the others double it", got, want)
	case got != want && round == 0:
		bad = fmt.Sprintf("the token of rank 0 is %d, not %d; does everybody wait before it looks, and signal after it has put?", got, want)
	case got != want:
		bad = fmt.Sprintf("the token of rank 0 was right %d times, and then %d, not %d; does everybody wait before it looks, and signal after it has put?", round, got, want)
	}
	for p := 1; p < size && bad == ""; p++ {
		if hToken.GetBuffer(p, symm.I32, 1).Ints()[0] == -1 {
			bad = fmt.Sprintf("the token of rank 0 is right, but rank %d has never had it", p)
		}
	}
}
unread := symm.Empty(symm.I32, 1).Fill(len(symm.PendingSignals()))
symm.Rendezvous(unread)
pending := symm.OneShotAllReduce(unread, "sum").Ints()[0]
switch {
case bad != "":
	panic(bad)
case pending > 0:
	panic("the number is right, but a signal was put that nobody has waited for; symm.PendingSignals() says which")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Put, then signal. Wait, then look.
// - A wait consumes its signal. Put and wait must come in pairs.
// - Reusing memory needs a signal back.
// - `symm.Timeout` bounds a wait, and `symm.PendingSignals` finds signals nobody has waited for.
//
// On a GPU a signal is a store to a word in the peer's memory, with a *release* before it and an *acquire* after the wait. The kernel itself
// is short: `kernels/include/symm/signal.cuh` explains it at its beginning.
//
// Read on: `:tutorial 04` has you write a kernel that talks to the other GPUs itself.
