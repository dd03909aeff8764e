package files

import (
	"fmt"
	"io"
	"slices"

	"github.com/symmrepl/symmrepl/internal/errkind"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// Tensor is a tensor to write.
type Tensor struct {
	Name  string
	Type  element.Type
	Shape []int
	Give  func(io.WriterAt) error // writes the elements
}

// Save writes this rank's tensors or, with Shard, the tensors of all members along a dimension.
func (c *Call) Save(tensors []Tensor) error {
	if c.Shard != nil {
		return c.gather(tensors)
	}
	list := make([]*tensorfile.Output, len(tensors))
	for i, t := range tensors {
		list[i] = &tensorfile.Output{Name: t.Name, Type: t.Type, Shape: t.Shape}
	}
	w, err := tensorfile.Create(c.Path, slices.Clone(list))
	if err != nil {
		return err
	}
	if err := give(tensors, func(i int) io.WriterAt { return w.At(list[i]) }); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

// give writes the tensors' bytes to their places in the file.
func give(tensors []Tensor, to func(i int) io.WriterAt) error {
	for i, t := range tensors {
		if err := t.Give(to(i)); err != nil {
			return err
		}
	}
	return nil
}

// gather writes the tensors of all members to one file. The first member creates and commits it.
func (c *Call) gather(tensors []Tensor) error {
	list, from, err := c.layOut(tensors)
	if err != nil {
		return err
	}
	var w *tensorfile.Writer
	var temp string
	defer func() {
		if w != nil {
			w.Abort() // unless it was committed
		}
	}()
	first := c.Group.Rank() == 0
	if first {
		if w, err = tensorfile.Create(c.Path, slices.Clone(list)); err == nil {
			temp = w.Temp()
		}
	}
	names, err := Agree(c, "", temp, err)
	if err != nil {
		return err
	}
	if !first {
		w, err = tensorfile.Join(c.Path, names[0], slices.Clone(list))
	}
	if err == nil {
		err = give(tensors, func(i int) io.WriterAt {
			return w.Part(list[i], *c.Shard, from[i], from[i]+tensors[i].Shape[*c.Shard])
		})
	}
	if !first && w != nil { // before the first member's Commit, as network file systems need
		w.Abort()
		w = nil
	}
	if _, err := Agree(c, "", struct{}{}, err); err != nil {
		return err
	}
	if first {
		err, w = w.Commit(), nil
	}
	_, err = Agree(c, "", struct{}{}, err)
	return err
}

// layOut lets the members exchange the types and shapes of their tensors. It returns the tensors of the
// file, and the place in each at which this member's part of the dimension begins.
func (c *Call) layOut(tensors []Tensor) (list []*tensorfile.Output, from []int, err error) {
	type piece struct {
		Type  element.Type
		Shape []int
	}
	mine, names := make([]piece, len(tensors)), make([]string, len(tensors))
	for i, t := range tensors {
		mine[i], names[i] = piece{t.Type, t.Shape}, t.Name
		if e := c.divides(t.Shape); e != nil {
			err = e
		}
	}
	all, err := Agree(c, fmt.Sprintf("%q to %s, Shard(%d)", names, c.Path, *c.Shard), mine, err)
	if err != nil {
		return nil, nil, err
	}
	ranks := c.Group.Ranks()
	from = make([]int, len(tensors))
	for i, t := range tensors {
		shape := slices.Clone(t.Shape)
		shape[*c.Shard] = 0
		for r, pieces := range all {
			if r == c.Group.Rank() {
				from[i] = shape[*c.Shard]
			}
			p := pieces[i]
			if first := all[0][i]; p.Type != first.Type || !alikeBut(*c.Shard, p.Shape, first.Shape) {
				return nil, nil, &seam.Refusal{Kind: errkind.Mismatch, Peer: ranks[r], Arg: "tensor", Hint: "nothing was written",
					Msg: fmt.Sprintf("%v on rank %d and %v on rank %d differ in more than the length of dimension %d",
						first.Type.Shaped(first.Shape), ranks[0], p.Type.Shaped(p.Shape), ranks[r], *c.Shard)}
			}
			shape[*c.Shard] += p.Shape[*c.Shard]
		}
		list = append(list, &tensorfile.Output{Name: t.Name, Type: t.Type, Shape: shape})
	}
	return list, from, nil
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
