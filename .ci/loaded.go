//go:build ignore

// Runs kernels that Triton and nvcc have compiled on this machine for its GPU. LOADED names their
// folder. Every cell panics if a result is wrong.

// %% Triton: x += a * y, from the metadata, and from the cubin and PTX alone.
folder := os.Getenv("LOADED") + "/"
rank, size := symm.Rank(), symm.WorldSize()
n := 100_000
expect := func(what string, t *symm.Tensor, want func(i int) int) {
	for i, got := range t.Ints() {
		if got != want(i) {
			panic(fmt.Sprintf("%s: element %d is %d, not %d", what, i, got, want(i)))
		}
	}
	if rank == 0 {
		fmt.Println("right:", what)
	}
}
x, y := symm.Local(symm.F32, n).Arange(), symm.Local(symm.F32, n).Fill(2)
blocks := symm.Grid((n + 255) / 256)
own := []string{"*fp32", "*fp32", "i64", "fp32"}
for i, add := range []*symm.Kernel{
	symm.LoadKernel(folder+"add_scaled.json", "", symm.Params(own...)),
	symm.LoadKernel(folder+"add_scaled.cubin", "add_scaled", symm.Params(append(own, "null", "null")...)),
	symm.LoadKernel(folder+"add_scaled.ptx", "add_scaled", symm.Params(append(own, "null", "null")...)),
} {
	add.Launch(blocks, symm.Block(128), x, y, n, float32(3))
	expect(fmt.Sprint("add_scaled ", i), x, func(e int) int { return e + 6*(i+1) })
}

// %% Triton: a kernel that needs shared memory; the metadata give the size.
matrix, sums := symm.Local(symm.F32, 8, 1000).Fill(3), symm.Local(symm.F32, 8)
rows := symm.LoadKernel(folder+"row_sums.json", "row_sums", symm.Params("ptr", "ptr", "i32"))
rows.Launch(symm.Grid(8), symm.Block(128), matrix, sums, 1000)
expect("row_sums", sums, func(int) int { return 3000 })

// %% Triton: a one-shot all-reduce with a table of the ranks' buffers, also in a graph.
in, out := symm.Empty(symm.F32, n).Fill(rank+1), symm.Local(symm.F32, n)
h := symm.Rendezvous(in)
table := make([]int64, size)
for i, p := range h.BufferPtrs() {
	table[i] = int64(p)
}
sum := symm.LoadKernel(folder+"one_shot.json", "", symm.Params("ptr", "*fp32", "i32", "i32"))
buffers := symm.Local(symm.I64, size).CopyFrom(table)
allReduce := func(table any) {
	h.Barrier(0)
	sum.Launch(blocks, symm.Block(256), table, out, n, size)
	h.Barrier(0)
}
for _, t := range []any{buffers, h.BufferPtrsDev()} {
	out.Fill(0)
	allReduce(t)
	expect("one_shot", out, func(int) int { return size * (size + 1) / 2 })
}
at := h.BufferPtrsDev()
graph := symm.Capture(func() { allReduce(at) })
in.Fill(10 * (rank + 1))
graph.Replay()
expect("one_shot in a graph", out, func(int) int { return 10 * size * (size + 1) / 2 })

// %% nvcc: a cubin, a fatbin, a compressed fatbin and PTX. Without nvcc the files are missing.
for _, file := range []string{"scale.cubin", "scale.fatbin", "packed.fatbin", "scale.ptx"} {
	if _, err := os.Stat(folder + file); err != nil {
		fmt.Println("no", file)
		continue
	}
	z := symm.Local(symm.F32, n).Arange()
	scale := symm.LoadKernel(folder+file, "scale", symm.Params("*f32", "i8", "i64", "i16", "f32"))
	scale.Launch(symm.Grid(3), symm.Block(64), z, -3, n, 7, float32(2))
	expect(file, z, func(i int) int { return 2*i + 4 })
}

// %% Wrong parameters, names, launches and arguments are refused.
refuse := func(words string, f func()) {
	if err := symm.Maybe(f); err == nil || !strings.Contains(err.Error(), words) {
		panic(fmt.Sprintf("not refused with %q: %v", words, err))
	}
}
refuse("the file has 6", func() { symm.LoadKernel(folder+"add_scaled.cubin", "add_scaled", symm.Params(own...)) })
refuse("it has add_scaled", func() { symm.LoadKernel(folder+"add_scaled.cubin", "add", symm.Params(own...)) })
refuse("for blocks of 256 threads", func() { sum.Launch(blocks, symm.Block(128), buffers, out, n, size) })
refuse("give it a tensor of f32", func() { sum.Launch(blocks, symm.Block(256), buffers, buffers, n, size) })
if rank == 0 {
	fmt.Println("right: refusals")
}
