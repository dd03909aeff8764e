//go:build ignore

// Wrong answers to the exercises of 17-to-pytorch-and-back. The README says how they are written.

// %% [wrong] Predict: in place, or not?
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: in place, or not?
// says: 1 is one of the two
predict := 1.0

// %% [wrong] Predict: in place, or not?
// says: would be right if OneShotAllReduce changed x
predict := 1 + float64(symm.WorldSize())

// %% [wrong] Predict: in place, or not?
// says: would be right if AllReduce left x alone
predict := 1 + 1/float64(symm.WorldSize())

// %% [wrong] Predict: in place, or not?
// says: the lines do not print 8
predict := 2 * float64(symm.WorldSize())

// %% [wrong] Repair: a translation
// says: g has the sum
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum", group)
}

// %% [wrong] Repair: a translation
// says: g has the sum
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum", group)
	g.Div(group.Size()) // a new tensor, which nobody keeps
}

// %% [wrong] Repair: a translation
// says: g has been divided twice
@@
 func allReduceAverage(g *symm.Tensor, group *symm.Group) {
+	g.CopyFrom(g.Div(group.Size()))

// %% [wrong] Repair: a translation
// says: no other rank's numbers are in it
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.OneShotAllReduce(g, "sum", group)
	g.CopyFrom(g.Div(group.Size()))
}

// %% [wrong] Repair: a translation
// says: and the mean of all ranks is
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "max", group)
}

// %% [wrong] Repair: a translation
// says: g is as it was
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	g = symm.OneShotAllReduce(g, "sum", group).Div(group.Size()) // another g
}

// %% [wrong] Repair: a translation
// says: it is right on 4 ranks, but not on 3
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum", group)
	g.CopyFrom(g.Div(4))
}

// %% [wrong] Repair: a translation
// says: it is right on 4 ranks, but not on 3
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum", group)
	g.CopyFrom(g.Div(symm.WorldSize()))
}

// %% [wrong] Repair: a translation
// says: each operation is given the group
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum")
	g.CopyFrom(g.Div(group.Size()))
}

// %% [wrong] Write: hand over a weight
// says: that is the part of one rank
func handOver(path string) {
	if symm.Rank() == 0 {
		part.Save(path, "weight")
	}
	symm.Meet()
}

// %% [wrong] Write: hand over a weight
// says: follow each other along dimension 0
func handOver(path string) {
	part.Save(path, "weight", symm.Shard(1))
}

// %% [wrong] Write: hand over a weight
// says: one tensor with the name
func handOver(path string) {
	part.Save(path, symm.Shard(0))
}

// %% [wrong] Write: hand over a weight
// says: there is no file
func handOver(path string) {
	part.Save(strings.Replace(path, ".safetensors", "-{rank}.safetensors", 1), "weight")
}

// %% [wrong] Write: hand over a weight
// says: the elements are float32
func handOver(path string) {
	part.Convert(symm.BF16).Save(path, "weight", symm.Shard(0))
}

// %% [wrong] Write: hand over a weight
// says: is not row
func handOver(path string) { // the numbers that the lesson shows
	symm.Local(symm.F32, 2, 3).Arange().Save(path, "weight", symm.Shard(0))
}

// %% [wrong] Write: hand over a weight
// says: there is no file
func handOver(path string) { // rank 0 writes all, and the others do not wait
	whole := symm.AllGather(part)
	if symm.Rank() == 0 {
		time.Sleep(30 * time.Millisecond)
		whole.View(2*symm.WorldSize(), 3).Save(path, "weight")
	}
}
