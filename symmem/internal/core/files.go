package symmem

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/files"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// rankMark is replaced by the rank in paths.
const rankMark = "{rank}"

// fileCall is a call that reads or writes a file.
type fileCall struct {
	rt *Runtime
	files.Call
	options
}

// fileCall reads the arguments after the path.
func (rt *Runtime) fileCall(of *operators.Operator, g *Group, path string, args []any) *fileCall {
	c := &fileCall{rt: rt, Call: files.Call{Op: of.Name}}
	rt.refuseClosed(c.Op)
	var opts []Option
	for _, a := range args {
		switch a := a.(type) {
		case string:
			if c.Name != "" {
				panic(rt.misuse(c.Op, "name", "give one", "the names %q and %q for one tensor", c.Name, a))
			}
			c.Name = a
		case DType:
			rt.numel(c.Op, a, nil)
			c.Type = a.element()
		case Option:
			opts = append(opts, a)
		case nil:
			opts = append(opts, nil)
		default:
			panic(rt.misuse(c.Op, "args", "", "behind the path come a name, an element type and options, not a %T", a))
		}
	}
	rt.read(&c.options, of, g, false, opts)
	if path == "" || strings.ContainsRune(path, 0) {
		panic(rt.misuse(c.Op, "path", "give the path of a file", "a path cannot be %q", path))
	}
	c.Path, c.Group = strings.ReplaceAll(path, rankMark, strconv.Itoa(c.group.rank)), members{c.group}
	if c.has(operators.Shard) {
		c.Shard = &c.shard
	}
	c.Apart = c.has(operators.Ordinary)
	rt.hostCall(c.Op)
	return c
}

// Load returns a tensor of a file, as a symmetric tensor of all members, or an ordinary one. The
// end of the path says what the file is:
//
//   - .safetensors, .npz: tensors with names. args has the name; it may be left out if the file has one tensor.
//   - .npy: one tensor
//   - anything else: plain bytes, one u8 tensor
//
// An element type in args is the type of the elements if the file does not determine it: for plain
// bytes, for types that tensors do not have, and for numpy's void types. The last two must have the
// same size. "{rank}" in the path is replaced by the rank in the group. With [Shard] each member
// gets its part of a dimension, divided like PyTorch's chunk. The file is mapped, and its header is
// checked before anything is allocated; only the loaded parts are read.
//
// PyTorch: safetensors.torch.load_file; with Shard safe_open and get_slice; numpy.load
//
// Shapes: the shape in the file. The dimension of Shard has the length of this member's part, which
// must be the same on all members unless Ordinary is given. Types are kept.
//
// Synchronises: collective over the group, unless Ordinary is given: all members load tensors of
// one type and shape, and return when all of them have loaded or one has failed. Each member reads the
// file itself. It waits for the current stream.
//
// Options: *Group, Shard, Ordinary.
//
// Capture: refused.
//
// Errors: KindMisuse for a file that is missing, damaged, or of another format, with the position in
// the file; KindMismatch if the members' tensors differ; KindPeer if another member failed;
// KindSystem for an error of the system.
//
// Source: the documentation of the formats; docs/files.md lists the files that are refused.
func (rt *Runtime) Load(path string, args ...any) *Tensor {
	c := rt.fileCall(operators.Load, rt.all, path, args)
	part, err := c.Open()
	if err == nil {
		defer part.Close()
		err = Maybe(func() { rt.numel(c.Op, DType(part.Type), part.Shape) })
	}
	agree := func(err error) error { // by all members, unless each has a tensor of its own
		if !c.Apart {
			_, err = files.Agree(&c.Call, "", struct{}{}, err)
		}
		return err
	}
	if err := agree(err); err != nil {
		panic(rt.failure(c.Op, err))
	}
	var t *Tensor
	if dtype := DType(part.Type); c.Apart {
		t = rt.undefined(c.Op, dtype, part.Shape)
	} else {
		t = c.group.emptyLike(c.Op, dtype, part.Shape)
	}
	err = agree(t.fill(c.Op, c.until(part, nil)))
	switch {
	case c.Apart:
		rt.raise(c.Op, err)
	case err != nil:
		Maybe(t.Free) // all members do
		panic(rt.failure(c.Op, err))
	}
	return t
}

// transfer is a part of a file that is being read or written. It ends early when the world is aborted.
type transfer struct {
	c    *fileCall
	from io.ReaderAt
	to   io.WriterAt
}

func (c *fileCall) until(from io.ReaderAt, to io.WriterAt) transfer { return transfer{c, from, to} }

// ReadAt implements io.ReaderAt.
func (t transfer) ReadAt(p []byte, off int64) (int, error) {
	if err := t.c.aborted(); err != nil {
		return 0, err
	}
	return t.from.ReadAt(p, off)
}

// WriteAt implements io.WriterAt.
func (t transfer) WriteAt(p []byte, off int64) (int, error) {
	if err := t.c.aborted(); err != nil {
		return 0, err
	}
	return t.to.WriteAt(p, off)
}

// aborted returns an error if the world is aborted.
func (c *fileCall) aborted() error {
	why := c.rt.abort.Load()
	if why == nil {
		return nil
	}
	return &Error{Kind: KindInterrupted, Op: c.Op, Rank: c.rt.rank, Peer: -1, Msg: "gave up: " + *why}
}

// undefined allocates an ordinary tensor on the current stream.
func (rt *Runtime) undefined(op string, dtype DType, shape []int) *Tensor {
	c := rt.ownCall(op)
	n := rt.numel(op, dtype, shape)
	defer c.Enter().Leave()
	c.PickStream()
	return c.Fresh(dtype, shape, n)
}

// FileTensor describes a tensor of a file.
type FileTensor struct {
	Name  string
	DType DType  // 0 if no tensor can have the type, or the file does not name it
	Type  string // as written in the file: "BF16", "<f4"
	Shape []int
}

// String is `"w" bf16[4, 4]`.
func (f FileTensor) String() string {
	if f.DType != 0 {
		return fmt.Sprintf("%q %s", f.Name, f.DType.element().Shaped(f.Shape))
	}
	return fmt.Sprintf("%q %s%s", f.Name, f.Type, strings.ReplaceAll(fmt.Sprint(f.Shape), " ", ", "))
}

// FileTensors lists the tensors of a file that Load can read, in the file's order. It reads only the
// header, and is not collective.
func (rt *Runtime) FileTensors(path string) []FileTensor {
	c := rt.fileCall(&operators.Operator{Name: "FileTensors"}, rt.all, path, nil)
	f, err := tensorfile.Open(c.Path)
	if err != nil {
		panic(rt.failure(c.Op, err))
	}
	defer f.Close()
	var list []FileTensor
	for _, t := range f.Tensors {
		list = append(list, FileTensor{t.Name, DType(t.Type), t.Said, slices.Clone(t.Shape)})
	}
	return list
}
