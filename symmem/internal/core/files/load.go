package files

import (
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tensorfile"
)

// Call is a call that reads or writes a file.
type Call struct {
	Op    string
	Path  string
	Name  string       // of a tensor in the file
	Type  element.Type // of the elements, given by the caller; 0 if none
	Group seam.Members
	Shard *int // the dimension that is divided; nil if none
	Apart bool // the members' parts may differ in length
}

// Agree lets the members of the group exchange a value. If one of them has an error, all of them get it.
func Agree[T any](c *Call, desc string, mine T, failed error) ([]T, error) {
	c.Group.Lock()
	defer c.Group.Unlock()
	return seam.Gather(c.Group, c.Op, desc, mine, failed)
}

// Part is a member's part of a tensor in an open file.
type Part struct {
	*tensorfile.Part
	Type element.Type
	file *tensorfile.File
}

// Close closes the file.
func (p *Part) Close() { p.file.Close() }

// Open opens the file and finds this member's part.
func (c *Call) Open() (*Part, error) {
	f, err := tensorfile.Open(c.Path)
	if err != nil {
		return nil, err
	}
	p := &Part{file: f}
	if err := c.find(p); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (c *Call) find(p *Part) error {
	t, err := p.file.Find(c.Name)
	if err == nil && c.Type != 0 {
		err = t.As(c.Type)
	}
	if err == nil {
		err = t.Usable()
	}
	if err != nil {
		return err
	}
	p.Type = t.Type
	if c.Shard == nil {
		p.Part, err = t.Whole()
		return err
	}
	dim := *c.Shard
	if err := c.divides(t.Shape); err != nil {
		return err
	}
	n, rank, size := t.Shape[dim], c.Group.Rank(), len(c.Group.Ranks())
	if n%size != 0 && !c.Apart {
		return seam.Misuse("Shard", "give symm.Ordinary() too: ordinary tensors may differ in length",
			"dimension %d of %v does not divide among %d ranks", dim, t.Shape, size)
	}
	chunk := (n + size - 1) / size
	p.Part, err = t.Part(dim, min(rank*chunk, n), min((rank+1)*chunk, n))
	return err
}

// divides refuses a shape without the dimension that is divided.
func (c *Call) divides(shape []int) error {
	if dim := *c.Shard; dim < 0 || dim >= len(shape) {
		return seam.Misuse("Shard", "", "a tensor of shape %v has no dimension %d", shape, dim)
	}
	return nil
}
