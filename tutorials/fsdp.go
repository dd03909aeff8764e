//go:build ignore

// A step of fully sharded training (FSDP) on copy engines: each rank keeps a part of every layer's weights. The next
// layer's weights are gathered while this layer is multiplied, and gradients are reduced and scattered behind the
// products of the backward pass.
//
//	symmrepl run -n 4 tutorials/fsdp.go
//	symmrepl trace tutorials/fsdp.go -n 4 --out fsdp.pftrace
//	symmrepl bench fsdp
//
// At a prompt, `:load tutorials/fsdp.go` and `:trace step()` show the timeline.

// %% Layers of d by d weights, of which each rank keeps d/size rows, and as many rows of gradients.
rank, size := symm.Rank(), symm.WorldSize()
const layers, d, batch = 4, 32, 8
shards, grads := make([]*symm.Tensor, layers), make([]*symm.Tensor, layers)
for l := range layers {
	shards[l], grads[l] = symm.Empty(symm.F32, d/size, d), symm.Local(symm.F32, d/size, d)
	symm.Rendezvous(shards[l])
	rows := make([]float32, d/size*d)
	for i := range rows {
		row, col := rank*d/size+i/d, i%d
		if col == (row+l+1)%d || col == (3*row)%d {
			rows[i] = 1
		}
	}
	shards[l].CopyFrom(rows)
}
len(shards)

// %% While a layer is multiplied, the weights of the next `depth` layers arrive in buffers of their own.
depth := 1
buffers := make([]*symm.Tensor, depth+1)
for i := range buffers {
	buffers[i] = symm.Local(symm.F32, d, d)
}

// gather fetches the weights of a layer into a buffer, asynchronously: what comes after it on the current stream does not
// wait. It begins when the products that were issued before it are over, so that the buffer is free.
func gather(l, buffer int) *symm.Work {
	return symm.Async(func() { symm.AllGatherOut(shards[l], buffers[buffer], symm.CopyEngine()) })
}

// each calls use for the layers in an order, with their weights. The gather of a layer is issued before the products of the
// layer `depth` before it.
func each(order []int, use func(l int, weights *symm.Tensor)) {
	works := make([]*symm.Work, len(order))
	for i := 0; i < len(order)+depth; i++ {
		if i < len(order) {
			works[i] = gather(order[i], i%len(buffers))
		}
		if now := i - depth; now >= 0 {
			works[now].Wait()
			use(order[now], buffers[now%len(buffers)])
		}
	}
}

// %% Activations, and the whole gradient of a layer's weights: two, of which one is scattered while the other is multiplied.
acts, wholes := make([]*symm.Tensor, layers+1), make([]*symm.Tensor, 2)
for i := range acts {
	acts[i] = symm.Local(symm.F32, batch, d)
}
for i := range wholes {
	wholes[i] = symm.Empty(symm.F32, d, d)
	symm.Rendezvous(wholes[i])
}
var up, down []int
for l := range layers {
	up, down = append(up, l), append(down, layers-1-l)
}

// step calculates the gradients of all layers for this rank's part of the batch, averaged over the ranks.
func step() {
	each(up, func(l int, weights *symm.Tensor) { symm.MatMul(acts[l+1], acts[l], weights) })
	dy := acts[layers] // the gradient of half the sum of squares
	scatters := make([]*symm.Work, layers)
	each(down, func(l int, weights *symm.Tensor) {
		if l+2 < layers {
			scatters[l+2].Wait() // its tensor is used again
		}
		whole := symm.MatMul(wholes[l%2], acts[l].Transpose(), dy)
		scatters[l] = symm.Async(func() { symm.ReduceScatterOut(whole, "avg", grads[l], symm.CopyEngine()) })
		dy = symm.MatMul(symm.Local(symm.F32, batch, d), dy, weights, symm.TransposedB())
	})
	for _, w := range scatters {
		w.Wait()
	}
}

// %% The same on one stream, with nothing beside anything: the gradients to compare with.
func plainly() []float32 {
	for l := range layers {
		symm.MatMul(acts[l+1], acts[l], symm.AllGather(shards[l]))
	}
	dy, sums := acts[layers], make([]float32, layers)
	for l := layers - 1; l >= 0; l-- {
		symm.MatMul(wholes[0], acts[l].Transpose(), dy)
		symm.ReduceScatterOut(wholes[0], "avg", grads[l])
		sums[l] = grads[l].Sum().Float32s()[0]
		dy = symm.MatMul(symm.Local(symm.F32, batch, d), dy, symm.AllGather(shards[l]), symm.TransposedB())
	}
	return sums
}

acts[0].CopyFrom(func() []float32 {
	x := make([]float32, batch*d)
	for i := range x {
		x[i] = float32((i*5+rank)%3 - 1)
	}
	return x
}())
want := plainly()
want

// %% One after the other and overlapped, the gradients are equal.
step()
for l := range layers {
	if got := grads[l].Sum().Float32s()[0]; got != want[l] {
		panic(fmt.Sprintf("layer %d: %v, want %v", l, got, want[l]))
	}
}
fmt.Println("equal")

// %% How a gather and a scatter went.
fmt.Println(symm.Explain(func() {
	gather(0, 0).Wait()
	symm.ReduceScatterOut(wholes[0], "avg", grads[0], symm.CopyEngine())
}))

// %% Deeper prefetch needs a buffer more for each layer.
depth = 2
buffers = append(buffers, symm.Local(symm.F32, d, d))
step()
same := true
for l := range layers {
	same = same && grads[l].Sum().Float32s()[0] == want[l]
}
same
