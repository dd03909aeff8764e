//go:build ignore

// Signals: one rank tells another that data has arrived.

// %% [markdown]
// # Signals: put and wait
//
// A rank can write into the memory of another. But when may the other rank read it? A barrier answers this for all
// ranks at once. Often that is too much: if rank 0 sends to rank 1, why should rank 3 wait?
//
// A **signal** synchronises two ranks. One rank puts it, the other waits for it:
//
// ![Rank 0 puts data and then a signal; rank 1 waits for the signal and reads.](picture:signal)
//
//     rank 0                          rank 1
//     put data into rank 1's copy
//     put a signal ───────────────>   wait for the signal
//                                     read the data
//
// The signal arrives after the data. So when the wait ends, the data is there. Most algorithms of this course rest on this one rule.

// %% A tensor, a handle and the neighbours.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
h := symm.Rendezvous(t)

// %% [markdown]
// First a signal without data. Signals use *channels*, which are numbers. Both sides name the same channel, here 0.

// %% Every rank signals to the right and waits for the left.
h.PutSignal(right, 0)
h.WaitSignal(left, 0)
symm.Synchronize()
fmt.Println(left, "has signalled")

// %% [markdown]
// Both are operations of the device: `WaitSignal` returns at once, and later work *on the device* waits. Go code that
// wants to know that the signal is there calls `symm.Synchronize()`, as above, or reads a tensor.
//
// `WaitSignal` also *consumes* the signal. If you wait again, you wait for a second signal.
//
// Now with data. The order matters: put, then signal; wait, then read.

// %% Data, followed by a signal.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
h.Put(right, message)
h.PutSignal(right, 0)
h.WaitSignal(left, 0)
t.Float32s()

// %% [markdown]
// Every rank has the number of its left neighbour. No barrier was needed.
//
// ## Mistakes
//
// What if no rank puts the signal? A real program hangs then, and its four logs are silent. Here the wait has a limit, `symm.Timeout`.

// %% [fails] The first rank waits for a signal that nobody sends.
if rank == 0 {
	h.WaitSignal(right, 0, symm.Timeout(300*time.Millisecond))
}
symm.Synchronize()

// %% [markdown]
// The message names the rank that waited, its peer and the channel. Without the limit, you would
// get the same message after two seconds: symmrepl ends a wait that cannot end by itself. Nothing
// is lost: the kernels return, memory and variables stay.
//
// Operations only enqueue work on the *stream*; an error in that work is reported by the next call that waits for it, here `symm.Synchronize`.
//
// The opposite mistake is a signal that no rank waits for.

// %% One signal too many.
if rank == 0 {
	h.PutSignal(right, 5)
}
symm.Synchronize()
h.Barrier(0)
symm.PendingSignals()

// %% [markdown]
// This does no harm at once. But the next wait on this channel consumes the old signal, and the rank reads data that
// has not arrived. So look for pending signals if results are sometimes wrong. The right neighbour consumes it:

// %% Consume it.
if left == 0 {
	h.WaitSignal(0, 5)
}
symm.Synchronize()
h.Barrier(0)
symm.PendingSignals()

// %% [markdown]
// Count before you run:

// %% [exercise] Predict: what is left
// No signal is pending. Then all ranks run these lines. How many signals are pending afterwards, on all ranks together?
//
//     if rank == 0 {
//         h.PutSignal(right, 1)
//         h.PutSignal(right, 2)
//         h.PutSignal(right, 3)
//     }
//     if left == 0 {
//         h.WaitSignal(0, 2)
//     }

// %% [start]
predict := 0.0

// %% [hint]
// Rank 0 puts three signals, on three channels. Which of them does the wait consume?

// %% [hint]
// A wait consumes one signal: the one on its channel, from the rank that it names.

// %% [solution]
predict := 2

// %% [check]
symm.Recover() // no signal is pending
over := symm.Empty(symm.I32, 1)
symm.Rendezvous(over)
symm.Meet()
if rank == 0 {
	h.PutSignal(right, 1)
	h.PutSignal(right, 2)
	h.PutSignal(right, 3)
}
if left == 0 {
	h.WaitSignal(0, 2)
}
symm.Meet()
if over.Fill(0); left == 0 { // the signals to this rank; rank 0 would list them too
	over.Fill(len(symm.PendingSignals()))
}
truth := float64(symm.AllReduce(over, "sum").Ints()[0])
symm.Recover()
switch float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0, and a wait does not consume every signal: it names a channel")
case 1:
	panic("1 is the number of signals that the wait consumes; how many are left?")
case 3:
	panic("3 are put, but the wait on channel 2 consumes one")
case 2 * truth:
	panic(fmt.Sprintf("%v lines has symm.PendingSignals on all ranks together: the rank that has put a signal lists it too", predict))
case 3 * float64(size):
	panic(fmt.Sprintf("%v would be right if every rank put its three signals and no rank waited: only rank 0 puts, and its right neighbour waits", predict))
case 2 * float64(size):
	panic(fmt.Sprintf("%v would be right if every rank put signals, and every rank waited for one: only rank 0 puts, and its right neighbour waits", predict))
default:
	panic(fmt.Sprintf("not %v signals are left: count the puts of rank 0, and the waits of its right neighbour", predict))
}

// %% [markdown]
// ## In both directions, on two channels
//
// If a slot is used repeatedly, one signal is not enough. The writer signals "the data is there". The reader must
// signal "I have read it", or the writer overwrites data that is still being read.
//
// ![A slot that is used again: the reader signals that it has read.](picture:both-ways)
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
	h.PutSignal(right, 0) // data is there
	h.WaitSignal(left, 0)
	seen = append(seen, t.Float32s()[0])
	h.PutSignal(left, 1) // I have read it
	h.WaitSignal(right, 1)
}
seen

// %% [markdown]
// Every rank has received all three messages of its left neighbour, in order.
//
// Now it is your turn: first a repair, then a program. Both functions below break the rule of this tutorial.

// %% [exercise] Repair: too early
// All ranks call `post(n)`, and then `collect()`, which must return the number that the left neighbour has posted. Repair both functions:
// the order of their
// lines is wrong. Often they give the right number all the same. The check makes puts and ranks late.

// %% [start]
func post(n int) {
	h.PutSignal(right, 2)
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
}

func collect() float32 {
	got := t.Float32s()[0]
	h.WaitSignal(left, 2)
	return got
}

// %% [hint]
// Put, then signal. Wait, then read. Which of the two does each function break?

// %% [hint]
// Swap the two lines of `post`. In `collect`, read `t` after the wait: `return t.Float32s()[0]`.

// %% [solution]
func post(n int) {
	h.Put(right, symm.Local(symm.F32, 4).Fill(n))
	h.PutSignal(right, 2)
}

func collect() float32 {
	h.WaitSignal(left, 2)
	return t.Float32s()[0]
}

// %% [check]
posts, trouble := symm.Empty(symm.I32, 1), symm.Empty(symm.I32, 4)
symm.Rendezvous(posts)
symm.Rendezvous(trouble)
const watched = 4 // the round in which the sanitizer of the emulated device looks for what is right by luck
for round := range watched + 1 {
	symm.Recover() // clears signals that an earlier answer left
	mine := 1 + int(time.Now().UnixNano()%10000)*size + rank
	want := float32(symm.AllGather(posts.Fill(mine)).Ints()[left])
	t.Fill(-1)
	symm.Sanitize(round == watched, 0)
	symm.Meet()
	symm.Findings() // those of before
	switch late := rank%2 == round%2; {
	case late && round < 2:
		symm.Slow(fmt.Sprint(rank, " 60ms puts")) // the data is late
	case late:
		time.Sleep(60 * time.Millisecond) // the sender is late
	}
	got, found := float32(-1), make([]int, 4)
	if symm.Maybe(func() { post(mine); got = collect(); symm.Synchronize() }) != nil { // a wait that cannot end becomes an error
		found[0] = 1
	}
	symm.Slow("off")
	symm.Maybe(symm.Meet) // which fails after a wait that was ended
	if found[0] == 0 {
		for range 50 { // signals are on their way for a moment between hosts
			if found[3] = len(symm.PendingSignals()); found[3] == 0 {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	symm.Recover()
	found[2] = len(symm.Findings()) // the number is right by luck
	symm.Sanitize(false, 0)
	if later := t.Float32s()[0]; later != want {
		found[1] = 1
	} else if got != want {
		found[2] = 1
	}
	switch now := symm.AllReduce(trouble.CopyFrom(found), "max").Ints(); {
	case now[0] > 0:
		panic("a rank waits for a signal that never comes: post signals to the right on channel 2, and collect waits for the left on channel 2")
	case now[1] > 0:
		panic("a number has never arrived: post puts it into the memory of the right neighbour")
	case now[2] > 0:
		panic("collect may return before the new number is there, when a put takes long or a rank posts late: the signal must follow the data, and the read must follow the wait")
	case now[3] > 0:
		panic("the number is right, but a signal was put that nobody waits for: each put of a signal needs its wait")
	}
}
fmt.Println("correct")

// %% [markdown]
// A token travels once around the ring. The variables `token`, `hToken` and `first` are ready.

// %% A tensor for the token, and the number with which it starts.
token := symm.Empty(symm.I32, 1)
hToken := symm.Rendezvous(token)
first := 1

// %% [exercise] Pass it on
// Write `relay()`. Rank 0 puts the number `first` into the `token` of its right neighbour. Each other rank waits for the token, doubles it, and
// passes it to the right. At the end rank 0 waits for it and has 2, 4, 8 … times `first` in its `token`: each of the other ranks has doubled
// it once. The check changes `first`, on rank 0 only. It also runs `relay` on fewer ranks, with their own `left`, `right`, `size`, `token` and
// `hToken`.
//
// `pass(n)` below puts a number into the token of the right neighbour. `token.Ints()[0]` reads your own token.

// %% [start]
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
}

func relay() {
	if rank == 0 {
		pass(first)
	}
}

// %% [hint]
// In the given code only rank 0 does something. If the others called `pass(2 * token.Ints()[0])` at once, which value would they double? Which rank has to wait for which?

// %% [hint]
// A signal must follow the number: `hToken.PutSignal(right, 0)` after the put. All ranks except rank 0 wait for their
// left neighbour *before* they read their token.

// %% [hint]
// Rank 0 is different: it starts without waiting, and waits for the last rank at the end. If it waited first, no rank would ever start.

// %% [solution]
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(first)
		hToken.WaitSignal(left, 0)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
}

// %% [check]
known, trouble := symm.Empty(symm.I32, 1), symm.Empty(symm.I32, 2)
symm.Rendezvous(known)
symm.Rendezvous(trouble)
tryOn := func(n, late int) (bad string) { // a token goes around the ranks below n, of which one is late
	symm.Recover() // clears signals that an earlier answer left
	member := rank < n
	if member && n < size {
		wholeToken, wholeHToken, wholeSize, wholeRight, wholeLeft := token, hToken, size, right, left
		defer func() { token, hToken, size, right, left = wholeToken, wholeHToken, wholeSize, wholeRight, wholeLeft }()
		part := symm.NewGroup(symm.World().Ranks()[:n]...)
		token = part.Empty(symm.I32, 1)
		hToken = symm.Rendezvous(token, part)
		size, right, left = n, (rank+1)%n, (rank+n-1)%n
		defer part.Free()
		defer token.Free()
	}
	first = 0
	if rank == 0 {
		first = 1 + int(time.Now().UnixNano()%1000)
	}
	number := symm.AllReduce(known.Fill(first), "max").Ints()[0]
	token.Fill(-1)
	symm.Meet()
	if rank == late {
		time.Sleep(20 * time.Millisecond)
	}
	hangs, pending := 0, 0
	if member && symm.Maybe(func() { relay(); symm.Synchronize() }) != nil { // a wait that cannot end becomes an error
		hangs = 1
	}
	symm.Maybe(symm.Meet) // which fails after a wait that was ended
	for range 50 {        // signals are on their way for a moment between hosts
		if pending = len(symm.PendingSignals()); pending == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	symm.Recover()
	if hangs > 0 {
		pending = len(symm.ClearedSignals())
	}
	tokens := symm.AllGather(known.CopyFrom(token)).Ints()
	now := symm.AllReduce(trouble.CopyFrom([]int{hangs, pending}), "max").Ints()
	want := number << (n - 1)
	switch {
	case now[0] > 0 && now[1] == 0:
		return "all ranks wait, and nobody has signalled: rank 0 must pass the token on before it waits, and a signal must follow each number"
	case now[0] > 0:
		return "a rank waits for a signal that never comes, and another signal was put: the wait must name the rank that signals, and its channel"
	case tokens[0] == 2*want:
		return fmt.Sprintf("the token of rank 0 is %d, not %d; only the others double it", tokens[0], want)
	}
	for p := 1; p <= n; p++ {
		got, want := tokens[p%n], number<<(p-1)
		switch {
		case got == want, p < n && got == 2*want: // as it came, or doubled in its place
		case got == want<<n, got == want<<(n-1):
			return fmt.Sprintf("rank %d has had the token twice: rank 0 waits for it at the end, and does not pass it on again", p%n)
		case got == -1:
			return fmt.Sprintf("rank %d has never had the token: each rank puts it into the memory of its right neighbour", p%n)
		default:
			return fmt.Sprintf("the token of rank %d is %d, not %d; does everybody wait before it looks, and signal after it has put?", p%n, got, want)
		}
	}
	if now[1] > 0 {
		return "the number is right, but no rank has waited for some signal; symm.PendingSignals() shows which"
	}
	return ""
}
for round := range 2 * size { // repeat, to find mistakes that show only sometimes
	if bad := tryOn(size, round%size); bad != "" { // a different rank is late each time
		panic(bad)
	}
}
if n := size - 1; n > 0 { // without the last rank
	if bad := tryOn(n, 0); bad != "" {
		panic(fmt.Sprintf("it is right on %d ranks, but not on %d, with the left, right and size of these: %s", size, n, bad))
	}
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Put, then signal. Wait, then read.
// - A wait consumes its signal. Puts and waits must come in pairs.
// - To use memory again, the writer needs a signal back from the reader.
// - `symm.Timeout` bounds a wait, and `symm.PendingSignals` lists signals that no rank has waited for.
//
// On a GPU, a signal is a word in the peer's memory. A put swaps 0 for 1 there, by one atomic operation with a *release*
// before it; if it finds a 1, it tries again until the peer has consumed that signal. A wait polls the word, sets it back to 0, and is an
// *acquire*. The kernel is short: the comment at the beginning of `kernels/include/symm/signal.cuh` describes the protocol.
//
// Read on: in `:tutorial 04` you write a kernel that communicates with the other GPUs itself.
