package expect

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/expect/formula"
)

// Tensors are the tensors of a case, by name. A set belongs to one goroutine of each rank. It holds
// memory until Free.
type Tensors struct {
	g          *symmem.Group
	rank, size int              // in the group
	names      []formula.Name   // of list
	list       []*tensor        // in the order in which they were made
	tables     []*symmem.Tensor // of Pointers
	freed      bool
}

// tensor is a tensor of a set.
type tensor struct {
	t    *symmem.Tensor
	h    *symmem.Handle     // nil of an ordinary tensor
	fill *formula.Formula   // of the elements it held first
	held []*formula.Numbers // these elements by rank, once they were needed
}

// New returns an empty set for the ranks of a group, or of the world that Init made last. The ranks of
// formulas are numbers in the group. It is not collective; the set's other calls are, where they say so.
func New(group ...*symmem.Group) *Tensors {
	const op = "expect.New"
	if len(group) > 1 || len(group) == 1 && group[0] == nil {
		panic(misuse(op, "group", "give a group, or nothing for all ranks", nil, "the tensors of a set belong to one group"))
	}
	g := symmem.World()
	if len(group) == 1 {
		g = group[0]
	}
	s := &Tensors{g: g, rank: g.Rank(), size: g.Size()}
	if s.rank < 0 {
		panic(misuse(op, "group", "call it on the members alone", nil, "this rank is not a member of %v", g))
	}
	return s
}

// Symmetric makes a symmetric tensor, which the group's ranks map, and sets its elements by a formula;
// "" is zeros. The name stands for it in the other calls and in formulas. It is collective over the
// group: when it returns, the tensors of all ranks have their elements.
//
// Errors: KindMisuse for a name that formulas cannot have or that is taken, for a complex type, and for
// a fill with a fault; those of Empty and Rendezvous.
func (s *Tensors) Symmetric(name string, dtype symmem.DType, fill string, shape ...int) *symmem.Tensor {
	const op = "expect.Symmetric"
	dtype, f := s.declared(op, name, dtype, fill)
	x := &tensor{t: s.g.Empty(dtype, shape...), fill: f}
	x.h = symmem.Rendezvous(x.t, s.g)
	s.add(op, name, x)
	s.meet()
	return x.t
}

// Local makes an ordinary tensor on this rank's device and sets its elements by a formula; "" is zeros.
// It is not collective, but every rank must make the tensors that a formula names, with the same type,
// shape and fill.
//
// Errors: as Symmetric, and those of Local.
func (s *Tensors) Local(name string, dtype symmem.DType, fill string, shape ...int) *symmem.Tensor {
	const op = "expect.Local"
	dtype, f := s.declared(op, name, dtype, fill)
	x := &tensor{t: symmem.Local(dtype, shape...), fill: f}
	s.add(op, name, x)
	return x.t
}

// Tensor returns a tensor: the argument of a kernel for a pointer to its elements.
func (s *Tensors) Tensor(name string) *symmem.Tensor { return s.find("expect.Tensor", name).t }

// Handle returns the handle of a symmetric tensor: the argument of a kernel for a symm::Handle.
func (s *Tensors) Handle(name string) *symmem.Handle {
	return s.symmetric("expect.Handle", name).h
}

// Peers returns the address of the table of all ranks' copies of a symmetric tensor: the argument of a
// kernel for a parameter such as float**.
func (s *Tensors) Peers(name string) uintptr {
	return s.symmetric("expect.Peers", name).h.BufferPtrsDev()
}

// Pointers returns the numbers of Table in a tensor on the device: the argument of a kernel for a pointer
// to a struct of n pointers.
func (s *Tensors) Pointers(name string, n int) *symmem.Tensor {
	table := s.Table(name, n)
	values := make([]int64, n)
	for i, at := range table {
		values[i] = int64(at)
	}
	t := symmem.Local(symmem.I64, n).CopyFrom(values)
	s.tables = append(s.tables, t)
	return t
}

// Table returns the addresses of all ranks' copies of a symmetric tensor, followed by zeros up to n: the
// argument of a kernel for a struct of n pointers.
func (s *Tensors) Table(name string, n int) []uintptr {
	const op = "expect.Table"
	h := s.symmetric(op, name).h
	if n < s.size {
		panic(misuse(op, "n", "", nil, "a table of %d pointers is too short for %d ranks", n, s.size))
	}
	return append(make([]uintptr, 0, n), h.BufferPtrs()...)[:n:n]
}

// Pads returns the address of the table of all ranks' signal pads of a symmetric tensor: the argument of
// a kernel for a parameter such as uint32_t**. Pads are zeros until kernels write them.
func (s *Tensors) Pads(name string) uintptr {
	return s.symmetric("expect.Pads", name).h.SignalPadPtrsDev()
}

// Pad returns this rank's signal pad of a symmetric tensor, as a tensor of u32.
func (s *Tensors) Pad(name string) *symmem.Tensor {
	return s.symmetric("expect.Pad", name).h.GetSignalPad(s.rank)
}

// Free waits until the work of all ranks is over and frees the tensors. The set cannot be used any
// more; a second Free does nothing. It is collective over the group.
func (s *Tensors) Free() {
	if s == nil || s.freed {
		return
	}
	s.meet()
	s.freed = true
	for i := len(s.list) - 1; i >= 0; i-- {
		s.list[i].t.Free()
	}
	for _, t := range s.tables {
		t.Free()
	}
	s.list, s.names, s.tables = nil, nil, nil
}

// meet waits until the work of all ranks of the group is over.
func (s *Tensors) meet() {
	if s.g == symmem.World() {
		symmem.Meet()
		return
	}
	symmem.Synchronize()
	s.g.Empty(symmem.U8, 1).Free() // both meet on the host
}

// declared checks the name, the type and the fill of a new tensor.
func (s *Tensors) declared(op, name string, dtype symmem.DType, fill string) (symmem.DType, *formula.Formula) {
	s.usable(op)
	if dtype == symmem.Default {
		dtype = symmem.DefaultDType()
	}
	if err := (formula.Name{Name: name, Type: formula.Type(dtype)}).Check(); err != nil {
		panic(misuse(op, "name", "", err, "%v", err))
	}
	for _, n := range s.names {
		if n.Name == name {
			panic(misuse(op, "name", "take another name, or Free the set first", nil, "the set has a tensor %s already", name))
		}
	}
	if strings.TrimSpace(fill) == "" {
		fill = "0"
	}
	f, err := formula.Parse(fill, s.names...)
	if err == nil {
		err = f.Fits(formula.Type(dtype))
	}
	if err != nil {
		panic(misuse(op, "fill", "", err, "the fill of %s: %v", name, err))
	}
	return dtype, f
}

// add sets a new tensor's elements and makes it one of the set's.
func (s *Tensors) add(op, name string, x *tensor) {
	x.held = make([]*formula.Numbers, s.size)
	held, err := s.first(x, s.rank)
	if err != nil {
		panic(misuse(op, "fill", "", err, "the fill of %s: %v", name, err))
	}
	write(x.t, held)
	s.names = append(s.names, formula.Name{Name: name, Type: formula.Type(x.t.DType())})
	s.list = append(s.list, x)
}

// first returns the elements that a rank's tensor held first.
func (s *Tensors) first(x *tensor, rank int) (formula.Numbers, error) {
	if x.held[rank] == nil {
		held, err := x.fill.Eval(initial{s}, formula.Type(x.t.DType()), rank, s.size, x.t.Numel())
		if err != nil {
			return formula.Numbers{}, err
		}
		x.held[rank] = &held
	}
	return *x.held[rank], nil
}

// initial are the elements that the tensors of a set held first, for formulas.
type initial struct{ s *Tensors }

// Get returns the elements that a rank's tensor held first. Fills name only tensors that were made
// before.
func (v initial) Get(rank int, name string) (formula.Numbers, error) {
	return v.s.first(v.s.find("expect", name), rank)
}

// find returns a tensor by its name.
func (s *Tensors) find(op, name string) *tensor {
	s.usable(op)
	var known []string
	for i, n := range s.names {
		if n.Name == name {
			return s.list[i]
		}
		known = append(known, n.Name)
	}
	hint := "make it with Symmetric or Local"
	if similar := spelling.Similar(name, known); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	} else if len(known) > 0 {
		hint = "the tensors are " + strings.Join(known, ", ")
	}
	panic(misuse(op, "name", hint, nil, "the set has no tensor %q", name))
}

// symmetric is find for a tensor that must be symmetric.
func (s *Tensors) symmetric(op, name string) *tensor {
	x := s.find(op, name)
	if x.h == nil {
		panic(misuse(op, "name", "make it with Symmetric", nil, "%s is not symmetric: other ranks do not map it", name))
	}
	return x
}

// usable refuses a set that was freed, and one that New has not made.
func (s *Tensors) usable(op string) {
	switch {
	case s == nil || s.g == nil:
		panic(misuse(op, "", "make one with expect.New", nil, "there is no set of tensors"))
	case s.freed:
		panic(misuse(op, "", "make another one with expect.New", nil, "the set was freed"))
	}
}

// misuse returns the error of a call that is refused.
func misuse(op, arg, hint string, cause error, format string, args ...any) *symmem.Error {
	return &symmem.Error{Kind: symmem.KindMisuse, Op: op, Rank: symmem.Rank(), Peer: -1, Arg: arg, Hint: hint, Err: cause,
		Msg: fmt.Sprintf(format, args...)}
}

// write sets the elements of a tensor.
func write(t *symmem.Tensor, x formula.Numbers) {
	switch {
	case x.Floats != nil:
		t.CopyFrom(x.Floats)
	case t.DType() == symmem.U64: // their bits
		t.As(symmem.I64).CopyFrom(x.Ints)
	default:
		t.CopyFrom(x.Ints)
	}
}

// read returns the elements of a tensor.
func read(t *symmem.Tensor) formula.Numbers {
	if formula.Type(t.DType()).IsFloat() {
		return formula.Numbers{Floats: t.Float64s()}
	}
	if t.DType() == symmem.U64 {
		t = t.As(symmem.I64)
	}
	x := formula.Numbers{Ints: make([]int64, t.Numel())}
	for i, v := range t.Ints() {
		x.Ints[i] = int64(v)
	}
	return x
}
