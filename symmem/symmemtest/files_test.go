package symmemtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// folder makes a folder for this case, which all ranks see, and returns a function that removes it.
func (t *T) folder(name string) (dir string, remove func()) {
	dir = filepath.Join(os.Getenv(dirVariable), name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatalf("%v", err)
	}
	return dir, func() {
		t.meet()
		os.RemoveAll(dir)
	}
}

// bits returns the bytes of a tensor.
func bits(x *symmem.Tensor) []int { return x.View(-1).As(symmem.U8).Ints() }

// filesCase saves tensors of every type to files of every format, by rank and gathered, and loads
// them whole, in parts and as ordinary tensors.
func filesCase(t *T) {
	dir, remove := t.folder("files")
	defer remove()
	for _, d := range append(unreduced, computing...) {
		x := symmem.Local(d, 2, 3).CopyFrom([]int{0, 1, 2, 3, 4, 8 * (t.rank + 1)})
		for _, end := range []string{".safetensors", ".npz", ".npy", ".bin"} {
			path := filepath.Join(dir, "own-{rank}"+end)
			x.Save(path)
			args := []any{symmem.Ordinary()}
			if end == ".bin" || d == symmem.F8E4M3 && end != ".safetensors" {
				args = append(args, d) // the file does not contain the type
			}
			y := symmem.Load(path, args...)
			t.equal(fmt.Sprint("the type of ", d, end), y.DType(), d)
			if end != ".bin" {
				t.equal(fmt.Sprint("the shape of ", d, end), y.Shape(), []int{2, 3})
			}
			t.equal(fmt.Sprint(d, end), bits(y), bits(x))
			t.equal("memory", y.Symmetric(), false)
		}
	}

	// Gathered along each dimension, from parts of different lengths, one of which is too short for
	// system calls; and back.
	long := 100
	total := 0
	for r := range t.size {
		total += r * long
	}
	for dim := range 2 {
		shape := []int{3, 3}
		shape[dim] = t.rank * long
		x := symmem.Local(symmem.I32, shape...)
		values := make([]int, x.Numel())
		for i := range values {
			values[i] = 1000*t.rank + i
		}
		x.CopyFrom(values)
		for _, end := range []string{".safetensors", ".npz", ".npy", ""} {
			path := filepath.Join(dir, fmt.Sprint("all", dim)+end)
			x.Save(path, symmem.Shard(dim), "w")
			args := []any{symmem.Ordinary()}
			if end == "" {
				args = append(args, symmem.I32)
			}
			y := symmem.Load(path, args...)
			if end == "" {
				y = y.View([][]int{{-1, 3}, {3, -1}}[dim]...)
			}
			shape[dim] = total
			t.equal("the shape of all"+end, y.Shape(), shape)
			t.equal("all"+end, y.Ints(), joinedParts(t.size, long, dim))
			if want := filepath.Join(dir, fmt.Sprint("all", dim)); end == ".npy" {
				t.equal("nothing else is left", len(glob(t, want+"*")), 3)
				t.equal("nothing temporary", len(glob(t, filepath.Join(dir, ".all*"))), 0)
			}
			t.meet() // before the next one
		}
	}

	// Parts of a dimension that divides evenly.
	whole := symmem.Empty(symmem.BF16, 2*t.size, 3*t.size)
	whole.Arange()
	path := filepath.Join(dir, "whole.safetensors")
	if t.rank == 0 {
		symmem.SaveFile(map[string]*symmem.Tensor{"a": whole, "b": whole.Slice(0, 1)}, path)
	}
	t.meet()
	t.equal("the list", fmt.Sprint(symmem.FileTensors(path)), fmt.Sprintf(`["a" bf16[%d, %d] "b" bf16[1, %d]]`, 2*t.size, 3*t.size, 3*t.size))
	rows := symmem.Load(path, "a", symmem.Shard(0))
	t.equal("rows", bits(rows), bits(whole.Slice(2*t.rank, 2*t.rank+2)))
	columns := symmem.Load(path, symmem.Shard(1), "a")
	var want []float32
	for i := range 2 * t.size {
		want = append(want, whole.Slice(i, i+1).View(-1).Slice(3*t.rank, 3*t.rank+3).Float32s()...)
	}
	t.equal("columns", columns.Float32s(), want)
	t.equal("symmetric", columns.Symmetric(), true)
	symmem.Rendezvous(rows) // like any symmetric tensor
	for _, x := range []*symmem.Tensor{rows, columns, whole} {
		x.Free()
	}
	odd := symmem.Local(symmem.U8, 2*t.size-1).Fill(t.rank)
	odd.Save(filepath.Join(dir, "odd-{rank}.npy"))
	part := symmem.Load(filepath.Join(dir, "odd-{rank}.npy"), symmem.Shard(0), symmem.Ordinary())
	t.equal("the last part is shorter", part.Numel(), min(2, 2*t.size-1-2*t.rank))
}

// joinedParts returns the gathered values of filesCase.
func joinedParts(size, long, dim int) []int {
	all := []int{}
	if dim == 0 {
		for r := range size {
			for i := range r * long * 3 {
				all = append(all, 1000*r+i)
			}
		}
		return all
	}
	for row := range 3 {
		for r := range size {
			for i := range r * long {
				all = append(all, 1000*r+row*r*long+i)
			}
		}
	}
	return all
}

func glob(t *T, pattern string) []string {
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return list
}

// filesRefusedCase: a mistake on one rank is an error on all ranks, and the world stays usable.
func filesRefusedCase(t *T) {
	dir, remove := t.folder("refused")
	defer remove()
	path := func(name string) string { return filepath.Join(dir, name) }
	one := symmem.Local(symmem.F32, 2+t.rank, 2).Fill(1)
	one.Save(path("own-{rank}.npy"))
	before := len(glob(t, path("*")))
	damaged := "\xff\xff\xff\xff\xff\xff\xff\x7f{}"
	os.WriteFile(path(fmt.Sprintf("bad-%d.safetensors", t.rank)), []byte(damaged), 0o666)
	text := "\x93NUMPY\x01\x00\x3a\x00{'descr': '<U1', 'fortran_order': False, 'shape': (1,), } \na\x00\x00\x00"
	os.WriteFile(path(fmt.Sprintf("text-%d.npy", t.rank)), []byte(text), 0o666)
	t.meet()

	t.refused(symmem.KindMisuse, func() { symmem.Load(path("none.npy")) }, "none.npy", "no such file")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("bad-{rank}.safetensors")) }, "byte 0",
		"a header of 9223372036854775807 bytes", "is it a safetensors file")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("text-{rank}.npy")) }, "its elements are texts (dtype <U1)", "tensors hold numbers")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-{rank}.npy"), "name") }, "its tensor has no name")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-{rank}.npy"), symmem.F16) }, "are f32, not f16")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-{rank}.npy"), symmem.Shard(2)) }, "has no dimension 2")
	t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-{rank}.npy"), 7) }, "not a int")
	t.refused(symmem.KindMisuse, func() { symmem.Load("") }, `a path cannot be ""`)
	var none *symmem.Tensor
	freed := symmem.Local(symmem.F32, 2)
	freed.Free()
	for _, save := range []func(*symmem.Tensor){
		func(x *symmem.Tensor) { x.Save(path("x.npy")) }, func(x *symmem.Tensor) { x.Save(path("x.npy"), symmem.Shard(0)) },
		func(x *symmem.Tensor) { symmem.SaveFile(map[string]*symmem.Tensor{"a": x}, path("x.npz")) },
	} {
		if e := new(symmem.Error); !errors.As(symmem.Maybe(func() { save(none) }), &e) || e.Arg != "tensor" {
			t.Errorf("nil: %v", e)
		}
		t.refused(symmem.KindMisuse, func() { save(freed) }, "was freed")
	}
	t.refused(symmem.KindMisuse, func() { one.Save(path("x.npz"), "a", "b") }, "for one tensor")
	t.refused(symmem.KindMisuse, func() { one.Save(path("x.npz"), nil) }, "an option is nil")
	t.refused(symmem.KindMisuse, func() { one.Save(path("x.npz"), "../a") }, "a member of an archive cannot have this name", "give it another name")
	t.refused(symmem.KindMisuse, func() { one.Save("\x00") }, `a path cannot be "\x00"`)
	t.refused(symmem.KindMisuse, func() { symmem.Load("x", symmem.CopyEngine()) }, "CopyEngine is an option of")
	t.refused(symmem.KindMisuse, func() { one.Save(path("x.npy"), symmem.F32) }, "with its own type")
	t.refused(symmem.KindMisuse, func() { one.Save(dir) }, "it is a folder")
	t.refused(symmem.KindMisuse, func() { one.Save(path("x.npy"), symmem.Shard(2)) }, "has no dimension 2")
	t.refused(symmem.KindMisuse, func() { one.Save(path("none/x.npy")) }, "no such file")
	t.refused(symmem.KindMisuse, func() { symmem.SaveFile(map[string]*symmem.Tensor{"a": one, "b": one}, path("x-{rank}.npy")) }, "one tensor, not 2")
	if t.size > 1 {
		t.refused(symmem.KindMismatch, func() { symmem.Load(path("own-{rank}.npy")) }, "f32[2, 2]", "f32[3, 2]")
		t.refused(symmem.KindMismatch, func() { one.Save(path("x.npy"), symmem.Shard(1)) }, "differ in more than the length of dimension 1")
		t.refused(symmem.KindMismatch, func() { one.Save(path(fmt.Sprintf("x%d.npy", t.rank)), symmem.Shard(0)) }, "x0.npy", "x1.npy")
		if t.rank == 1 {
			os.Remove(path("own-1.npy"))
			t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-{rank}.npy")) }, "no such file")
		} else {
			e := t.refused(symmem.KindPeer, func() { symmem.Load(path("own-{rank}.npy")) }, "rank 1 could not", "no such file")
			t.equal("the peer", e.Peer, 1)
		}
	}
	g := symmem.Capture(func() {
		t.refused(symmem.KindMisuse, func() { symmem.Load(path("own-0.npy"), symmem.Ordinary()) }, "not allowed while a graph is captured")
	})
	g.Free()
	t.meet()
	for _, left := range glob(t, path(".*")) {
		t.Errorf("%s was left behind", left)
	}
	if got := len(glob(t, path("*"))); got < before || strings.Contains(fmt.Sprint(glob(t, path("*"))), "/x") {
		t.Errorf("the folder has %v", glob(t, path("*")))
	}
	t.stillSums()
}

// bulkCase reads and fills tensors that are larger than the pieces in which they are copied, and
// reads a slice of one.
func bulkCase(t *T) {
	const n = 1<<20 + 7
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i % 1021)
	}
	for _, d := range []symmem.DType{symmem.F32, symmem.F64, symmem.F16, symmem.I64} {
		x := symmem.Local(d, n).CopyFrom(values)
		got := x.Float32s()
		wide := x.Float64s()
		for i, v := range values {
			if got[i] != v || wide[i] != float64(v) {
				t.Fatalf("%v: element %d is %v and %v, want %v", d, i, got[i], wide[i], v)
			}
		}
		t.equal("a slice", x.Slice(n-3, n).Float32s(), values[n-3:])
	}
	x := symmem.Local(symmem.I64, n).Arange()
	for i, v := range x.Ints() {
		if v != i {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	dir, remove := t.folder("bulk")
	defer remove()
	x.Save(filepath.Join(dir, "{rank}.npy"))
	y := symmem.Load(filepath.Join(dir, "{rank}.npy"))
	for i, v := range y.Ints() {
		if v != i {
			t.Fatalf("element %d of the file is %d", i, v)
		}
	}
	y.Free()
}
