//go:build ignore

// Wrong answers to the exercises of 06-deadlocks. The README says how they are written.

// %% [wrong] Fix the exchange
// says: exchange(1) hangs: no rank may wait before it has put
func exchange(rounds int) {
	for range rounds {
		h.WaitSignal(right, 0, limit)
		h.WaitSignal(left, 1, limit)
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: puts and waits must come in pairs
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: the exchange ends although a neighbour is still missing
func exchange(rounds int) {}

// %% [wrong] Fix the exchange
// says: the exchange ends although a neighbour is still missing
func exchange(rounds int) {
	h.PutSignal(left, 0, limit)
	h.PutSignal(right, 1, limit)
	h.WaitSignal(right, 0, limit)
	h.WaitSignal(left, 1, limit)
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: but not with two, whose left and right are the same
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 0, limit)
		h.WaitSignal(left, 0, limit)
		h.WaitSignal(right, 0, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: exchange(1) hangs: no rank may wait before it has put
func exchange(rounds int) {
	const toLeft, toRight = 0, 1
	for range rounds {
		h.PutSignal(left, toLeft, limit)
		h.PutSignal(right, toRight, limit)
		h.WaitSignal(right, toRight, limit)
		h.WaitSignal(left, toLeft, limit)
	}
	symm.Synchronize()
}
