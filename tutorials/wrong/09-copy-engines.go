//go:build ignore

// Wrong answers to the exercises of 09-copy-engines. The README says how they are written.

// %% [wrong] A pipeline
// says: a piece is sent before it is computed
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: send each piece as soon as it is computed
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
	}
	ready.Record()
	ready.Wait(side)
	for i := range pieces {
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: let neither the main stream nor the host wait for it
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.Synchronize()
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: let neither the main stream nor the host wait for it
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		ready.Record()
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
		ready.Record(side)
		ready.Wait()
	}
}

// %% [wrong] A pipeline
// says: a piece is sent before it is computed
func pipeline(pieces int) {
	for i := range pieces {
		ready.Record()
		compute(i)
		ready.Wait(side)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: is each piece computed and sent?
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
	}
}
