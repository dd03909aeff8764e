//go:build ignore

// Wrong answers to the exercises of 09-copy-engines. The README says how they are written.

// %% [wrong] A pipeline
// says: TODO
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: TODO
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
// says: TODO
func pipeline(pieces int) {
	for i := range pieces {
		compute(i)
		symm.Synchronize()
		symm.OnStream(side, func() { send(i) })
	}
}

// %% [wrong] A pipeline
// says: TODO
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
