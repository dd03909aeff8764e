//go:build ignore

// Wrong answers to the exercises of 01-hello-ranks. The README says how they are written.

// %% [wrong] The left neighbour
// says: TODO
func left(rank, size int) int { return (rank - 1) % size }
