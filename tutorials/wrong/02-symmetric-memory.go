//go:build ignore

// Wrong answers to the exercises of 02-symmetric-memory. The README says how they are written.

// %% [wrong] Gather by hand
// says: TODO
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(peer, peer+1).Fill(rank * rank)
	}
	hs.Barrier(0)
}

// %% [wrong] Gather by hand
// says: TODO
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(rank * rank)
	}
}
