//go:build ignore

// To PyTorch and back: a kernel goes to a training job, tensors go there and come back.

// %% [markdown]
// # To PyTorch and back
//
// You develop a kernel here, where a hang ends, a race is reported and a cell takes a second. It is used elsewhere: in a training
// job, where PyTorch allocates the memory and starts the ranks. Three things cross the border:
//
// ![What goes from symmrepl to PyTorch and back: kernels, tensors, programs.](picture:border)
//
//     a kernel     symmrepl ──> PyTorch      `:export k.py`: its text, its launches and its checks
//     values       symmrepl <─> PyTorch      files in PyTorch's formats, or the Python package
//     a program    symmrepl <── PyTorch      kernels that Triton or nvcc has compiled: `symm.LoadKernel`
//
// Nothing here needs PyTorch or a GPU: a cell that would use them says what it would do. Start it on one host: its kernel reads the
// memory of all ranks, which works only inside a host.
//
// The memory is the same on both sides. `torch.distributed._symmetric_memory` calls it by these names:
//
//     PyTorch                                           here
//     symm_mem.empty(n, dtype=torch.float32, …)         symm.Empty(symm.F32, n)
//     hdl = symm_mem.rendezvous(t, group)               h := symm.Rendezvous(t)
//     hdl.get_buffer(peer, shape, dtype)                h.GetBuffer(peer, dtype, shape...)
//     hdl.put_signal(peer, channel)                     h.PutSignal(peer, channel)
//     hdl.wait_signal(peer, channel)                    h.WaitSignal(peer, channel)
//     hdl.barrier(channel=0)                            h.Barrier(0)
//     torch.ops.symm_mem.one_shot_all_reduce(t, …)      symm.OneShotAllReduce(t, "sum")
//     dist.all_reduce(t)                                symm.AllReduce(t, "sum")
//
// `docs/coming-from.md` has a first program line by line, and `docs/ops.md` every name of symmetric memory, name by name.

// %% A gradient for each rank, as data-parallel training has it.
rank, size := symm.Rank(), symm.WorldSize()
n := 256
grad := symm.Empty(symm.F32, n).Fill(rank + 1)
h := symm.Rendezvous(grad)
out := symm.Local(symm.F32, n)

// %% A kernel: the mean of all ranks' gradients.
average := symm.Compile(`
__global__ void average(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total / h.world_size;
  }
  symm::barrier(h, 0);
}`)
average.Launch(symm.Grid(1), symm.Block(256), h, out, n)
out.Float32s()[:2]

// %% [markdown]
// A cell that ends with a bool is a check. The exported program runs it again: here against symmrepl's all-reduce, there against
// `torch.distributed`.

// %% A check: the mean times the number of ranks is the sum.
out.Float32s()[n-1]*float32(size) == symm.OneShotAllReduce(grad, "sum").Float32s()[n-1]

// %% [markdown]
// ## There: the kernel
//
// At the prompt or in a notebook, `:export k.py` writes the session as a module for PyTorch; at a shell, `symmrepl export FILE.go -o k.py`
// does it for a file of cells, such as this tutorial. Of the cell with the kernel it makes this:
//
//     source2 = symm.Source(
//         r"""
//     __global__ void average(symm::Handle h, float* out, int n) {
//       if (!symm::barrier(h, 0)) return;
//       for (int i = threadIdx.x; i < n; i += blockDim.x) {
//         float total = 0;
//         for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
//         out[i] = total / h.world_size;
//       }
//       symm::barrier(h, 0);
//     }""",
//
// The next lines name the kernel and the types of its parameters:
//
//     average = source2.kernel("average", "symm::Handle", "float*", "int")
//
// and the first cell becomes this:
//
//     # Cell 1.
//     rank, size = symm.rank(), symm.world_size()
//     n = 256
//     grad = symm.empty(torch.float32, n).fill_(rank + 1)
//     h = symm.rendezvous(grad)
//     out = symm.local(torch.float32, n)
//
// The CUDA text is unchanged. `symm.empty` and `symm.rendezvous` are PyTorch's own; `symm_torch.py`, written beside the module, fills the
// handle of the kernel from PyTorch's. On a machine with GPUs:
//
//     pip install torch cuda-bindings
//     torchrun --nproc-per-node 4 k.py --test
//
// `--test` runs the cells, compares each rank's memory with the data of `torch.distributed`, and counts the checks. Your own job
// imports the kernel, `from k import average`, and launches it on PyTorch's current stream. A statement without a counterpart, such as `go`,
// stays as a comment with the reason. `:export FOLDER --cpp` writes C++ instead; `docs/export.md` has both.
//
// ## There and back: values
//
// Files are the simplest way. `Save` writes the same bytes as PyTorch's libraries, and `Load` reads theirs: `.safetensors` as
// `safetensors.torch`, `.npy` and `.npz` as numpy. First a folder that all ranks know.

// %% A folder for this tutorial's files, named by the process of rank 0.
import (
	"os"
	"path/filepath"
)

pid := symm.Broadcast(symm.Empty(symm.I32, 1).Fill(os.Getpid()), 0).Ints()[0]
folder := filepath.Join(os.TempDir(), fmt.Sprint("symmrepl-tutorial-17-", pid))
os.MkdirAll(folder, 0o700)
symm.Meet()

// %% Each rank saves its gradient: {rank} in the path becomes its number.
grad.Save(filepath.Join(folder, "grad-{rank}.safetensors"), "grad")
symm.FileTensors(filepath.Join(folder, fmt.Sprint("grad-", rank, ".safetensors")))

// %% [varies] Rank 0 reads a file with PyTorch, where PyTorch is installed.
import "os/exec"

script := `
import sys
from safetensors.torch import load_file
grad = load_file(sys.argv[1])["grad"]
print("PyTorch reads", grad.dtype, list(grad.shape), "and its sum is", grad.sum().item())`
if rank == 0 {
	text, err := exec.Command("python3", "-c", script, filepath.Join(folder, "grad-0.safetensors")).Output()
	if err == nil {
		fmt.Print(string(text))
	} else {
		fmt.Println("python3 has no torch or safetensors here; with both it would print:")
		fmt.Println("PyTorch reads torch.float32 [256] and its sum is 256.0")
	}
}

// %% [markdown]
// The way back is `symm.Load`. Without an option each rank gets all of the tensor; with `symm.Shard(0)` its part of dimension 0, divided
// like `torch.chunk`; with `symm.Ordinary()` it is ordinary memory. A model's weights come in this way.

// %% Every rank loads what the last rank has saved.
symm.Meet()
last := symm.Load(filepath.Join(folder, fmt.Sprint("grad-", size-1, ".safetensors")), "grad")
last.Equal(symm.Local(symm.F32, n).Fill(size))

// %% [markdown]
// Without a file, the Python package moves values into a running session and out of it: numpy arrays or tensors of PyTorch. Python
// starts a session, or attaches to the one at your prompt:
//
//     import symmrepl
//     s = symmrepl.attach()                      # or symmrepl.start(n=4)
//     out = s.get("out", 0)                      # of rank 0, for numpy; to="torch" makes a tensor of PyTorch
//     every = s.get("grad")                      # of all ranks: the first dimension is the rank
//     print(every[:, 0], out[:2])                # [1. 2. 3. 4.] [2.5 2.5]
//     s.put("grad", every + 1, by_rank=True)     # to each rank its part
//     s.run("average.Launch(symm.Grid(1), symm.Block(256), h, out, n)")
//     print(s.get("out", 0)[:2])                 # [3.5 3.5]
//
// The comments beside `print` are what four ranks print there, if `n` has its value of above. A `put` into a tensor of the same type and shape fills it in place: its handle stays valid. In a notebook of Python `%%symm` and `%%cuda`
// are cells of this kind. `docs/python.md` describes the package.
//
// ## Back: programs
//
// A kernel that Triton has compiled comes in as `one_shot.cubin` with its `one_shot.json`:
//
//     k := symm.LoadKernel("one_shot.json", "", symm.Params("ptr", "*fp32", "i32", "i32"))
//
// It runs on symmetric tensors, and its arguments are checked like those of any other kernel. That needs a GPU: the emulated device
// compiles CUDA text and runs no machine code. `docs/loading.md` has the way from a Triton function to its launch, and tutorial 04 the
// function. A kernel that you have as text needs none of this: give the text to `symm.Compile`.
//
// ## Who changes its argument?
//
// Names carry over more easily than habits. In PyTorch `dist.all_reduce(x)` replaces the values of `x`, and
// `torch.ops.symm_mem.one_shot_all_reduce(x, …)` returns a new tensor. It is the same here.

// %% [exercise] Predict: in place, or not?
// Before you run anything: what does this print, on any number of ranks? Set `predict` to that number; the check runs the lines.
//
//     x := symm.Empty(symm.F32, 1).Fill(1 / float64(symm.WorldSize()))
//     y := symm.OneShotAllReduce(x, "sum")
//     symm.AllReduce(x, "sum")
//     symm.AllReduce(x, "max")
//     fmt.Println(y.Item() + x.Item())

// %% [start]
predict := 0.0

// %% [hint]
// Each rank begins with 1/N, and there are N ranks. What is the sum?

// %% [hint]
// `y` is a new tensor. Does the first line that changes `x` find 1/N in it, or already the sum?

// %% [hint]
// Only the two calls of `AllReduce` change `x`: to the sum of N times 1/N, and then to the largest of N equal numbers.

// %% [solution]
predict := 2.0

// %% [check]
xHere := symm.Empty(symm.F32, 1).Fill(1 / float64(symm.WorldSize()))
yHere := symm.OneShotAllReduce(xHere, "sum")
symm.AllReduce(xHere, "sum")
symm.AllReduce(xHere, "max")
switch answer, truth := float64(predict), yHere.Item()+xHere.Item(); {
case math.Abs(answer-truth) < 1e-3:
	fmt.Println("correct")
case answer == 0:
	panic("predict is still 0: what do the five lines print?")
case answer == 1:
	panic("1 is one of the two: y is a new tensor with the sum, and x has it too, from the first AllReduce on")
case answer == 1+float64(size):
	panic(fmt.Sprintf("%v would be right if OneShotAllReduce changed x: it returns y and leaves x alone", predict))
case answer == 1+1/float64(size):
	panic(fmt.Sprintf("%v would be right if AllReduce left x alone: it replaces the values of x", predict))
default:
	panic(fmt.Sprintf("the lines do not print %v: work out y, which is the sum of N times 1/N, and then x after each AllReduce", predict))
}

// %% [exercise] Repair: a translation
// A training loop has `dist.all_reduce(g, op=dist.ReduceOp.AVG, group=group)`: afterwards `g` of every rank of the group is the mean of these
// ranks' `g`. Somebody has translated it. The function must change `g` itself, as in PyTorch; it returns nothing. Repair it. The check calls it
// with the world, and with a part of the world.
//
// `symm.AllReduce(t, "sum", group)` works in place, `t.Div(x)` returns a new tensor, `t.CopyFrom(u)` copies the elements of `u` into `t`, and
// `group.Size()` is the number of the group's ranks.

// %% [start]
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.OneShotAllReduce(g, "sum", group).Div(group.Size())
}

// %% [hint]
// The function computes the mean. Where is the result when it returns?

// %% [hint]
// Two ways: copy the result into `g`, or reduce in place and then divide. Division has no form that works in place; `CopyFrom` stores.

// %% [hint]
// `symm.AllReduce(g, "sum", group)` first. Then `g.CopyFrom(…)`, with the elements of `g` divided by the number of ranks of the group.

// %% [solution]
func allReduceAverage(g *symm.Tensor, group *symm.Group) {
	symm.AllReduce(g, "sum", group)
	g.CopyFrom(g.Div(group.Size()))
}

// %% [check]
wrong, complaint := symm.Empty(symm.I32, 1), ""
symm.Rendezvous(wrong)
part := symm.NewGroup(symm.World().Ranks()[:max(size-1, 1)]...)
for round, group := range []*symm.Group{symm.World(), symm.World(), part} {
	n := group.Size()
	mine := []float64{float64(time.Now().UnixNano()%1000) + float64(rank), float64(-rank - 1), 0.25 + float64(round)}
	g := symm.Empty(symm.F64, 3).CopyFrom(mine)
	total := make([]float64, 3)
	for i, v := range symm.AllGather(g).Float64s()[:3*n] {
		total[i%3] += v
	}
	var failed error
	if rank < n {
		symm.Rendezvous(g, group)
		failed = symm.Maybe(func() { allReduceAverage(g, group); symm.Synchronize() })
	}
	symm.Maybe(symm.Meet) // which fails after a wait that was ended
	symm.Recover()
	for i, got := range g.Float64s() {
		mean := total[i] / float64(n)
		switch {
		case complaint != "" || rank >= n:
		case failed != nil:
			complaint = "allReduceAverage fails: the ranks of the group alone call it, so each operation is given the group"
		case math.Abs(got-mean) <= 1e-9*(1+math.Abs(mean)):
		case n < size && math.Abs(got-total[i]/float64(size)) < 1e-9:
			complaint = fmt.Sprintf("it is right on %d ranks, but not on %d: group.Size() is the number of ranks", size, n)
		case got == mine[i]:
			complaint = "g is as it was: the mean must be in g itself when the function returns"
		case got == total[i]:
			complaint = "g has the sum: the mean is the sum divided by the number of ranks"
		case math.Abs(got-mean/float64(n)) < 1e-9:
			complaint = "g has been divided twice"
		case math.Abs(got-mine[i]/float64(n)) < 1e-9:
			complaint = "g has been divided, but no other rank's numbers are in it"
		default:
			complaint = fmt.Sprintf("element %d is %v, and the mean of all ranks is %v", i, got, mean)
		}
	}
	g.Free()
}
part.Free()
if complaint != "" {
	wrong.Fill(1)
}
switch anywhere := symm.OneShotAllReduce(wrong, "max").Ints()[0]; {
case complaint != "":
	panic(complaint)
case anywhere != 0:
	panic("the result is right here, but not on another rank")
}
fmt.Println("correct")

// %% Two rows of a weight, different on each rank.
part := symm.Empty(symm.F32, 2, 3)
part.Arange()

// %% [exercise] Write: hand over a weight
// In tensor parallelism a weight is divided over the ranks: each has some of its rows. A colleague's PyTorch program wants it whole:
//
//     from safetensors.torch import load_file
//     w = load_file(path)["weight"]          # float32, [2 * number of ranks, 3]
//
// Write `handOver(path)`. It writes one file, in which the tensor `weight` has the rows of `part` of all ranks, rank 0's first. When it returns,
// the file is there, on every rank. The check calls it with a path that ends in `.safetensors`, and fills `part` with other numbers.

// %% [start]
func handOver(path string) {
	part.Save(path, "weight")
}

// %% [hint]
// The given function lets every rank write the whole file. Look at it: `symm.FileTensors(path)`. Whose two rows does it have?

// %% [hint]
// Nobody needs to gather: `Save` takes the option `symm.Shard(d)` and writes the parts of all ranks one after another along dimension d.

// %% [hint]
// Which dimension grows with the number of ranks, from 2 to 2 times their number?

// %% [solution]
func handOver(path string) {
	part.Save(path, "weight", symm.Shard(0))
}

// %% [check]
wrong, complaint := symm.Empty(symm.I32, 1), ""
symm.Rendezvous(wrong)
secret := 1 + int(time.Now().UnixNano()%1000)
for i := range 2 {
	for j := range 3 {
		part.View(6).Slice(3*i+j, 3*i+j+1).Fill(secret*10 + 100000*rank + 3*i + j)
	}
}
parts := symm.AllGather(part).Float32s()
target := filepath.Join(folder, "weight.safetensors")
symm.Meet()
if rank == 0 {
	os.Remove(target)
}
symm.Meet()
if rank == size-1 { // this rank is late
	time.Sleep(50 * time.Millisecond)
}
failure := symm.Maybe(func() { handOver(target) })
_, missing := os.Stat(target)
symm.Meet()
if failure != nil {
	complaint = "handOver fails: " + failure.Error()
} else if missing != nil {
	complaint = "there is no file when handOver returns: its path is the one that handOver is given, and all ranks call Save"
} else {
	tensors := symm.FileTensors(target)
	switch w := tensors[0]; {
	case len(tensors) != 1 || w.Name != "weight":
		complaint = fmt.Sprintf("the file has %v: one tensor with the name \"weight\" is wanted", tensors)
	case w.DType != symm.F32:
		complaint = fmt.Sprintf("the file has %v: the elements are float32 there", w)
	case size > 1 && len(w.Shape) == 2 && w.Shape[0] == 2 && w.Shape[1] == 3:
		complaint = fmt.Sprintf("the file has %v: that is the part of one rank, and the rows of the other %d are missing", w, size-1)
	case fmt.Sprint(w.Shape) != fmt.Sprint([]int{2 * size, 3}):
		complaint = fmt.Sprintf("the file has %v: the ranks' parts follow each other along dimension 0, to %d rows of 3", w, 2*size)
	default:
		got := symm.Load(target, "weight", symm.Ordinary()).Float32s()
		for i := range got {
			if got[i] != parts[i] && complaint == "" {
				complaint = fmt.Sprintf("row %d is not row %d of rank %d: rank 0's rows come first, and each rank writes its own", i/3, i/3%2, i/6)
			}
		}
	}
}
if complaint != "" {
	wrong.Fill(1)
}
switch anywhere := symm.OneShotAllReduce(wrong, "max").Ints()[0]; {
case complaint != "":
	panic(complaint)
case anywhere != 0:
	panic("the file is right as this rank sees it, but not as another does: does it exist on every rank when handOver returns?")
}
fmt.Println("correct")

// %% Nothing is left behind.
symm.Meet()
if rank == 0 {
	os.RemoveAll(folder)
}

// %% [markdown]
// ## What you know now
//
// - `:export k.py` carries kernels, launches and checks to PyTorch; `--test` compares them there with `torch.distributed`.
// - `Save` and `symm.Load` share files with PyTorch and numpy, whole or divided over the ranks; the Python package moves tensors without files.
// - `symm.LoadKernel` runs kernels that Triton or nvcc has compiled, on GPUs.
// - The names of symmetric memory are PyTorch's, and the same calls change their arguments.
//
// This was the last tutorial; `:tutorial` lists what you have solved. Take a kernel of your own, sanitize it, measure it, and export it.
