package calculate

import (
	"encoding/binary"
	"slices"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Plan describes the result of a calculation, its kernels and their launches.
type Plan struct {
	Out     element.Type
	Shape   []int
	N       int // elements of the result; without elements there is no launch
	Partial int // bytes of memory for partial results

	// Launches returns the launches for a result and partial results at these addresses, on a member
	// of a group.
	Launches func(out, partial device.Ptr, rank, size int) []Launch

	key  []byte
	text func() string
}

// Launch is a launch of a kernel.
type Launch struct {
	Kernel string
	device.Launch
	args []uint64
}

// In returns the kernel among those of the plan, and its launch. All parameters have 8 bytes.
func (l *Launch) In(m device.Module) (device.Kernel, device.Launch) {
	kernels := m.Kernels()
	k := kernels[slices.IndexFunc(kernels, func(k device.Kernel) bool { return k.Name() == l.Kernel })]
	params := k.Params()
	last := params[len(params)-1]
	l.Args = make([]byte, last.Offset+last.Size)
	for i, p := range params {
		binary.LittleEndian.PutUint64(l.Args[p.Offset:], l.args[i])
	}
	return k, l.Launch
}

// Map plans a map. into is nil for a new tensor.
func (c *Calculation) Map(into *Operand) (*Plan, error) {
	var shapes [][]int
	for _, o := range c.Operands {
		if o.Access != Number {
			shapes = append(shapes, o.Shape)
		}
	}
	shape, ok := Broadcast(shapes...)
	if !ok {
		return nil, seam.Misuse("", "View adds dimensions of 1, which are repeated",
			"the shapes do not fit: %s; from the last dimension on, dimensions must be equal or 1", c.list())
	}
	if len(shapes) == 0 && into != nil {
		shape = into.Shape
	}
	if err := c.Fits(into, shape); err != nil {
		return nil, err
	}
	strides := [][]int{Strides(shape)}
	for _, o := range c.Operands {
		if o.Access == Number {
			strides = append(strides, nil)
		} else {
			strides = append(strides, Repeated(o.Shape, shape))
		}
	}
	return c.store(into, slices.Clone(shape), Arrange(shape, strides...))
}

// Transposed plans a copy of the operand with its dimensions in another order. into is nil for a new
// tensor.
func (c *Calculation) Transposed(into *Operand, dims []int) (*Plan, error) {
	t := &c.Operands[0]
	own := Strides(t.Shape)
	shape, strides := make([]int, len(dims)), make([]int, len(dims))
	used := make([]bool, len(t.Shape))
	for k, d := range dims {
		if len(dims) != len(t.Shape) || d < 0 || d >= len(t.Shape) || used[d] {
			return nil, seam.Misuse("dims", "name each dimension once", "%v is no order of the %s of %s", dims,
				count.Of(len(t.Shape), "dimension"), t.kind())
		}
		used[d], shape[k], strides[k] = true, t.Shape[d], own[d]
	}
	if err := c.Fits(into, shape); err != nil {
		return nil, err
	}
	l := Arrange(shape, Strides(shape), strides)
	if l.Accesses[1] == Apart && t.N > 0 && t.Type.Size() <= 8 && c.out(into) == t.Type && (into == nil || !into.overlaps(t)) {
		tiled := &Transpose{Type: t.Type, Host: c.on.Host}
		wide := !c.on.Host && t.At%16 == 0 && (into == nil || into.At%16 == 0)
		if p, ok := tiled.Plan(l, wide); ok {
			return c.tiles(tiled, p, shape), nil
		}
	}
	return c.store(into, shape, l)
}

// tiles plans the launch of a kernel of tiles.
func (c *Calculation) tiles(tiled *Transpose, p Tiling, shape []int) *Plan {
	t := &c.Operands[0]
	l := Launch{Kernel: p.Kernel, Launch: device.Launch{Grid: [3]int{min(p.Tiles, 1<<20), 1, 1}, Block: [3]int{Threads, 1, 1}}}
	if c.on.Host {
		l.Launch = device.Launch{Grid: [3]int{min(p.Tiles, c.on.Processors), 1, 1}, Block: [3]int{1, 1, 1}}
	}
	return &Plan{Out: t.Type, Shape: shape, N: t.N, key: append(c.key, 3, byte(tiled.Batch)), text: tiled.Text,
		Launches: func(out, _ device.Ptr, _, _ int) []Launch {
			l.args = append([]uint64{uint64(out), uint64(t.At)}, p.Args...)
			return []Launch{l}
		}}
}

// Placed plans a copy of the operand to elements that have these strides.
func (c *Calculation) Placed(into Operand, strides []int) (*Plan, error) {
	shape := c.Operands[0].Shape
	return c.store(&into, shape, Arrange(shape, strides, Strides(shape)))
}

// Joined returns the shape of tensors that are joined along a dimension.
func Joined(dim int, tensors []Operand) (shape []int, err error) {
	first := &tensors[0]
	if dim < 0 || dim >= len(first.Shape) {
		return nil, seam.Misuse("dim", "", "%s has no dimension %d", first.kind(), dim)
	}
	shape = slices.Clone(first.Shape)
	for i, t := range tensors[1:] {
		other := slices.Clone(t.Shape)
		if len(other) == len(shape) {
			shape[dim] += other[dim]
			other[dim] = first.Shape[dim]
		}
		if t.Type != first.Type || !slices.Equal(other, first.Shape) {
			return nil, seam.Misuse("tensors", "Convert and View change a tensor",
				"tensor %d is %s, which does not continue %s along dimension %d", i+1, t.kind(), first.kind(), dim)
		}
	}
	return shape, nil
}

// store plans a map with layout l. into is nil for a new tensor.
func (c *Calculation) store(into *Operand, shape []int, l Layout) (*Plan, error) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	m := &Map{Formula: c.Formula, Out: c.out(into), Access: l.Accesses[0], Operands: c.Operands, Dims: len(l.Dims), Wide: n >= 1<<31,
		Host: c.on.Host}
	widest := m.Out.Size()
	for i := range m.Operands {
		o := &m.Operands[i]
		o.Access = l.Accesses[i+1]
		if o.Access == Number {
			continue
		}
		widest = max(widest, o.Type.Size())
		exactly := m.Access == Flat && o.Access == Flat && into != nil && o.At == into.At && o.Type.Size() == into.Type.Size()
		if into != nil && into.overlaps(o) && n > 0 && !exactly {
			return nil, seam.Misuse("Into", "give it memory of its own, or exactly the memory of an operand",
				"Into overlaps x%d, %s, whose elements would change before they are read", i, o.kind())
		}
	}
	m.Width = c.on.width(widest)
	key := append(c.key, 1, byte(m.Out), byte(m.Dims), byte(m.Width), byte(m.Access))
	for _, o := range m.Operands {
		key = append(key, byte(o.Access))
	}
	if m.Wide {
		key = append(key, 'w')
	}
	return &Plan{Out: m.Out, Shape: shape, N: n, key: key, text: m.Text,
		Launches: func(out, _ device.Ptr, rank, size int) []Launch { return c.stores(m, l, n, out, rank, size) }}, nil
}

// stores returns the launch of a map with layout l and a result of n elements at an address.
func (c *Calculation) stores(m *Map, l Layout, n int, out device.Ptr, rank, size int) []Launch {
	args := append([]uint64{uint64(out)}, c.arguments(n, rank, size)...)
	wider := !m.SingleOnly() && c.on.aligned(m.Width, out, m.Out)
	for _, d := range l.Dims {
		args = append(args, uint64(d))
	}
	for i, s := range l.Strides {
		if s == nil {
			continue
		}
		across := l.Accesses[i] == Across // one element for all elements of a thread
		for d, stride := range s {
			args = append(args, uint64(stride))
			wider = wider && (across || d == len(s)-1 || stride%m.Width == 0)
		}
		wider = wider && l.Dims[len(l.Dims)-1]%m.Width == 0 && (i == 0 || across || c.aligns(m.Width, i-1))
	}
	for i := range c.Operands {
		if l.Accesses[i+1] == Flat {
			wider = wider && c.aligns(m.Width, i)
		}
	}
	launched := Launch{Kernel: Single, args: args}
	switch {
	case c.on.Host:
		launched.Launch = device.Launch{Grid: [3]int{max(min(c.on.Processors, n/4096), 1), 1, 1}, Block: [3]int{1, 1, 1}}
	case wider:
		launched.Kernel = Wider
		launched.Launch = launch.Elements((n+m.Width-1)/m.Width, c.on.Tuned, c.on.Processors)
	default:
		launched.Launch = launch.Elements(n, c.on.Tuned, c.on.Processors)
	}
	return []Launch{launched}
}

// aligns reports whether the device can load that many elements of operand i at once.
func (c *Calculation) aligns(width, i int) bool {
	return c.on.aligned(width, c.Operands[i].At, c.Operands[i].Type)
}
