//go:build ignore

// Wrong answers to the exercises of 06-deadlocks. The README says how they are written.

// %% [wrong] Fix the exchange
// says: TODO
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
// says: TODO
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 1, limit)
	}
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: TODO
func exchange(rounds int) {}

// %% [wrong] Fix the exchange
// says: TODO
func exchange(rounds int) {
	h.PutSignal(left, 0, limit)
	h.PutSignal(right, 1, limit)
	h.WaitSignal(right, 0, limit)
	h.WaitSignal(left, 1, limit)
	symm.Synchronize()
}

// %% [wrong] Fix the exchange
// says: TODO
func exchange(rounds int) {
	for range rounds {
		h.PutSignal(left, 0, limit)
		h.PutSignal(right, 0, limit)
		h.WaitSignal(left, 0, limit)
		h.WaitSignal(right, 0, limit)
	}
	symm.Synchronize()
}
