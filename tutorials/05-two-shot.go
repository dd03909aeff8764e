//go:build ignore

// Two-shot all-reduce: fewer bytes for long vectors, and when to use which.

// %% [markdown]
// # Two-shot, and when to use which
//
// In a one-shot all-reduce every rank reads the vectors of all ranks. With `N` ranks and vectors of `S` bytes,
// `(N-1)·S` bytes cross each rank's links, and all ranks compute the same sums.
//
// To avoid this waste, share the work: each rank is responsible for one *slice* of the vector.
//
// ![First shot: each rank adds up one slice of all vectors. Second shot: it stores the sums to all ranks.](picture:two-shot)
//
//     slice:        0        1        2        3
//     rank 0      [sum]   ───────────────────────     first shot:  rank r reads slice r of all ranks, and adds
//     rank 1      ───────  [sum]   ──────────────
//     rank 2      ────────────────  [sum]   ─────     second shot: rank r stores its sums to all ranks
//     rank 3      ─────────────────────────  [sum]
//
// The first shot is called a *reduce-scatter*, the second an *all-gather*.
//
// Start it on one host: its kernels read and write the memory of all ranks, which works only inside a host.

// %% Count the bytes that a rank moves, for four ranks and one MiB.
func oneShot(ranks, bytes int) int { return (ranks - 1) * bytes }
func twoShot(ranks, bytes int) int { return 2 * (ranks - 1) * bytes / ranks }

fmt.Println("4 ranks: one-shot", oneShot(4, 1<<20), "two-shot", twoShot(4, 1<<20))
fmt.Println("2 ranks: one-shot", oneShot(2, 1<<20), "two-shot", twoShot(2, 1<<20))

// %% [markdown]
// With four ranks, two-shot moves half as many bytes. With two ranks the number is the same.

// %% [exercise] Predict: eight ranks
// With eight ranks, one-shot moves more bytes than two-shot. How many times more? Divide the one by the other: the two formulas are functions now.

// %% [start]
predict := 0.0

// %% [hint]
// One-shot moves 7·S bytes with eight ranks. How many does two-shot move, in terms of S?

// %% [hint]
// Two-shot moves 2·7·S/8. Divide 7·S by that.

// %% [solution]
predict := oneShot(8, 1<<20) / twoShot(8, 1<<20)

// %% [check]
switch truth := float64(oneShot(8, 1<<20)) / float64(twoShot(8, 1<<20)); float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: divide the bytes of one-shot by those of two-shot")
case 1 / truth:
	panic("it is the other way round: one-shot moves more")
case 8, 7:
	panic(fmt.Sprintf("%v would be right if the slices travelled once: they travel to the rank that adds, and from there to all", predict))
case 2:
	panic("2 is the answer for four ranks")
case 3.5:
	panic("two-shot moves 2·(N-1)·S/N bytes, not 2·S: a rank does not send its own slice to itself")
default:
	panic(fmt.Sprintf("not %v: divide (N-1)·S by 2·(N-1)·S/N, for N = 8", predict))
}

// %% [markdown]
// Why use one-shot at all? Because in two-shot the data travels twice, one time after the other: first to the rank that
// adds, then from there to all ranks. In one-shot it travels once. Another trip between the GPUs takes most of a
// microsecond, and for short vectors the trips take most of the time.
//
// ## The kernel
//
// Our kernel works in place: the sums replace the vector. May a rank overwrite the vectors of others while they still
// read? Here it may: only rank `r` reads slice `r`, and only rank `r` writes it.

// %% A vector for each rank.
rank, size := symm.Rank(), symm.WorldSize()
n := 128
x := symm.Empty(symm.F32, n)
h := symm.Rendezvous(x)

// %% Each rank adds up its slice and stores the sums to all ranks.
sum := symm.Compile(`
__global__ void sum(symm::Handle h, int n) {
  if (!symm::barrier(h, 0)) return;              // all vectors are there
  int each = n / h.world_size, first = h.rank * each;
  for (int i = first + threadIdx.x; i < first + each; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    for (int p = 0; p < h.world_size; p++) h.buffer<float>(p)[i] = total;
  }
  symm::barrier(h, 0);                           // all sums are there
}`)
x.Fill(rank + 1)
sum.Launch(symm.Grid(1), symm.Block(64), h, n)
result := x.Float32s()
fmt.Println(result[0], result[n-1])

// %% [markdown]
// There is one barrier at the beginning and one at the end, as before. The second one now has two purposes: all sums
// have arrived, and all ranks are done.
//
// ## A mistake
//
// The kernel divides `n` by the number of ranks. What happens to the remainder?

// %% With 127 elements, some are left out.
x.Fill(rank + 1)
sum.Launch(symm.Grid(1), symm.Block(64), h, 127)
result = x.Float32s()
fmt.Println("the sum is", result[0], "and element 126 is", result[126])

// %% [markdown]
// The last elements belong to no rank and keep each rank's own number. No error, no crash: only a wrong number at the
// end. A test with 128 elements would not find this. So test with lengths that the number of ranks does not divide.

// %% [exercise] Repair: the remainder
// `whole` is the kernel `sum` under another name. Repair it so that it adds up all `n` elements, for any `n`, and touches nothing behind
// them. How the slices are
// divided is up to you, but each element belongs to one rank. It is launched with one block of 64 threads.

// %% [start]
whole := symm.Compile(`
__global__ void whole(symm::Handle h, int n) {
  if (!symm::barrier(h, 0)) return;
  int each = n / h.world_size, first = h.rank * each, end = first + each;
  for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    for (int p = 0; p < h.world_size; p++) h.buffer<float>(p)[i] = total;
  }
  symm::barrier(h, 0);
}`)

// %% [hint]
// The loop is right if `first` and `end` are. Which elements are in no slice when 4 ranks share 127?

// %% [hint]
// The simplest repair lets the last rank take what remains: there, `end` is `n`. (The next exercise is about fairness.)

// %% [hint]
// `if (h.rank == h.world_size - 1) end = n;` after the line with `each`.

// %% [solution]
whole := symm.Compile(`
__global__ void whole(symm::Handle h, int n) {
  if (!symm::barrier(h, 0)) return;
  int each = n / h.world_size, first = h.rank * each, end = first + each;
  if (h.rank == h.world_size - 1) end = n;
  for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    for (int p = 0; p < h.world_size; p++) h.buffer<float>(p)[i] = total;
  }
  symm::barrier(h, 0);
}`)

// %% [check]
verdict := symm.Empty(symm.I32, 5)
symm.Rendezvous(verdict)
fresh := make([]int, n)
for i := range fresh {
	fresh[i] = 1 + (7*i+13*rank)%50
}
sums := symm.OneShotAllReduce(x.CopyFrom(fresh), "sum").Float32s()
for _, length := range []int{127, 128, 126, 101, 5, 1} {
	x.CopyFrom(fresh)
	found := make([]int, 5) // mistakes found on this rank, in the order of the messages below
	if symm.Maybe(func() {
		whole.Launch(symm.Grid(1), symm.Block(64), h, length, symm.Timeout(2*time.Second))
		symm.Synchronize()
	}) != nil {
		found[0] = 1
	}
	symm.Recover()
	for i, got := range x.Float32s() {
		switch {
		case i >= length && got != float32(fresh[i]):
			found[1] = 1
		case i >= length || got == sums[i]:
		case got == float32(fresh[i]):
			found[2] = 1
		default:
			found[3] = 1
		}
	}
	switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
	case found[0] > 0:
		panic("a barrier gave up: all ranks must reach each barrier, with all threads of the block")
	case found[1] > 0:
		panic(fmt.Sprintf("of n = %d elements: the kernel changed an element behind the last one; no slice may end after n", length))
	case found[2] > 0:
		panic(fmt.Sprintf("of n = %d elements, some belong to no rank: they are not the sum", length))
	case found[3] > 0:
		panic(fmt.Sprintf("of n = %d elements, some were added up by two ranks, the second time with sums in them: each element belongs to one rank", length))
	}
}

// On the emulated device the sanitizer grades your code, and its result does not depend on which rank comes first. It watches fewer
// ranks, on which the kernel must be right, too.
few := max(size-1, min(size, 2))
part := symm.NewGroup(symm.World().Ranks()[:few]...)
symm.Sanitize(true, 0)
symm.Findings() // those of before
x.Fill(rank + 1)
wrong := 0
if rank < few {
	hPart := symm.Rendezvous(x, part)
	if symm.Maybe(func() {
		whole.Launch(symm.Grid(1), symm.Block(64), hPart, 0, symm.Timeout(20*time.Second)) // compiled for the sanitizer
		whole.Launch(symm.Grid(1), symm.Block(64), hPart, n, symm.Timeout(2*time.Second))
		hPart.Barrier(1, symm.Timeout(2*time.Second))
		if !x.Equal(few * (few + 1) / 2) {
			wrong = 1
		}
		whole.Launch(symm.Grid(1), symm.Block(64), hPart, n, symm.Timeout(2*time.Second))
		x.CopyFrom(fresh) // may a rank do this?
		symm.Synchronize()
	}) != nil {
		wrong = 1
	}
}
symm.Recover()
findings := symm.Findings()
symm.Sanitize(false, 0)
part.Free()
switch now := symm.AllReduce(verdict.CopyFrom([]int{wrong, 0, 0, 0, len(findings)}), "max").Ints(); {
case now[0] > 0 && few < size:
	panic(fmt.Sprintf("it is right on %d ranks, but not on %d: h.world_size is their number", size, few))
case now[0]+now[4] > 0:
	said := "the sums are right, but the sanitizer finds accesses that nothing orders: two ranks share an element, or a barrier is missing"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [exercise] Fair slices
// Write `slice(r, ranks, n)`. It returns where the slice of rank `r` begins and where it ends (the first element after
// it). Together, the slices must cover all `n` elements in order, and their lengths must differ by at most one.

// %% [start]
func slice(r, ranks, n int) (first, end int) {
	each := n / ranks
	return r * each, (r + 1) * each
}

// %% [hint]
// Let 4 ranks share 10 elements. Slices of 3, 3, 2, 2, in any order, are fair. Which elements does the given function leave out?

// %% [hint]
// If the last rank takes the whole remainder, nothing is left out, but it is not fair: of 7 elements, the last of 4 ranks would take 4.

// %% [hint]
// Each slice begins where the previous one ends. So one formula is enough: the beginning of slice `r`. It must be 0 for `r = 0` and `n` for `r = ranks`.

// %% [hint]
// Multiply first, then divide: `r * n / ranks`.

// %% [solution]
func slice(r, ranks, n int) (first, end int) {
	return r * n / ranks, (r + 1) * n / ranks
}

// %% [check]
var _ func(r, ranks, n int) (int, int) = slice // the type that slice has to have
for _, c := range [][]int{{4, 10}, {4, 7}, {4, 4}, {4, 3}, {2, 127}, {3, 0}, {3, 10}, {8, 9}} {
	ranks, n := c[0], c[1]
	at, shortest, longest := 0, n, 0
	for r := range ranks {
		first, end := slice(r, ranks, n)
		if first != at || end < first {
			panic(fmt.Sprintf("%d ranks share %d elements: slice %d is %d to %d, but the one before it ends at %d", ranks, n, r, first, end, at))
		}
		at = end
		shortest = min(shortest, end-first)
		longest = max(longest, end-first)
	}
	if at != n {
		panic(fmt.Sprintf("%d ranks share %d elements: the last slice ends at %d", ranks, n, at))
	}
	if longest-shortest > 1 {
		panic(fmt.Sprintf("%d ranks share %d elements: one slice has %d elements, another %d", ranks, n, shortest, longest))
	}
}
fmt.Println("correct")

// %% [markdown]
// ## When to use which?
//
// symmrepl has both, and both take any length.

// %% The same sums, by both algorithms.
x.Fill(rank + 1)
one := symm.OneShotAllReduce(x, "sum").Float32s()
two := symm.TwoShotAllReduce(x, "sum").Float32s()
fmt.Println(one[0], two[0])

// %% [markdown]
// `symm.AllReduce` chooses between them, and `symm.Explain` shows what it chooses and why.

// %% [varies] A short vector, and a long one.
long := symm.Empty(symm.F32, 1<<20)
symm.Rendezvous(long)
fmt.Println(symm.Explain(func() { symm.AllReduce(x, "sum") }))
fmt.Println(symm.Explain(func() { symm.AllReduce(long, "sum") }))

// %% [markdown]
// The output depends on your device. As a rule of thumb, on GPUs linked by NVLink:
//
//     vectors                ranks     use
//     up to some 100 KiB     any       one-shot: the fewest trips
//     longer                 2         either: they move the same bytes
//     longer                 4 or 8    two-shot: the fewest bytes
//
// A rule of thumb is not a measurement. The limit depends on the links, and tutorial 12 shows how to measure it.
//
// ## What you know now
//
// - Two-shot is a reduce-scatter and an all-gather. It moves fewer bytes, and has one more trip.
// - Slices that belong to one rank need no lock.
// - Test with lengths that the number of ranks does not divide.
//
// Read on: `:tutorial 06` is about programs that hang, and how to find out why.
