package symmem

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// defaultName is the name of a tensor in a file with names if the caller gives none.
const defaultName = "tensor"

// Save writes this rank's tensor to a file or, with [Shard], the tensors of all members one after
// another along a dimension. The end of the path selects the format: .safetensors or .npz, in which
// the tensor has the name in args or else "tensor"; .npy; any other end for the plain bytes.
// "{rank}" in the path is replaced by the rank in the group. Without it and without Shard, ranks
// that save to one path replace each other's file. The file gets its name when it is complete, and
// replaces a file of that name. If the path is a symbolic link, its target is replaced. The file
// has the same bytes as a file of the Python libraries.
//
// PyTorch: safetensors.torch.save_file; numpy.save, numpy.savez
//
// Shapes: any; with Shard the members' tensors have one type, and only the length of that dimension may
// differ.
//
// Synchronises: it waits for the current stream. With Shard it is collective over the group: all
// members write into one file, which they must see under one path, and return when it is complete.
//
// Options: *Group (by default the group that allocated the tensor), Shard.
//
// Capture: refused.
//
// Errors: KindMisuse for an invalid path or name; KindMismatch if the members' tensors do not fit
// together; KindPeer if another member failed; KindSystem for an error of the system. A failed call
// leaves an existing file unchanged.
//
// Source: the formats' documentation.
func (t *Tensor) Save(path string, args ...any) {
	t.usable(operators.Save.Name)
	c := t.rt.fileCall(operators.Save, t.rt.home(t), path, args)
	if c.name == "" {
		c.name = defaultName
	}
	c.save([]string{c.name}, []*Tensor{t})
}

// SaveFile writes tensors to one file, .safetensors or .npz, under their names. Otherwise it works like
// [Tensor.Save].
//
// PyTorch: safetensors.torch.save_file; numpy.savez
//
// Shapes: as [Tensor.Save].
//
// Synchronises: as [Tensor.Save].
//
// Options: *Group (by default the world), Shard.
//
// Capture: refused.
//
// Errors: as [Tensor.Save].
func (rt *Runtime) SaveFile(tensors map[string]*Tensor, path string, opts ...Option) {
	args := make([]any, len(opts))
	for i, o := range opts {
		args[i] = o
	}
	c := rt.fileCall(operators.SaveFile, rt.all, path, args)
	names := slices.Sorted(maps.Keys(tensors))
	list := make([]*Tensor, len(names))
	for i, name := range names {
		list[i] = tensors[name]
		rt.usable(c.op, list[i])
	}
	c.save(names, list)
}

// save writes tensors under their names.
func (c *fileCall) save(names []string, tensors []*Tensor) {
	if c.dtype != 0 {
		panic(c.rt.misuse(c.op, "dtype", "leave it out", "a tensor is saved with its own type"))
	}
	if c.has(operators.Shard) {
		c.gather(names, tensors)
		return
	}
	list := make([]*tensorfile.Output, len(tensors))
	for i, t := range tensors {
		list[i] = &tensorfile.Output{Name: names[i], Type: t.dtype.element(), Shape: t.shape}
	}
	w, err := tensorfile.Create(c.path, slices.Clone(list))
	if err == nil {
		if err = c.give(tensors, func(i int) io.WriterAt { return w.At(list[i]) }); err == nil {
			err = w.Commit()
		} else {
			w.Abort()
		}
	}
	c.rt.raise(c.op, err)
}

// give writes the tensors' bytes to their places in the file.
func (c *fileCall) give(tensors []*Tensor, to func(i int) io.WriterAt) error {
	for i, t := range tensors {
		if err := t.give(c.op, c.until(nil, to(i))); err != nil {
			return err
		}
	}
	return nil
}

// gather writes the tensors of all members to one file. The first member creates and commits it.
func (c *fileCall) gather(names []string, tensors []*Tensor) {
	type piece struct {
		Type  element.Type
		Shape []int
	}
	mine := make([]piece, len(tensors))
	var err error
	for i, t := range tensors {
		mine[i] = piece{t.dtype.element(), t.shape}
		if c.shard < 0 || c.shard >= len(t.shape) {
			err = c.rt.misuse(c.op, "Shard", "", "a tensor of shape %v has no dimension %d", t.shape, c.shard)
		}
	}
	all := agreeOn(c, fmt.Sprintf("%q to %s, Shard(%d)", names, c.path, c.shard), mine, err)
	list := make([]*tensorfile.Output, len(tensors))
	from := make([]int, len(tensors)) // where this member's part of the dimension begins
	for i, t := range tensors {
		shape := slices.Clone(t.shape)
		shape[c.shard] = 0
		for r, pieces := range all {
			if r == c.group.rank {
				from[i] = shape[c.shard]
			}
			p := pieces[i]
			if first := all[0][i]; p.Type != first.Type || !alikeBut(c.shard, p.Shape, first.Shape) {
				panic(&Error{Kind: KindMismatch, Op: c.op, Rank: c.rt.rank, Peer: c.group.ranks[r], Arg: "tensor",
					Hint: "nothing was written",
					Msg: fmt.Sprintf("%v on rank %d and %v on rank %d differ in more than the length of dimension %d",
						first.Type.Shaped(first.Shape), c.group.ranks[0],
						p.Type.Shaped(p.Shape), c.group.ranks[r], c.shard)})
			}
			shape[c.shard] += p.Shape[c.shard]
		}
		list[i] = &tensorfile.Output{Name: names[i], Type: t.dtype.element(), Shape: shape}
	}

	var w *tensorfile.Writer
	var temp string
	defer func() {
		if w != nil {
			w.Abort() // unless it was committed
		}
	}()
	if c.group.rank == 0 {
		if w, err = tensorfile.Create(c.path, slices.Clone(list)); err == nil {
			temp = w.Temp()
		}
	}
	temp = agreeOn(c, "", temp, err)[0]
	if c.group.rank != 0 {
		w, err = tensorfile.Join(c.path, temp, slices.Clone(list))
	}
	if err == nil {
		err = c.give(tensors, func(i int) io.WriterAt {
			return w.Part(list[i], c.shard, from[i], from[i]+tensors[i].shape[c.shard])
		})
	}
	if c.group.rank != 0 && w != nil { // before the first member's Commit, as network file systems need
		w.Abort()
		w = nil
	}
	agreeOn(c, "", struct{}{}, err)
	if c.group.rank == 0 {
		err, w = w.Commit(), nil
	}
	agreeOn(c, "", struct{}{}, err)
}

// alikeBut reports whether two shapes differ in one dimension at most.
func alikeBut(dim int, a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if i != dim && a[i] != b[i] {
			return false
		}
	}
	return true
}
