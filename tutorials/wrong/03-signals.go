//go:build ignore

// Wrong answers to the exercises of 03-signals. The README says how they are written.

// %% [wrong] Pass it on
// says: all ranks wait, and nobody has signalled
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	hToken.WaitSignal(left, 0) // rank 0, too
	if rank == 0 {
		pass(first)
		return
	}
	pass(2 * token.Ints()[0])
}

// %% [wrong] Pass it on
// says: all ranks wait, and nobody has signalled
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
}

func relay() {
	if rank == 0 {
		pass(first)
		hToken.WaitSignal(left, 0)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
}

// %% [wrong] Pass it on
// says: the wait must name the rank that signals, and its channel
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(first)
		hToken.WaitSignal(left, 0)
		return
	}
	hToken.WaitSignal(right, 0)
	pass(2 * token.Ints()[0])
}

// %% [wrong] Pass it on
// says: the wait must name the rank that signals, and its channel
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(first)
		hToken.WaitSignal(left, 0)
		return
	}
	hToken.WaitSignal(left, 1)
	pass(2 * token.Ints()[0])
}

// %% [wrong] Pass it on
// says: does everybody wait before it looks
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
}

func relay() {
	if rank != 0 {
		pass(2 * token.Ints()[0])
	} else {
		pass(first)
	}
	hToken.PutSignal(right, 0)
	hToken.WaitSignal(left, 0)
}

// %% [wrong] Pass it on
// says: no rank has waited for some signal
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(first)
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
}

// %% [wrong] Pass it on
// says: has never had the token
func relay() { // no communication: only rank 0 knows the number
	if rank == 0 {
		token.Fill(first << (size - 1))
	}
}

// %% [wrong] Pass it on
// says: only the others double it
func pass(n int) {
	hToken.Put(right, symm.Local(symm.I32, 1).Fill(n))
	hToken.PutSignal(right, 0)
}

func relay() {
	if rank == 0 {
		pass(first)
		hToken.WaitSignal(left, 0)
		token.Fill(2 * token.Ints()[0])
		return
	}
	hToken.WaitSignal(left, 0)
	pass(2 * token.Ints()[0])
}
