//go:build ignore

// Symmetric memory and handles: memory of one rank that all ranks reach.

// %% [markdown]
// # Symmetric memory and handles
//
// A rank's variables are its own. On GPUs, so is memory: what one process allocates on its GPU, another process cannot touch.
//
// **Symmetric memory** is the exception. All ranks allocate the same shape at the same time, and each maps the memory of all others into its own
// address space. From then on a kernel on GPU 0 reads the memory of GPU 3 by an ordinary load, over NVLink. No call on the other side
// is needed.
//
//      rank 0                     rank 1
//     ┌───────────────┐          ┌───────────────┐
//     │ t (my copy)   │<────┐┌──>│ t (my copy)   │
//     └───────────────┘     ││   └───────────────┘
//       handle:             ││     handle:
//         buffer of rank 0 ─┼┼─ … ─  buffer of rank 0
//         buffer of rank 1 ─┴┘       buffer of rank 1
//
// It is called symmetric because everybody has a copy of the same size. That is what makes "the same place on rank 3" mean something.

// %% Everybody allocates a tensor and fills its own copy.
rank, size := symm.Rank(), symm.WorldSize()
t := symm.Empty(symm.F32, 4)
t.Fill(10 * rank)
t.Float32s()

// %% [markdown]
// `Empty` is *collective*: all ranks call it, with the same arguments. `F32` is the type of the elements, 4 their number. `Fill` is not
// collective. It writes the rank's own copy.
//
// The ranks hold the memory now, but do not know yet where the copies of the others are. They find out at a *rendezvous*.

// %% The rendezvous: afterwards everybody knows everybody's copy.
h := symm.Rendezvous(t)
fmt.Println("I am", h.Rank(), "of", h.WorldSize())
fmt.Println("there are", len(h.BufferPtrs()), "copies of", h.BufferSize(), "bytes each")

// %% [markdown]
// `h` is a **handle**. It holds, among other things, one address for each copy. (`h.BufferPtrs()` are those addresses, for kernels. You
// rarely look at them.) A rendezvous costs a little, so it is done once for each tensor; the handle is then used as often as you like.
//
// `GetBuffer(peer, dtype, shape...)` makes a tensor of the copy of a peer.

// %% Look into the memory of the neighbour.
right := (rank + 1) % size
h.GetBuffer(right, symm.F32, 4).Float32s()

// %% [markdown]
// Every rank shows the number of its right neighbour, times ten. The neighbour did nothing for it: it did not send, and it was not asked. That is called
// *one-sided* communication.
//
// The same way, a rank can write. `h.Put(peer, tensor)` copies a tensor into the copy of a peer.

// %% Write into the memory of the neighbour.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
h.Put(right, message)
h.Barrier(0)
t.Float32s()

// %% [markdown]
// `symm.Local` is ordinary memory of one rank: nobody else needs to see the message before it is sent.
//
// `h.Barrier(0)` is new. A rank waits there until all ranks have come. Without it, you might look at your copy before your left neighbour has written
// it. One-sided means that nobody tells you when data has come: **who reads and who writes must agree on a moment**. How to do that for two ranks
// instead of all is the subject of the next tutorial.
//
// ## Mistakes
//
// What if one rank asks for another size?

// %% [fails] Rank 0 wants eight elements, the others four.
n := 4
if rank == 0 {
	n = 8
}
symm.Empty(symm.F32, n)

// %% [markdown]
// Collective calls are compared before anything happens. Without that, the memory would not be symmetric, and a kernel would read past the end of
// a copy an hour later. Here you are told who asked for what, and nothing is broken.
//
// And a rank that does not exist?

// %% [fails] There is no such rank.
h.GetBuffer(size, symm.F32, 4)

// %% [markdown]
// The handle knows how many copies there are, and how large they are. Ask for too much, and you are told as well.

// %% [fails] A copy has four elements.
h.GetBuffer(right, symm.F32, 5)

// %% [markdown]
// ## What belongs where
//
//     memory                      who sees it        how
//     symm.Local(dtype, n)        one rank           kernels of that rank
//     symm.Empty(dtype, n)        all ranks          through a handle
//     a Go variable               one rank           cells
//
// A common pattern: each rank owns a *slot* in everybody's copy. With a slot per rank, nobody overwrites what somebody else has written.

// %% A tensor with one slot for each rank, all empty.
slots := symm.Empty(symm.I32, size).Fill(-1)
hs := symm.Rendezvous(slots)
hs.Barrier(0)
slots.Ints()

// %% [exercise] Gather by hand
// After `gather()`, everybody's `slots` shall hold the square of each rank: slot 0 has 0, slot 1 has 1, slot 2 has 4. Do it by writing: each rank
// puts its square into its own slot of everybody's copy.
//
// `hs.GetBuffer(peer, symm.I32, size)` is all the slots of a peer; `.Slice(a, b)` are elements `a` to `b-1` of a tensor; `.Fill(x)` writes. The last thing
// is a barrier, so that nobody looks too early.

// %% [start]
func gather() {
	slots.Slice(rank, rank+1).Fill(rank * rank)
	hs.Barrier(0)
}

// %% [hint]
// The function that is given writes one copy only: whose? Run `gather()` and look at `slots.Ints()`.

// %% [hint]
// You need a loop over all peers, your own rank among them.

// %% [hint]
// In the loop, the slots of the peer are `hs.GetBuffer(peer, symm.I32, size)`. Your slot there is at your own rank, not at the peer's.

// %% [solution]
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(rank * rank)
	}
	hs.Barrier(0)
}

// %% [wrong]
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(peer, peer+1).Fill(rank * rank)
	}
	hs.Barrier(0)
}

// %% [wrong]
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(rank * rank)
	}
}

// %% [check]
bad, limit := "", symm.Timeout(5*time.Second)
for round := range 40 { // each time another rank is late
	slots.Fill(-1)
	hs.Barrier(7, limit)
	if rank == round%size {
		time.Sleep(5 * time.Millisecond)
	}
	gather()
	for r, got := range slots.Ints() {
		if got == -1 && bad == "" {
			bad = fmt.Sprintf("nobody has written slot %d when gather() returns", r)
		} else if got != r*r && bad == "" {
			bad = fmt.Sprintf("slot %d holds %d, not %d", r, got, r*r)
		}
	}
	hs.Barrier(7, limit)
}
wrong := symm.Empty(symm.I32, 1)
symm.Rendezvous(wrong)
if bad != "" {
	wrong.Fill(1)
}
switch anywhere := symm.OneShotAllReduce(wrong, "max").Ints()[0]; {
case bad != "":
	panic("in my copy " + bad + "; every rank writes its slot in everybody's copy, and then waits for the others")
case anywhere != 0:
	panic("my copy is right, but not that of another rank")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - `symm.Empty` is collective; it gives every rank a copy.
// - `symm.Rendezvous` gives a handle, which knows everybody's copy.
// - `h.GetBuffer` reads and writes the copy of a peer, `h.Put` copies into it. The peer does nothing.
// - Nobody tells a rank that its memory has changed. A barrier is the simplest way to agree on that.
//
// What you wrote in the exercise is an *all-gather*, one of the operations that libraries such as NCCL have: `:doc symm.AllGather`.
//
// Read on: `:tutorial 03` has ranks tell each other that data is there. For the pages behind this one: PyTorch calls the same idea
// `torch.distributed._symmetric_memory`, and NVSHMEM calls it the symmetric heap.
