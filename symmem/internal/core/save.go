package symmem

import (
	"io"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/files"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
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
	if c.Name == "" {
		c.Name = defaultName
	}
	c.save([]string{c.Name}, []*Tensor{t})
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
		rt.usable(c.Op, list[i])
	}
	c.save(names, list)
}

// save writes tensors under their names.
func (c *fileCall) save(names []string, tensors []*Tensor) {
	if c.Type != 0 {
		panic(c.rt.misuse(c.Op, "dtype", "leave it out", "a tensor is saved with its own type"))
	}
	list := make([]files.Tensor, len(tensors))
	for i, t := range tensors {
		list[i] = files.Tensor{Name: names[i], Type: t.dtype.element(), Shape: t.shape,
			Give: func(to io.WriterAt) error { return t.give(c.Op, c.until(nil, to)) }}
	}
	if err := c.Save(list); c.Shard == nil {
		c.rt.raise(c.Op, err)
	} else if err != nil {
		panic(c.rt.failure(c.Op, err))
	}
}
