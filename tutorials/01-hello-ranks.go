//go:build ignore

// Hello, ranks: one program, many processes, one prompt.

// %% [markdown]
// # Hello, ranks
//
// A program for one GPU is one process. A program for four GPUs is usually four processes, one for each GPU. Each process has a
// number, its **rank**, counted from 0. All of them run the same code:
//
//     you type:        x := symm.Rank() * 10
//
//     rank 0 runs it   rank 1 runs it   rank 2 runs it   rank 3 runs it
//     x is 0           x is 10          x is 20          x is 30
//
// Usually you write that code into a file, start four processes with a launcher, and read four logs. Here you type a cell once, and every
// rank runs it. Then you see what each of them got. You need no GPU: without one, a rank is a process with some memory that stands for a GPU's.

// %% Who are you?
symm.Rank()

// %% [markdown]
// The number in brackets says which rank answers. The same expression has another value on every rank.
//
// The number of ranks is called the size of the world.

// %% How many of you are there?
symm.WorldSize()

// %% [markdown]
// Now there is one line for all of them. When ranks print exactly the same, you see it once, and `[0-3]` (or `[0,1]`, if you have started
// two) says who printed it. When they differ, you see who said what. So when something is wrong on one rank only, it stands out.

// %% A variable lives on every rank.
rank, size := symm.Rank(), symm.WorldSize()
square := rank * rank
fmt.Println("the square of", rank, "is", square)

// %% [markdown]
// There are as many variables `square` as ranks. Each is in the memory of its own process. Rank 0 cannot read the `square` of rank 1: to get data
// across, somebody has to send it. How, is the subject of all tutorials that follow.
//
// The ranks run a cell in *lockstep*: the next cell begins when all ranks are done with this one. Inside of a cell they are not in step. Each runs
// at its own speed.

// %% Ranks may do different things.
if rank == 0 {
	fmt.Println("I am the first")
} else if rank == size-1 {
	fmt.Println("I am the last")
}

// %% [markdown]
// An `if` on the rank is how one program gives ranks different jobs. You will see it in every multi-GPU program.
//
// Next, a mistake on purpose. What happens to the others when one rank fails?

// %% [fails] One rank divides by zero.
100 / rank

// %% [markdown]
// Rank 0 has an error, with the place where it happened. The others have a value. Nobody hangs, nothing is lost: your variables are still there.

// %% Everybody is still here.
square

// %% [markdown]
// ## Neighbours
//
// Ranks often work in a ring. Everybody has a neighbour on the right and one on the left:
//
//         ┌─> 0 ──> 1 ──> 2 ──> 3 ─┐
//         └────────────────────────┘
//
// To the right of the last rank comes rank 0 again. The remainder of a division does that.

// %% To the right of the last is the first.
right := (rank + 1) % size
right

// %% [exercise] The left neighbour
// Write `left`, which returns the neighbour on the left of a rank, in a ring of `size` ranks. To the left of rank 0 is the last rank.
//
// Enter your function as one cell. It takes the place of the one below, which is wrong.

// %% [start]
func left(rank, size int) int { return rank - 1 }

// %% [hint]
// What does the function that is given return for rank 0? Is there such a rank?

// %% [hint]
// In Go, as in C++, the remainder of a negative number is negative: `-1 % 4` is `-1`. So make the number positive before you take the remainder.

// %% [hint]
// Going one step to the left is the same as going `size - 1` steps to the right.

// %% [solution]
func left(rank, size int) int { return (rank + size - 1) % size }

// %% [wrong]
func left(rank, size int) int { return (rank - 1) % size }

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
// - Every rank runs every cell; `symm.Rank()` tells them apart, `symm.WorldSize()` counts them.
// - Output that is the same is shown once. What differs is shown by rank.
// - A rank's variables are its own.
//
// Try a few cells of your own. `:vars` shows the variables of all ranks, `:ranks` the processes, and `:on 0,1` has only two ranks run the cells
// that follow, until `:on all`.
//
// Read on: `:tutorial 02` is about memory that all ranks can reach.
