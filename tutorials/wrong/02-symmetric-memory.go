//go:build ignore

// Wrong answers to the exercises of 02-symmetric-memory. The README says how they are written.

// %% [wrong] Gather by hand
// says: only rank
func gather() { // no communication: the numbers that the lesson shows
	for r := range size {
		slots.Slice(r, r+1).Fill(7*r + 3)
	}
	hs.Barrier(0)
}

// %% [wrong] Gather by hand
// says: each rank writes into its own slot of everybody's copy
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(peer, peer+1).Fill(secret)
	}
	hs.Barrier(0)
}

// %% [wrong] Gather by hand
// says: gather() must wait until all ranks have written
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
	}
}

// %% [wrong] Gather by hand
// says: gather() must wait until all ranks have written
func gather() {
	hs.Barrier(0)
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
	}
}

// %% [wrong] Gather by hand
// says: only rank
func gather() {
	for peer := range size {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(rank * rank)
	}
	hs.Barrier(0)
}

// %% [wrong] Gather by hand
// says: nobody has written slot
func gather() {
	for peer := range rank {
		hs.GetBuffer(peer, symm.I32, size).Slice(rank, rank+1).Fill(secret)
	}
	hs.Barrier(0)
}
