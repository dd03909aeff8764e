//go:build ignore

// Wrong answers to the exercises of 05-two-shot. The README says how they are written.

// %% [wrong] Fair slices
// says: one slice has 2 elements, another 4
func slice(r, ranks, n int) (first, end int) {
	each := n / ranks
	if r == ranks-1 {
		return r * each, n
	}
	return r * each, (r + 1) * each
}

// %% [wrong] Fair slices
// says: one slice has 1 elements, another 3
func slice(r, ranks, n int) (first, end int) {
	each := (n + ranks - 1) / ranks
	return r * each, min((r+1)*each, n)
}

// %% [wrong] Fair slices
// says: slice 1 is 2 to 4, but the one before it ends at 1
func slice(r, ranks, n int) (first, end int) { // the last element, not the one after it
	return r * n / ranks, (r+1)*n/ranks - 1
}

// %% [wrong] Fair slices
// says: but the one before it ends at
func slice(r, ranks, n int) (first, end int) {
	return r * n / ranks, r*n/ranks + n/ranks
}

// %% [wrong] Fair slices
// says: the last slice ends at 8
func slice(r, ranks, n int) (first, end int) {
	return r * (n / ranks), (r + 1) * (n / ranks)
}

// %% [wrong] Fair slices
// says: one slice has
func slice(r, ranks, n int) (first, end int) { // the first rank takes the remainder
	each, rest := n/ranks, n%ranks
	if r == 0 {
		return 0, each + rest
	}
	return rest + r*each, rest + (r+1)*each
}
