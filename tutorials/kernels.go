//go:build ignore

// Your own kernels: CUDA C++ in a cell, compiled at once and launched on all ranks.
//
//	symmrepl run -n 4 tutorials/kernels.go

// %% A kernel on ordinary memory. The arguments are checked against the kernel's parameters.
rank := symm.Rank()
saxpy := symm.Compile(`
__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}`)
x := symm.Local(symm.F32, 6).Arange()
y := symm.Local(symm.F32, 6).Fill(rank)
saxpy.Launch(symm.Grid(2), symm.Block(4), y, x, float32(10), 6)
y

// %% A kernel that reads the other ranks' memory through a handle.
gather := symm.Compile(`
// %% (a line of the kernel's text begins no cell)
__global__ void gather(symm::Handle h, int* out) {
  int peer = threadIdx.x;
  if (peer < h.world_size) out[peer] = h.buffer<int>(peer)[0];
}`)
t := symm.Empty(symm.I32, 1).Fill(100 + rank)
h := symm.Rendezvous(t)
h.Barrier(0)
all := symm.Local(symm.I32, symm.WorldSize())
gather.Launch(symm.Grid(1), symm.Block(32), h, all)
all.Ints()

// %% Launch it again with other numbers.
func scaled(a float32) []float32 {
	y.Fill(0)
	saxpy.Launch(symm.Grid(2), symm.Block(4), y, x, a, 6)
	return y.Float32s()
}
[][]float32{scaled(0.5), scaled(-1)}
