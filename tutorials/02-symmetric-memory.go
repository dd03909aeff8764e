//go:build ignore

// Symmetric memory and handles: memory that all ranks can access.

// %% [markdown]
// # Symmetric memory and handles
//
// A rank's variables are its own. So is GPU memory: a process cannot access memory that another process allocates on its GPU.
//
// **Symmetric memory** is the exception. All ranks allocate the same shape at the same time, and each rank maps the
// memory of all other ranks into its own address space. From then on, a kernel on GPU 0 reads the memory of GPU 3 by an
// ordinary load, over NVLink. The other rank makes no call.
//
// ![Two ranks, each with a copy of t and a handle that knows both copies.](picture:memory)
//
//      rank 0                     rank 1
//     ┌───────────────┐          ┌───────────────┐
//     │ t (my copy)   │<────┐┌──>│ t (my copy)   │
//     └───────────────┘     ││   └───────────────┘
//       handle:             ││     handle:
//         buffer of rank 0 ─┼┼─ … ─  buffer of rank 0
//         buffer of rank 1 ─┴┘       buffer of rank 1
//
// It is called symmetric because every rank has a copy of the same size, so "the same place on rank 3" is well defined.
//
// Start it on one host: no rank maps the memory of another host. Tutorial 11 is about several hosts.

// %% Every rank allocates a tensor and fills its own copy.
rank, size := symm.Rank(), symm.WorldSize()
t := symm.Empty(symm.F32, 4)
t.Fill(10 * rank)
t.Float32s()

// %% [markdown]
// `Empty` is *collective*: all ranks call it with the same arguments. `F32` is the type of the elements, 4 their
// number. `Fill` is not collective: it writes only the rank's own copy. `Float32s` returns the copy's elements as a slice of Go.
//
// The ranks have the memory now, but do not know the addresses of the other copies. They exchange them in a *rendezvous*.

// %% The rendezvous: afterwards every rank knows every copy.
h := symm.Rendezvous(t)
fmt.Println("I am", h.Rank(), "of", h.WorldSize())
fmt.Println("there are", len(h.BufferPtrs()), "copies of", h.BufferSize(), "bytes each")

// %% [markdown]
// `h` is a **handle**. Among other things it holds one address for each copy. (`h.BufferPtrs()` returns the addresses, for kernels.
// You rarely need them.) A rendezvous takes some time, so do it once for each tensor and use the handle as often as you like.
//
// `GetBuffer(peer, dtype, shape...)` returns a tensor that is the copy of a peer.

// %% Read the memory of the neighbour.
right := (rank + 1) % size
h.GetBuffer(right, symm.F32, 4).Float32s()

// %% [markdown]
// Every rank shows the number of its right neighbour, times ten. The neighbour took no part: it did not send anything.
// This is called *one-sided* communication.
//
// A rank can also write. `h.Put(peer, tensor)` copies a tensor into the copy of a peer.

// %% Write into the memory of the neighbour.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
h.Put(right, message)
h.Barrier(0)
t.Float32s()

// %% [markdown]
// `symm.Local` is ordinary memory of one rank: no other rank needs to read the message before it is sent.
//
// `h.Barrier(0)` is new. A rank waits there until all ranks have reached it. (The 0 is the barrier's *channel*: barriers
// that are under way at the same time need different ones.) Without it, you could
// read your copy before your left neighbour has written it. In one-sided communication no call
// tells you that data has arrived: **the reader and the writer must synchronise**. The next
// tutorial shows how to do that for two ranks instead of all.

// %% [exercise] Predict: a view or a copy
// Does `GetBuffer` copy? Every rank runs these lines. Predict what they print, which is the same on all ranks:
//
//     t.Fill(rank + 1)
//     h.Barrier(0)
//     there := h.GetBuffer(0, symm.F32, 4)   // rank 0's copy
//     before := there.Float32s()[0]
//     h.Barrier(0)
//     if rank == 0 {
//         t.Fill(7)
//     }
//     h.Barrier(0)
//     fmt.Println(before + there.Float32s()[0])

// %% [start]
predict := 0.0

// %% [hint]
// `there` is not a copy of the numbers: it is the memory of rank 0, under a name of this rank. `Float32s` reads it each time.

// %% [hint]
// The first time rank 0's copy holds 1, the second time 7.

// %% [solution]
predict := 8

// %% [check]
t.Fill(rank + 1)
h.Barrier(0)
there := h.GetBuffer(0, symm.F32, 4)
before := there.Float32s()[0]
h.Barrier(0)
if rank == 0 {
	t.Fill(7)
}
h.Barrier(0)
switch truth := float64(before + there.Float32s()[0]); float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: what do the lines print?")
case 2:
	panic("2 would be right if GetBuffer made a copy: it returns the memory of rank 0 itself, which Fill changes in between")
case 14:
	panic("14 would be right if before were read at the end: Float32s reads when it is called, and rank 0 had not written 7 then")
case 7, 1:
	panic(fmt.Sprintf("%v is one of the two numbers: the last line adds them", predict))
default:
	panic(fmt.Sprintf("the lines do not print %v: both times they read the copy of rank 0, on every rank", predict))
}

// %% [markdown]
// ## Mistakes
//
// What happens if one rank asks for a different size?

// %% [fails] Rank 0 wants eight elements, the others four.
n := 4
if rank == 0 {
	n = 8
}
symm.Empty(symm.F32, n)

// %% [markdown]
// Collective calls are compared before anything is allocated. Otherwise the memory would not be symmetric, and a kernel
// would read past the end of a copy an hour later. Here the error names the rank and its request, and nothing is broken.
//
// What about a rank that does not exist?

// %% [fails] There is no such rank.
h.GetBuffer(size, symm.F32, 4)

// %% [markdown]
// The handle knows the number of copies and their size. A request that is too large is an error as well.

// %% [fails] A copy has four elements.
h.GetBuffer(right, symm.F32, 5)

// %% [markdown]
// ## Which memory for what
//
//     memory                      accessible by      how
//     symm.Local(dtype, n)        one rank           kernels of that rank
//     symm.Empty(dtype, n)        all ranks          through a handle
//     a Go variable               one rank           cells
//
// Time for a repair, with the handle `h` and the tensor `t` of before.

// %% A number for each rank.
number := 3*rank + 1
number

// %% [exercise] Repair: give
// After `give(root)`, called by all ranks, the `t` of every rank holds the `number` of the rank `root`, in all four elements. Only the root
// writes. The
// function below has two mistakes. The check gives each rank another number and calls `give` with each rank as the root.
// It also runs `give` on fewer ranks, with their own `h`, `right` and `size`.

// %% [start]
func give(root int) {
	h.Barrier(0)
	if rank == root {
		h.Put(right, symm.Local(symm.F32, 4).Fill(number))
	}
}

// %% [hint]
// Run `give(0)`, then `t.Float32s()`. Which copies does the root write? A loop `for peer := range size` goes over all ranks.

// %% [hint]
// The barrier must be where it helps the readers: when may they look at their copies?

// %% [hint]
// Put into the copy of every peer, your own too. Then a barrier, outside the `if`: all ranks must reach it.

// %% [solution]
func give(root int) {
	if rank == root {
		for peer := range size {
			h.Put(peer, symm.Local(symm.F32, 4).Fill(number))
		}
	}
	h.Barrier(0)
}

// %% [check]
numbers, trouble := symm.Empty(symm.I32, 1), symm.Empty(symm.I32, 5)
symm.Rendezvous(numbers)
symm.Rendezvous(trouble)
for round := range 2 * size { // each rank is the root twice: once it is late, once the rank after it
	root := round % size
	symm.Recover() // ends waits that an earlier answer left
	number = 1 + int(time.Now().UnixNano()%10000)*size + rank
	want := float32(symm.AllGather(numbers.Fill(number)).Ints()[root])
	t.Fill(-1)
	symm.Meet()
	if rank == (root+round/size)%size {
		time.Sleep(40 * time.Millisecond)
	}
	got, found := float32(-1), make([]int, 5)
	err := symm.Maybe(func() { give(root); got = t.Float32s()[3] }) // a wait that cannot end becomes an error
	if e, ok := err.(*symm.Error); ok && e.Kind == symm.KindMisuse {
		found[4] = 1 // a call is wrong; others may wait because of it
	} else if err != nil {
		found[0] = 1
	}
	symm.Maybe(symm.Meet) // which fails after a wait that was ended
	symm.Recover()
	later := t.Float32s()[3]
	switch {
	case got == want:
	case later == want:
		found[1] = 1
	case later == -1:
		found[2] = 1
	default:
		found[3] = 1
	}
	switch now := symm.AllReduce(trouble.CopyFrom(found), "max").Ints(); {
	case found[4] > 0:
		panic(fmt.Sprintf("give(%d) fails: %v", root, err))
	case now[4] > 0:
		panic(fmt.Sprintf("give(%d) fails on another rank; run it to see the error", root))
	case now[0] > 0:
		panic("a rank waits in a barrier that another never reaches: all ranks call it, not only the root")
	case now[3] > 0:
		panic(fmt.Sprintf("a copy holds the number of a rank that is not the root %d: only the root writes, and it writes into everybody's copy", root))
	case now[2] > 0:
		panic(fmt.Sprintf("a copy was never written: the root %d writes into the copy of each of the %d ranks, its own too", root, size))
	case now[1] > 0:
		panic("the number had not arrived when give returned: which barrier makes the readers wait for the puts?")
	}
}
if few := size - 1; few > 1 { // without the last rank
	part := symm.NewGroup(symm.World().Ranks()[:few]...)
	wholeH, wholeSize, wholeRight := h, size, right
	want := symm.AllGather(numbers.Fill(number)).Ints()[0]
	t.Fill(-1)
	symm.Meet()
	failed := 0
	if rank < few {
		h, size, right = symm.Rendezvous(t, part), few, (rank+1)%few
		if symm.Maybe(func() { give(0); symm.Synchronize() }) != nil || !t.Equal(want) {
			failed = 1
		}
		h, size, right = wholeH, wholeSize, wholeRight
	}
	symm.Maybe(symm.Meet)
	symm.Recover()
	part.Free()
	if symm.AllReduce(numbers.Fill(failed), "max").Ints()[0] > 0 {
		panic(fmt.Sprintf("it is right on %d ranks, but not on %d, with the h, right and size of these", size, few))
	}
}
fmt.Println("correct")

// %% [markdown]
// A common pattern: each rank owns a *slot* in every copy. With one slot per rank, no rank overwrites another rank's values.
//
// ![Rank 1 writes its slot, number 1, in the copies of all ranks.](picture:slots)
//
//     slot                  0     1     2     3
//     slots of rank 0     [   ][ r 1 ][   ][   ]
//     slots of rank 1     [   ][ r 1 ][   ][   ]      rank 1 writes slot 1, everywhere
//     slots of rank 2     [   ][ r 1 ][   ][   ]
//     slots of rank 3     [   ][ r 1 ][   ][   ]

// %% A tensor with one slot for each rank, all empty.
slots := symm.Empty(symm.I32, size).Fill(-1)
hs := symm.Rendezvous(slots)
hs.Barrier(0)
slots.Ints()

// %% A number that only this rank knows.
secret := 7*rank + 3
secret

// %% [exercise] Gather by hand
// Write `gather()`. After it, `slots` on every rank holds the `secret` of each rank: slot 0 the one of rank 0, slot 1 the one of
// rank 1. Do it by writing: each rank writes its `secret` into its own slot of every copy. The check gives each rank
// another number, which no other rank knows. It also runs `gather` on fewer ranks, with their own `hs` and `size`.
//
// `hs.GetBuffer(peer, symm.I32, size)` is the whole `slots` of a peer; `.Slice(a, b)` is elements `a` to `b-1` of a
// tensor; `.Fill(x)` writes. The last step is a barrier, so that no rank reads too early.

// %% [start]
func gather() {
	slots.Slice(rank, rank+1).Fill(secret)
	hs.Barrier(0)
}

// %% [hint]
// The given function writes only one copy. Whose? Run `gather()` and look at `slots.Ints()`.

// %% [hint]
// You need a loop over all peers, including your own rank.

// %% [hint]
// In the loop, the slots of the peer are `hs.GetBuffer(peer, symm.I32, size)`. Your slot there has the index of your own rank, not the peer's.

// %% [solution]
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
	}
	hs.Barrier(0)
}

// %% [check]
limit := symm.Timeout(5 * time.Second)
secrets, wrong := symm.Empty(symm.I32, 1), symm.Empty(symm.I32, 1)
symm.Rendezvous(secrets)
symm.Rendezvous(wrong)
bad := ""
for round := range 2 * size { // a different rank is late each time
	secret = int(time.Now().UnixNano()%1000000)*size + rank
	want := symm.AllGather(secrets.Fill(secret)).Ints()
	slots.Fill(-1)
	hs.Barrier(7, limit)
	if rank == round%size {
		time.Sleep(20 * time.Millisecond)
	}
	gather()
	got := slots.Ints()
	hs.Barrier(7, limit)
	later := slots.Ints()
	for r := range size {
		switch {
		case got[r] == want[r] || bad != "":
		case later[r] == want[r]:
			bad = fmt.Sprintf("slot %d was not yet written when gather() returned: gather() must wait until all ranks have written", r)
		case got[r] == -1:
			bad = fmt.Sprintf("nobody has written slot %d: each rank writes into its own slot of everybody's copy", r)
		default:
			bad = fmt.Sprintf("slot %d holds %d, but rank %d has %d: only rank %d knows its number, and writes it", r, got[r], r, want[r], r)
		}
	}
}
if bad != "" {
	wrong.Fill(1)
}
switch anywhere := symm.OneShotAllReduce(wrong, "max").Ints()[0]; {
case bad != "":
	panic("in my copy " + bad)
case anywhere != 0:
	panic("my copy is right, but not that of another rank")
}
if few := size - 1; few > 1 { // without the last rank
	part := symm.NewGroup(symm.World().Ranks()[:few]...)
	wholeHs, wholeSize := hs, size
	want := symm.AllGather(secrets.Fill(secret)).Ints()[:few]
	slots.Fill(-1)
	symm.Meet()
	failed := 0
	if rank < few {
		hs, size = symm.Rendezvous(slots, part), few
		if symm.Maybe(func() { gather(); symm.Synchronize() }) != nil || fmt.Sprint(slots.Ints()[:few]) != fmt.Sprint(want) {
			failed = 1
		}
		hs, size = wholeHs, wholeSize
	}
	symm.Maybe(symm.Meet)
	symm.Recover()
	part.Free()
	if symm.AllReduce(wrong.Fill(failed), "max").Ints()[0] > 0 {
		panic(fmt.Sprintf("it is right on %d ranks, but not on %d, with the hs and size of these", size, few))
	}
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - `symm.Empty` is collective; it gives every rank a copy.
// - `symm.Rendezvous` returns a handle, which knows every copy.
// - `h.GetBuffer` reads and writes the copy of a peer, `h.Put` copies into it. The peer does nothing.
// - A rank is not notified when its memory changes. A barrier is the simplest way to synchronise.
//
// What you wrote in the exercise is an *all-gather*, an operation that libraries such as NCCL provide: `:doc symm.AllGather`.
//
// Read on: `:tutorial 03` lets ranks tell each other that data has arrived. Background: PyTorch calls this idea
// `torch.distributed._symmetric_memory`, and NVSHMEM calls it the symmetric heap.
