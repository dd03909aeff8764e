//go:build ignore

// Wrong answers to the exercises of 10-pools-and-graphs. The README says how they are written.

// %% [wrong] Nothing left behind
// says: TODO
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
// says: TODO
func steps(k int) (last float32) {
	for i := range k {
		t := symm.Empty(symm.F32, n).Fill(rank + i)
		symm.Rendezvous(t)
		last = symm.OneShotAllReduce(t, "sum").Float32s()[0]
		t.Free()
	}
	return last
}

// %% [wrong] A step that counts
// says: TODO
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		symm.AllReduce(mine, "sum")
		total.CopyFrom(mine)
	})
}

// %% [wrong] A step that counts
// says: TODO
func record() *symm.Graph {
	return symm.Capture(func() {
		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
		total.CopyFrom(symm.OneShotAllReduce(mine, "sum"))
	})
}
