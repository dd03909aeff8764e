//go:build ignore

// Wrong answers to the exercises of 01-hello-ranks. The README says how they are written.

// %% [wrong] The left neighbour
// says: left(0, 2) is -1; ranks are 0 to 1
func left(rank, size int) int { return (rank - 1) % size }

// %% [wrong] The left neighbour
// says: left(0, 2) is 2; ranks are 0 to 1
func left(rank, size int) int { return size - rank }

// %% [wrong] The left neighbour
// says: left(0, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int { return (rank + 1) % size }

// %% [wrong] The left neighbour
// says: left(1, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int { return size - 1 - rank }

// %% [wrong] The left neighbour
// says: ranks are 0 to 1
func left(rank, size int) int {
	if rank == 0 {
		return symm.WorldSize() - 1
	}
	return rank - 1
}

// %% [wrong] The left neighbour
// says: left(0, 3) is 1, but to the right of 1 is 2
func left(rank, size int) int {
	if rank == 0 {
		return 1
	}
	return rank - 1
}
