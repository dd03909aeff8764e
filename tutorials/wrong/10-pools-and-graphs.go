//go:build ignore

// Wrong answers to the exercises of 10-pools-and-graphs. The README says how they are written.

// %% [wrong] Nothing left behind
// says: tensors are still taken
@@
-			sum := symm.OneShotAllReduce(t, "sum")
-			last = sum.Float32s()[0]
-			sum.Free()
+			last = symm.OneShotAllReduce(t, "sum").Float32s()[0]

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
@@
-			t.Free()

// %% [wrong] Nothing left behind
// says: the steps must still compute the same sum
@@
-			t := symm.Local(symm.F32, n).Fill(rank + i)
+			t := symm.Local(symm.F32, n).Fill(rank)

// %% [wrong] Nothing left behind
// says: there are 10 blocks
@@
 			symm.Rendezvous(t)
+			defer t.Free() // at the end of the function, not of the step
@@
 			sum := symm.OneShotAllReduce(t, "sum")
+			defer sum.Free()
@@
-			sum.Free()
-			t.Free()

// %% [wrong] A step that counts
// says: is mine still this rank's own?
@@
-		symm.OneShotAllReduceOut(mine, "sum", total)
+		symm.AllReduce(mine, "sum")
+		total.CopyFrom(mine)

// %% [wrong] A step that counts
// says: allocate
@@
-		symm.OneShotAllReduceOut(mine, "sum", total)
+		total.CopyFrom(symm.OneShotAllReduce(mine, "sum"))

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
@@
-		bump.Launch(symm.Grid(1), symm.Block(1), mine, rank+1)
+		bump.Launch(symm.Grid(1), symm.Block(1), mine, 1)

// %% [wrong] A step that counts
// says: the graph must write the sum of mine into it
@@
-		symm.OneShotAllReduceOut(mine, "sum", total)
