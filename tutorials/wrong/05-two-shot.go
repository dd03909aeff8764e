//go:build ignore

// Wrong answers to the exercises of 05-two-shot. The README says how they are written.

// %% [wrong] Fair slices
// says: TODO
func slice(r, ranks, n int) (first, end int) {
	each := n / ranks
	if r == ranks-1 {
		return r * each, n
	}
	return r * each, (r + 1) * each
}

// %% [wrong] Fair slices
// says: TODO
func slice(r, ranks, n int) (first, end int) {
	each := (n + ranks - 1) / ranks
	return r * each, min((r+1)*each, n)
}
