//go:build ignore

// Wrong answers to the exercises of 03-signals. The README says how they are written.

// %% [wrong] Pass it on
// says: TODO
func relay() {
	if rank == 0 {
		pass(1)
		hToken.PutSignal(right, 0)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
	hToken.PutSignal(right, 0)
}

// %% [wrong] Pass it on
// says: TODO
func relay() {
	if rank != 0 {
		pass(2 * token.Ints()[0])
	} else {
		pass(1)
	}
	hToken.PutSignal(right, 0)
	hToken.WaitSignal(left, 0)
}

// %% [wrong] Pass it on
// says: TODO
func relay() {
	if rank == 0 {
		token.Fill(1 << (size - 1))
	}
}
