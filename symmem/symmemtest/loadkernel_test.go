package symmemtest

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/foreign"
)

//go:embed testdata/loaded
var loaded embed.FS

// loadedFiles writes the files that Triton and nvcc made to a folder of this rank, and returns a
// function that removes it.
func (t *T) loadedFiles(name string) (path func(string) string, remove func()) {
	dir, remove := t.folder(fmt.Sprint(name, t.rank))
	entries, err := loaded.ReadDir("testdata/loaded")
	for _, e := range entries {
		var data []byte
		if data, err = loaded.ReadFile("testdata/loaded/" + e.Name()); err == nil {
			err = os.WriteFile(filepath.Join(dir, e.Name()), data, 0o600)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return func(name string) string { return filepath.Join(dir, name) }, remove
}

// isHopper reports whether the GPU runs the files that were compiled for sm_90.
func isHopper() bool { return strings.HasPrefix(symmem.Caps().Arch, "sm_90") }

// onCPU reports whether kernels run on the cpu device, which loads none.
func onCPU() bool { return symmem.Caps().Device == "cpu" }

// scaleParams are the parameters of the kernel in scale.cu.
var scaleParams = symmem.Params("*f32", "i8", "i64", "i16", "f32")

// loadKernelCase runs kernels that Triton and nvcc compiled. The cpu device refuses them.
func loadKernelCase(t *T) {
	path, remove := t.loadedFiles("load")
	defer remove()
	if onCPU() {
		t.refused(symmem.KindMisuse, func() { symmem.LoadKernel(path("scale.fatbin"), "scale", scaleParams) },
			"LoadKernel", "the cpu device does not run machine code of GPUs", "give the CUDA text to symm.Compile")
		return
	}
	grid := symmem.Grid(3)

	// Every format, with arguments of every size. The driver compiles PTX for any GPU.
	files := []string{"scale.fatbin", "scale.ptx"}
	if isHopper() {
		files = append(files, "packed.fatbin")
	}
	for _, file := range files {
		scale := symmem.LoadKernel(path(file), "scale", scaleParams)
		t.equal("name", scale.Name(), "scale")
		if s := scale.String(); !strings.HasPrefix(s, "scale(*f32, i8, i64, i16, f32)") {
			t.Errorf("signature: %s", s)
		}
		x := symmem.Local(symmem.F32, 1000).Arange()
		scale.Launch(grid, symmem.Block(64), x, -3, 999, int16(7), float32(2))
		for i, v := range x.Ints() {
			if want := 2*i + 4; v != want && i < 999 || i == 999 && v != 999 {
				t.Fatalf("%s: element %d is %d", file, i, v)
			}
		}
		if symmem.LoadKernel(path(file), "scale", scaleParams) != scale {
			t.Errorf("%s is loaded twice", file)
		}
	}
	nothing := symmem.LoadKernel(path("scale.fatbin"), "nothing", symmem.Params())
	nothing.Launch(grid, symmem.Block(32))
	t.refused(symmem.KindMisuse, func() { nothing.Kernel("scale") }, "nothing was loaded from", "LoadKernel loads another kernel")

	if isHopper() {
		t.tritonKernels(path)
	}
}

// loadKernelPeersCase runs loaded kernels that read the memory of the other ranks.
func loadKernelPeersCase(t *T) {
	if onCPU() {
		return // LoadKernel has what it says
	}
	path, remove := t.loadedFiles("peers")
	defer remove()
	t.compiledHere(path("here.cubin"))
	if isHopper() {
		t.tritonAllReduce(path("one_shot.json"))
	}
}

// compiledHere loads a cubin that NVRTC makes for this GPU: the kernel takes a handle, waits for the
// other ranks, and needs more shared memory than a launch has without asking the driver.
func (t *T) compiledHere(path string) {
	code, err := foreign.Cubin("pull.cu", `extern "C" __global__ void pull(symm::Handle h, int* y, int** peers) {
		extern __shared__ int copy[];
		if (!symm::barrier(h, 0)) return;
		int right = (h.rank + 1) % h.world_size;
		copy[threadIdx.x] = h.buffer<int>(right)[threadIdx.x];
		__syncthreads();
		y[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x] + peers[right][0];
		symm::barrier(h, 0);
	}`, symmem.Caps().Arch)
	if err == nil {
		err = os.WriteFile(path, code, 0o600)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	pull := symmem.LoadKernel(path, "pull", symmem.Params("handle", "*i32", "ptr"))
	x, y := symmem.Empty(symmem.I32, 64).Fill(100+t.rank), symmem.Local(symmem.I32, 64)
	h := symmem.Rendezvous(x)
	for range 3 {
		pull.Launch(symmem.Grid(1), symmem.Block(64), h, y, h.BufferPtrsDev(), symmem.SharedBytes(60_000), symmem.Timeout(20*time.Second))
	}
	t.equal("the right neighbour", y.Ints(), slices.Repeat([]int{2 * (100 + (t.rank+1)%t.size)}, 64))
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// tritonKernels runs the kernels of triton_kernels.py, for sm_90.
func (t *T) tritonKernels(path func(string) string) {
	x, y := symmem.Local(symmem.F32, 1000).Arange(), symmem.Local(symmem.F32, 1000).Fill(2)
	for _, add := range []*symmem.Kernel{
		symmem.LoadKernel(path("add_scaled.cubin"), "add_scaled", symmem.Params("*fp32", "*fp32", "i64", "fp32", "null", "null")),
		symmem.LoadKernel(path("add_scaled.json"), "", symmem.Params("*fp32", "*fp32", "i64", "fp32")),
	} {
		add.Launch(symmem.Grid(4), symmem.Block(128), x, y, 1000, float32(3))
	}
	for i, v := range x.Ints() {
		if v != i+12 {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	rows, sums := symmem.Local(symmem.F32, 4, 600).Fill(1), symmem.Local(symmem.F32, 4)
	rows.View(2400).Slice(600, 1200).Fill(3)
	symmem.LoadKernel(path("row_sums.json"), "", symmem.Params("*fp32", "*fp32", "i32")).Launch(symmem.Grid(4), symmem.Block(128), rows, sums, 600)
	t.equal("sums of rows", sums.Ints(), []int{600, 1800, 600, 600})
}

// tritonAllReduce is the one-shot all-reduce of triton_kernels.py: it reads a table of the ranks'
// buffers, between two barriers.
func (t *T) tritonAllReduce(file string) {
	in, out := symmem.Empty(symmem.F32, 1000).Fill(t.rank+1), symmem.Local(symmem.F32, 1000)
	h := symmem.Rendezvous(in)
	reduce := symmem.LoadKernel(file, "", symmem.Params("ptr", "*fp32", "i32", "i32"))
	table := make([]int64, t.size)
	for i, p := range h.BufferPtrs() {
		table[i] = int64(p)
	}
	for _, buffers := range []any{h.BufferPtrsDev(), symmem.Local(symmem.I64, t.size).CopyFrom(table)} {
		h.Barrier(0)
		reduce.Launch(symmem.Grid(4), symmem.Block(256), buffers, out, 1000, t.size)
		h.Barrier(0)
		t.equal("the sum over the ranks", out.Ints(), slices.Repeat([]int{t.size * (t.size + 1) / 2}, 1000))
		out.Fill(0)
	}
	symmem.Synchronize()
	in.Free()
}

// loadKernelRefusedCase makes the calls that LoadKernel and launches refuse, on every device.
func loadKernelRefusedCase(t *T) {
	path, remove := t.loadedFiles("refused")
	defer remove()
	misuse := symmem.KindMisuse
	file := path("scale.ptx")
	load := func(path, name string, params ...string) func() {
		return func() { symmem.LoadKernel(path, name, symmem.Params(params...)) }
	}
	t.refused(misuse, load("", "scale"), "LoadKernel", `a path cannot be ""`)
	t.refused(misuse, load("a\x00b", "scale"), "a path cannot be")
	for _, word := range []string{"", "*", "struct S", "Mine", "void", "int&", "ptr64", "handles", "std::vector<int>"} {
		t.refused(misuse, load(file, "scale", "ptr", word), "parameter 2 has no type that a launch can give")
	}
	if onCPU() {
		return
	}
	t.refused(misuse, load(path("none.cubin"), "scale"), "none.cubin: no such file")
	t.refused(misuse, load(path("scale.cu"), "scale"), "it is text, but not PTX", "symm.Compile")
	t.refused(misuse, load(filepath.Dir(file), "scale"), "it is a folder")
	t.refused(misuse, load(file, "scal"), `no kernel "scal"`, "it has scale, nothing")
	t.refused(misuse, load(file, "scale", "ptr", "i32", "i64", "i16", "f32"), `parameter 2 has 1 byte in the file, "i32" has 4`, "8, 1, 8, 2, 4 bytes")
	t.refused(misuse, load(file, "scale", "ptr", "i8", "i64"), "Params lists 3 parameters, the file has 5", "8, 1, 8, 2, 4 bytes")
	t.truncated(path)
	t.refused(misuse, load(file, "nothing", "ptr"), "Params lists 1 parameter, the file has none")

	scale := symmem.LoadKernel(file, "scale", scaleParams)
	x := symmem.Local(symmem.F32, 8)
	grid, block := symmem.Grid(1), symmem.Block(32)
	t.refused(misuse, func() { scale.Launch(grid, block, x, 1, 8, 1) }, "scale(*f32, i8, i64, i16, f32)", "takes 5 arguments, not 4")
	t.refused(misuse, func() { scale.Launch(grid, block, symmem.Local(symmem.F64, 8), 1, 8, 1, 1) }, `argument 1, "*f32"`, "give it a tensor of f32")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 128, 8, 1, 1) }, `argument 2, "i8"`, "does not fit")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 1, 8, 1, 1, symmem.SharedBytes(1<<20)) }, "bytes of shared memory are more than")

	if !isHopper() {
		return
	}
	t.refused(misuse, load(path("add_scaled.cubin"), "add_scaled", "ptr", "ptr", "i64", "fp32"),
		"Params lists 4 parameters, the file has 6", `"null", "null"`, ".json")
	add := symmem.LoadKernel(path("add_scaled.json"), "", symmem.Params("ptr", "ptr", "i64", "fp32"))
	t.refused(misuse, func() { add.Launch(grid, symmem.Block(256), x, x, 8, 1) }, "compiled for blocks of 128 threads, not of 256", "symm.Block(128)")
	t.refused(misuse, func() { add.Launch(grid, symmem.Block(128), x, x, 8, 1, 0, 0) }, "takes 4 arguments, not 6")
}

// truncated loads files that end early.
func (t *T) truncated(path func(string) string) {
	for _, name := range []string{"scale.ptx", "scale.fatbin", "one_shot.cubin"} {
		data, err := loaded.ReadFile("testdata/loaded/" + name)
		if err == nil {
			err = os.WriteFile(path("cut"), data[:len(data)/2], 0o600)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		t.refused(symmem.KindMisuse, func() { symmem.LoadKernel(path("cut"), "scale", scaleParams) }, "make it again, or copy it again")
	}
}
