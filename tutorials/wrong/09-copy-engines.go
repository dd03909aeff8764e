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

// %% [wrong] Predict: four pieces
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: four pieces
// says: 1700 would be right if everything had to arrive first
predict := 1700.0

// %% [wrong] Predict: four pieces
// says: 800 is the time of the products alone
predict := 800.0

// %% [wrong] Predict: four pieces
// says: at 900 the last piece arrives
predict := 900.0

// %% [wrong] Predict: four pieces
// says: it arrives at 300
predict := 1000.0

// %% [wrong] Predict: four pieces
// says: each product begins when its rows are there
predict := 1300.0
