//go:build ignore

// Hello, ranks: one program, many processes, one prompt.

// %% [markdown]
// # Hello, ranks
//
// One GPU usually has one process. A program for four GPUs usually has four processes, one per GPU. Each process has a
// number, its **rank**, counted from 0. All ranks run the same code:
//
// ![One cell runs on four ranks, and each has an x of its own.](picture:ranks)
//
//     you type:        x := symm.Rank() * 10
//
//     rank 0 runs it   rank 1 runs it   rank 2 runs it   rank 3 runs it
//     x is 0           x is 10          x is 20          x is 30
//
// Usually you write that code into a file, start four processes with a launcher, and read four
// logs. Here you type a cell once, every rank runs it, and you see the result of each rank. You
// need no GPU: without one, each rank is a process on an emulated device in host memory. Start at
// least two ranks: some cells make ranks disagree on purpose. Cells are Go: `tutorials/go-in-ten-minutes.go` is enough
// Go for them if you know Python or C++, and `tutorials/glossary.md` explains the words of the course.

// %% Who are you?
symm.Rank()

// %% [markdown]
// The number in brackets is the rank that answers. The same expression has a different value on every rank.
//
// The number of ranks is called the size of the world.

// %% How many of you are there?
symm.WorldSize()

// %% [markdown]
// This time there is one line for all ranks. Output that is identical on all ranks is shown once, with the prefix `[0-3]`
// (or `[0,1]` if you started two). Output that differs is shown rank by rank, so a problem on one rank stands out.

// %% A variable lives on every rank.
rank, size := symm.Rank(), symm.WorldSize()
square := rank * rank
fmt.Println("the square of", rank, "is", square)

// %% [markdown]
// Each rank has its own variable `square`, in the memory of its own process. Rank 0 cannot read the
// `square` of rank 1: ranks share data only through memory that both can access. The next tutorial
// makes some.
//
// The ranks run cells in *lockstep*: the next cell begins when all ranks have finished this one. Inside a cell they are
// not synchronised; each rank runs at its own speed.

// %% Ranks may do different things.
if rank == 0 {
	fmt.Println("I am the first")
} else if rank == size-1 {
	fmt.Println("I am the last")
}

// %% [markdown]
// An `if` on the rank gives different ranks different jobs. You will see it in every multi-GPU program.

// %% [exercise] Predict: the count of rank 1
// Exercises come in three kinds: predict what a cell shows, repair code that is wrong, write code. First a prediction. Do not run this:
//
//     count := 1
//     if symm.Rank() == 0 {
//         count = 11
//     }
//     count *= symm.Rank() + 2
//
// What is `count` on rank 1? Enter `predict := ` and that number, and check. Then run the lines.

// %% [start]
predict := 0.0

// %% [hint]
// Which ranks run the line in the `if`? Whose `count` does it change?

// %% [hint]
// On rank 1 `count` is still 1 before the last line. What is `symm.Rank() + 2` there?

// %% [solution]
predict := 3

// %% [check]
countOf := func(rank int) float64 {
	count := 1
	if rank == 0 {
		count = 11
	}
	return float64(count * (rank + 2))
}
switch float64(predict) {
case countOf(1):
	fmt.Println("correct")
case 0:
	panic("predict is still 0: set it to the count of rank 1")
case 33:
	panic("33 would be right if rank 0 had changed the count of rank 1: each rank has its own variable")
case countOf(0):
	panic("22 is the count of rank 0, and rank 1 is asked for")
case 2:
	panic("2 is what rank 0 multiplies by: on rank 1 symm.Rank() is 1")
default:
	panic(fmt.Sprintf("the count of rank 1 is not %v: go through the lines as rank 1 does, which skips the one in the if", predict))
}

// %% [markdown]
// Next, a deliberate mistake. What happens to the other ranks when one rank fails?

// %% [fails] One rank divides by zero.
100 / rank

// %% [markdown]
// Rank 0 has an error, with its position in the code. The other ranks have a value. No rank hangs and nothing is lost: your variables are still there.

// %% All ranks are still here.
square

// %% [markdown]
// ## Neighbours
//
// Ranks often communicate in a ring. Every rank has a neighbour on the right and one on the left:
//
// ![A ring of four ranks.](picture:ring)
//
//         ┌─> 0 ──> 1 ──> 2 ──> 3 ─┐
//         └────────────────────────┘
//
// The right neighbour of the last rank is rank 0. The remainder of a division computes that.

// %% The right neighbour of the last rank is the first.
right := (rank + 1) % size
right

// %% [exercise] Repair: first and last
// `role` returns "first" for rank 0 of `size` ranks, "last" for the rank with the highest number, and "middle" for the others. The function below
// counts from the wrong end. Repair it; it must be right for any number of ranks from 2 on. Enter your function as one cell, which replaces it.

// %% [start]
func role(rank, size int) string {
	if rank == 1 {
		return "first"
	}
	if rank == size {
		return "last"
	}
	return "middle"
}

// %% [hint]
// Ranks are counted from 0. Which number has the last of 4 ranks? `role(3, 4)` shows what the function says.

// %% [hint]
// The first rank is 0, and the last one is `size - 1`.

// %% [solution]
func role(rank, size int) string {
	if rank == 0 {
		return "first"
	}
	if rank == size-1 {
		return "last"
	}
	return "middle"
}

// %% [check]
var _ func(rank, size int) string = role // the type that role has to have
for n := 2; n <= 5; n++ {
	for r := range n {
		want := "middle"
		switch r {
		case 0:
			want = "first"
		case n - 1:
			want = "last"
		}
		if got := role(r, n); got != want {
			panic(fmt.Sprintf("role(%d, %d) is %q: of %d ranks, 0 to %d, rank %d is %q", r, n, got, n, n-1, r, want))
		}
	}
}
fmt.Println("correct")

// %% [exercise] The left neighbour
// Write `left`, which returns the left neighbour of a rank in a ring of `size` ranks. The left neighbour of rank 0 is the last rank.
//
// It replaces the function below, which is wrong for rank 0.

// %% [start]
func left(rank, size int) int { return rank - 1 }

// %% [hint]
// What does the given function return for rank 0? Does that rank exist?

// %% [hint]
// In Go, as in C++, the remainder of a negative number is negative: `-1 % 4` is `-1`. So make the number positive before you take the remainder.

// %% [hint]
// One step to the left is the same as `size - 1` steps to the right.

// %% [solution]
func left(rank, size int) int { return (rank + size - 1) % size }

// %% [check]
for n := 2; n <= 5; n++ {
	for r := range n {
		got := left(r, n)
		if got < 0 || got >= n {
			panic(fmt.Sprintf("left(%d, %d) is %d; ranks are 0 to %d", r, n, got, n-1))
		}
		if (got+1)%n != r {
			panic(fmt.Sprintf("left(%d, %d) is %d, but to the right of %d is %d", r, n, got, got, (got+1)%n))
		}
	}
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Every rank runs every cell. `symm.Rank()` is the number of a rank, `symm.WorldSize()` the number of ranks.
// - Identical output is shown once. Output that differs is shown by rank.
// - A rank's variables are its own.
//
// Try a few cells of your own. `:vars` shows the variables of all ranks and `:ranks` the processes. After `:on 0,1`,
// only these two ranks run cells, until `:on all`.
//
// Read on: `:tutorial 02` is about memory that all ranks can access.
