//go:build ignore

// Wrong answers to the exercises of 10-pools-and-graphs. The README says how they are written.

// %% [wrong] Nothing left behind
// says: tensors are still taken
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			last = symm.OneShotAllReduce(t, "sum").Float32s()[0]
			t.Free()
		}
	})
	return last
}

// %% [wrong] Nothing left behind
// says: have taken 0 tensors from the pool, not 10
func steps(k int) (last float32) {
	for i := range k {
		t := symm.Empty(symm.F32, n).Fill(rank + i)
		symm.Rendezvous(t)
		last = symm.OneShotAllReduce(t, "sum").Float32s()[0]
		t.Free()
	}
	return last
}

// %% [wrong] Nothing left behind
// says: tensors are still taken
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			sum := symm.OneShotAllReduce(t, "sum")
			last = sum.Float32s()[0]
			sum.Free()
		}
	})
	return last
}

// %% [wrong] Nothing left behind
// says: the steps must still compute the same sum
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank)
			symm.Rendezvous(t)
			sum := symm.OneShotAllReduce(t, "sum")
			last = sum.Float32s()[0]
			sum.Free()
			t.Free()
		}
	})
	return last
}

// %% [wrong] Nothing left behind
// says: there are 10 blocks
func steps(k int) (last float32) {
	symm.UseMemPool(func() {
		for i := range k {
			t := symm.Local(symm.F32, n).Fill(rank + i)
			symm.Rendezvous(t)
			defer t.Free() // at the end of the function, not of the step
			sum := symm.OneShotAllReduce(t, "sum")
			defer sum.Free()
			last = sum.Float32s()[0]
		}
	})
	return last
}

// %% [wrong] A step that counts
// says: is mine still this rank's own?
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		symm.AllReduce(mine, "sum")
		total.CopyFrom(mine)
	})
}

// %% [wrong] A step that counts
// says: allocate
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		total.CopyFrom(symm.OneShotAllReduce(mine, "sum"))
	})
}

// %% [wrong] A step that counts
// says: the graph has recorded a number
func record() *symm.Graph {
	steps := 0
	return symm.Capture(func() {
		steps++
		mine.Fill(steps * (rank + 1))
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [wrong] A step that counts
// says: record() itself must do nothing on the device
func record() *symm.Graph {
	bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
	return symm.Capture(func() {
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [wrong] A step that counts
// says: each replay adds rank + 1 to mine
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, 1)
		symm.OneShotAllReduceOut(mine, "sum", total)
	})
}

// %% [wrong] A step that counts
// says: the graph must write the sum of mine into it
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
	})
}
