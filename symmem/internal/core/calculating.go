package symmem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// calculating caches the formulas and kernels of a world.
type calculating struct {
	mu       sync.Mutex
	formulas map[string]*expression.Checked // by the text and the types of the operands
	kernels  map[string]device.Module       // by the key of formulas and the accesses of operands
}

// calculation is one call of Map, of Reduce, or of a named operation.
type calculation struct {
	*Call
	of       *operators.Operator
	formula  *expression.Checked
	key      []byte // of the formula with these operands
	operands []calculate.Operand
	tensors  []*Tensor // by operand; nil for a number
	values   []uint64  // by operand; the bits of a number
}

// calculation checks a formula and its operands. args are tensors, numbers and options.
func (rt *Runtime) calculation(of *operators.Operator, formula string, args []any, reduces bool) *calculation {
	rt.refuseClosed(of.Name)
	c := &calculation{of: of, key: []byte(formula)}
	var opts []Option
	var types []expression.Operand
	for _, a := range args {
		switch v := a.(type) {
		case Option:
			opts = append(opts, v)
			continue
		case *Tensor:
			if v == nil || v.st == nil {
				panic(rt.isNil(of.Name, "tensor"))
			}
			rt.usable(of.Name, v)
			c.operands = append(c.operands, calculate.Operand{Type: v.dtype.element()})
			c.tensors, c.values = append(c.tensors, v), append(c.values, 0)
		default:
			n, ok := element.NumberOf(a)
			if !ok {
				hint := ""
				if reflect.ValueOf(a).CanComplex() {
					hint = "give a tensor of one element, as symm.Local(symm.C64, 1).Fill(1i)"
				}
				panic(rt.misuse(of.Name, fmt.Sprintf("x%d", len(c.operands)), hint, "an operand is a tensor or a number, not %T", a))
			}
			o, bits := number(n)
			c.operands = append(c.operands, o)
			c.tensors, c.values = append(c.tensors, nil), append(c.values, bits)
		}
		o := c.operands[len(c.operands)-1]
		types = append(types, expression.Operand{Type: o.Type, Number: o.Access == calculate.Number})
		c.key = append(c.key, 0, byte(o.Type), byte(o.Access))
	}
	if len(types) > expression.MaxOperands {
		panic(rt.misuse(of.Name, "", "calculate in two steps", "%d operands are more than %d", len(types), expression.MaxOperands))
	}
	f, err := rt.formula(formula, c.key, types)
	if err != nil {
		var wrong *expression.Error
		errors.As(err, &wrong)
		panic(rt.misuse(of.Name, "formula", wrong.Hint, "character %d of %q: %s", wrong.At+1, formula, wrong.Msg))
	}
	c.formula = f
	switch {
	case reduces && !f.Tree.Reduces():
		panic(rt.misuse(of.Name, "formula", `write one such as "sum(x0)", or call Map`, "the formula %q has no reduction", formula))
	case !reduces && f.Tree.Reduces():
		panic(rt.misuse(of.Name, "formula", "call Reduce", "the formula %q reduces", formula))
	}
	if n := f.Tree.Operands; n < len(types) {
		panic(rt.misuse(of.Name, fmt.Sprintf("x%d", n), "leave it out, or use it", "the formula %q has no operand x%d", formula, n))
	}
	for _, fit := range f.Fits {
		n := element.Number{Class: element.Signed, Int: int64(c.values[fit.Operand])}
		if _, why := fit.As.Encode(n); why != "" {
			panic(rt.misuse(of.Name, fmt.Sprintf("x%d", fit.Operand), "convert the tensor: Convert(symm.I64)", "%s", why))
		}
	}
	call := rt.newCall(of, rt.all, opts)
	c.Call = &call
	return c
}

// number returns the operand for a Go number, and its bits.
func number(n element.Number) (calculate.Operand, uint64) {
	switch {
	case n.Class == element.Floating:
		return calculate.Operand{Type: expression.Float, Access: calculate.Number}, math.Float64bits(n.Float)
	case n.Class == element.Unsigned && n.Uint > math.MaxInt64:
		return calculate.Operand{Type: element.U64, Access: calculate.Number}, n.Uint
	case n.Class == element.Unsigned:
		return calculate.Operand{Type: expression.Integer, Access: calculate.Number}, n.Uint
	}
	return calculate.Operand{Type: expression.Integer, Access: calculate.Number}, uint64(n.Int)
}

// formula parses and checks a formula, or finds it in the cache.
func (rt *Runtime) formula(text string, key []byte, types []expression.Operand) (*expression.Checked, error) {
	k := &rt.calculating
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.formulas[string(key)]; f != nil {
		return f, nil
	}
	tree, err := expression.Parse(text)
	if err != nil {
		return nil, err
	}
	f, err := tree.Check(types)
	if err != nil {
		return nil, err
	}
	if k.formulas == nil {
		k.formulas, k.kernels = map[string]*expression.Checked{}, map[string]device.Module{}
	}
	k.formulas[string(key)] = f
	return f, nil
}

// compiled returns the kernels of a text. The first call makes and compiles the text.
func (rt *Runtime) compiled(op string, key []byte, text func() string) device.Module {
	k := &rt.calculating
	k.mu.Lock()
	m := k.kernels[string(key)]
	k.mu.Unlock()
	if m != nil {
		return m
	}
	defer rt.compiling()()
	m, err := rt.dev.Compile(device.Source{Name: "formula", Line: 1, Text: text()})
	if err != nil {
		panic(rt.failure(op, err))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kernels[string(key)] = m
	return m
}

// result returns the tensor of Into, or nil without Into. The tensor must have the given shape.
func (c *calculation) result(shape []int) *Tensor {
	into := c.opts.into
	if into == nil {
		return nil
	}
	if !slices.Equal(into.shape, shape) {
		panic(c.Misuse("Into", "View gives a tensor other dimensions", "the result is %s, and Into has %s",
			c.formula.Result.Shaped(shape), into.kind()))
	}
	switch from, to := c.formula.Result, into.dtype.element(); {
	case from.IsComplex() && !to.IsComplex():
		panic(c.Misuse("Into", "real, imag and abs give real numbers; or give one of "+from.String(),
			"the result is %v, and Into has %v, which is not complex", from, into.dtype))
	case from.IsFloat() && !to.IsFloat() && !to.IsComplex():
		panic(c.Misuse("Into", "Convert rounds towards zero; or give one of "+c.formula.Result.String(),
			"the result is %v, and Into has %v, which would drop fractions", c.formula.Result, into.dtype))
	}
	return into
}

// type of the elements that are stored.
func (c *calculation) out(into *Tensor) DType {
	if into != nil {
		return into.dtype
	}
	return DType(c.formula.Result)
}

// apply calculates a map.
func (c *calculation) apply() *Tensor {
	var shapes [][]int
	for _, t := range c.tensors {
		if t != nil {
			shapes = append(shapes, t.shape)
		}
	}
	shape, ok := calculate.Broadcast(shapes...)
	if !ok {
		panic(c.Misuse("", "View adds dimensions of 1, which are repeated",
			"the shapes do not fit: %s; from the last dimension on, dimensions must be equal or 1", c.list()))
	}
	if len(shapes) == 0 && c.opts.into != nil {
		shape = c.opts.into.shape
	}
	into := c.result(shape)
	strides := [][]int{calculate.Strides(shape)}
	for _, t := range c.tensors {
		if t == nil {
			strides = append(strides, nil)
		} else {
			strides = append(strides, calculate.Repeated(t.shape, shape))
		}
	}
	return c.store(into, slices.Clone(shape), calculate.Arrange(shape, strides...))
}

// list describes the tensors: "x0 is f32[4], x1 is f32[5]".
func (c *calculation) list() string {
	text := ""
	for i, t := range c.tensors {
		if t == nil {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("x%d is %s", i, t.kind())
	}
	return text
}

// store launches a map with layout l. into is nil for a new tensor.
func (c *calculation) store(into *Tensor, shape []int, l calculate.Layout) *Tensor {
	rt, op := c.rt, c.of.Name
	n := 1
	for _, d := range shape {
		n *= d
	}
	m := calculate.Map{Formula: c.formula, Out: c.out(into).element(), Access: l.Accesses[0], Operands: c.operands,
		Dims: len(l.Dims), Wide: n >= 1<<31, Host: rt.info.OnHost}
	widest := m.Out.Size()
	for i := range m.Operands {
		m.Operands[i].Access = l.Accesses[i+1]
		if t := c.tensors[i]; t != nil {
			widest = max(widest, t.dtype.Size())
			exactly := m.Access == calculate.Flat && m.Operands[i].Access == calculate.Flat &&
				into != nil && t.pointer() == into.pointer() && t.dtype.Size() == into.dtype.Size()
			if into != nil && Operand(into).Overlaps(t) && n > 0 && !exactly {
				panic(c.Misuse("Into", "give it memory of its own, or exactly the memory of an operand",
					"Into overlaps x%d, %s, whose elements would change before they are read", i, t.kind()))
			}
		}
	}
	m.Width = rt.width(widest)
	key := append(c.key, 1, byte(m.Out), byte(m.Dims), byte(m.Width), byte(m.Access))
	for _, o := range m.Operands {
		key = append(key, byte(o.Access))
	}
	if m.Wide {
		key = append(key, 'w')
	}
	if n == 0 {
		if into == nil {
			into = rt.zeros(op, c.out(nil), shape, 0)
		}
		return into
	}
	kernels := rt.compiled(op, key, m.Text)
	defer c.Enter().Leave()
	c.PickStream()
	out := into
	if out == nil {
		out = c.Fresh(c.out(nil), shape, n)
	}
	c.admit(out)
	args := []uint64{uint64(out.pointer())}
	args = append(args, c.arguments(n)...)
	wider := !m.SingleOnly() && rt.aligned(m.Width, out)
	for _, d := range l.Dims {
		args = append(args, uint64(d))
	}
	for i, s := range l.Strides {
		if s == nil {
			continue
		}
		across := l.Accesses[i] == calculate.Across // one element for all elements of a thread
		for d, stride := range s {
			args = append(args, uint64(stride))
			wider = wider && (across || d == len(s)-1 || stride%m.Width == 0)
		}
		wider = wider && l.Dims[len(l.Dims)-1]%m.Width == 0 && (i == 0 || across || rt.aligned(m.Width, c.tensors[i-1]))
	}
	for i, t := range c.tensors {
		if l.Accesses[i+1] == calculate.Flat {
			wider = wider && rt.aligned(m.Width, t)
		}
	}
	kernel, work := calculate.Single, n
	if wider && !rt.info.OnHost {
		kernel, work = calculate.Wider, (n+m.Width-1)/m.Width
	}
	c.launch(kernels, kernel, rt.calculationGrid(work), args)
	return out
}

// width returns the number of elements that a thread loads at once, given the size of the largest
// element type.
func (rt *Runtime) width(bytes int) int {
	if rt.info.OnHost {
		return 16 // chunks have multiples of so many elements
	}
	return max(16/bytes, 1)
}

// aligned reports whether a device can load that many elements of t at once.
func (rt *Runtime) aligned(width int, t *Tensor) bool {
	return rt.info.OnHost || int(t.pointer())%(width*t.dtype.Size()) == 0
}

// calculationGrid returns the grid for a number of pieces of work, each for one thread.
func (rt *Runtime) calculationGrid(work int) device.Launch {
	threads := rt.plan.ElementThreads
	if rt.info.OnHost {
		return device.Launch{Grid: [3]int{max(min(rt.info.Processors, work/4096), 1), 1, 1}, Block: [3]int{1, 1, 1}}
	}
	return device.Launch{Grid: [3]int{max(min((work+threads-1)/threads, rt.plan.ElementBlocks*rt.info.Processors), 1), 1, 1},
		Block: [3]int{threads, 1, 1}}
}

// admit commits the call with its operands and its result.
func (c *calculation) admit(out *Tensor) {
	for _, t := range c.tensors {
		if t != nil {
			c.Touch(t)
		}
	}
	c.Record.DType, c.Record.N = out.dtype.element(), out.n
	c.Admit(out)
}

// arguments returns the arguments for the operands, n, rank and size.
func (c *calculation) arguments(n int) (args []uint64) {
	for i, t := range c.tensors {
		if t != nil {
			args = append(args, uint64(t.pointer()))
		} else {
			args = append(args, c.values[i])
		}
	}
	g := c.opts.group
	return append(args, uint64(n), uint64(g.rank), uint64(len(g.ranks)))
}

// launch puts a kernel in the stream. All its parameters have 8 bytes.
func (c *calculation) launch(m device.Module, name string, l device.Launch, args []uint64) {
	i := slices.IndexFunc(m.Kernels(), func(k device.Kernel) bool { return k.Name() == name })
	k := m.Kernels()[i]
	params := k.Params()
	last := params[len(params)-1]
	l.Args = make([]byte, last.Offset+last.Size)
	for i, p := range params {
		binary.LittleEndian.PutUint64(l.Args[p.Offset:], args[i])
	}
	c.ran(name, false)
	c.issued(c.stream.launch(k, l))
}

// along returns the dimension of the operands that a reduction reduces, counted from 0; all is true if
// it reduces all dimensions.
func (c *calculation) along(shape []int) (dim int, all bool) {
	if !c.Has(operators.Along) {
		return 0, true
	}
	dim = c.opts.along
	if dim < 0 {
		dim += len(shape)
	}
	if dim < 0 || dim >= len(shape) {
		panic(c.Misuse("Along", "", "the dimensions are 0 to %d, or -1 for the last one, not %d", len(shape)-1, c.opts.along))
	}
	return dim, false
}

// reduce does a reduction.
func (c *calculation) reduce() *Tensor {
	rt, op := c.rt, c.of.Name
	var first *Tensor
	for i, t := range c.tensors {
		switch {
		case t == nil:
		case t.n == 1 && (first == nil || first.n != 1):
			if first == nil {
				first = t
			}
		case first == nil || first.n == 1:
			first = t
		case !slices.Equal(t.shape, first.shape):
			panic(c.Misuse(fmt.Sprintf("x%d", i), "let Map combine them first",
				"x%d is %s: an operand of a reduction has its shape, here %v, or one element", i, t.kind(), first.shape))
		}
	}
	if first == nil {
		panic(c.Misuse("", "give one, or calculate in Go", "no operand is a tensor"))
	}
	outer, length, inner := 1, first.n, 1
	shape := []int{}
	if dim, all := c.along(first.shape); !all {
		length = first.shape[dim]
		for i, d := range first.shape {
			switch {
			case i < dim:
				outer *= d
			case i > dim:
				inner *= d
			}
			if i != dim {
				shape = append(shape, d)
			}
		}
	}
	into := c.result(shape)
	n := outer * inner
	if name, _ := c.formula.Reduction(); length == 0 && n > 0 && !expression.OfNone(name) {
		panic(c.Misuse("", "give a tensor with elements, which x.Numel() counts", "the %s of no elements does not exist", name))
	}
	if n == 0 {
		if into == nil {
			into = rt.zeros(op, c.out(nil), shape, 0)
		}
		return into
	}
	r := calculate.Reduce{Formula: c.formula, Out: c.out(into).element(), Operands: c.operands, Columns: inner > 1, Host: rt.info.OnHost}
	widest := 1
	for i, t := range c.tensors {
		if t == nil {
			continue
		}
		widest = max(widest, t.dtype.Size())
		r.Operands[i].Access = calculate.One
		if t.n == first.n && (t.n > 1 || slices.Equal(t.shape, first.shape)) {
			r.Operands[i].Access = calculate.Flat
		}
		if into != nil && Operand(into).Overlaps(t) {
			panic(c.Misuse("Into", "give memory of its own", "Into overlaps x%d, %s", i, t.kind()))
		}
	}
	r.Width = rt.width(widest)
	wider := true
	for i, t := range c.tensors {
		if t != nil && r.Operands[i].Access == calculate.Flat {
			wider = wider && rt.aligned(r.Width, t)
		}
	}
	if r.Columns {
		wider = wider && inner%r.Width == 0
	} else {
		wider = wider && (rt.info.OnHost || outer == 1 || length%r.Width == 0)
	}
	kernel, width := calculate.Single, 1
	if wider {
		width = r.Width
	}
	if wider && !rt.info.OnHost {
		kernel = calculate.Wider
	}
	p := rt.partition(&r, outer, length, inner, width)
	key := append(c.key, 2, byte(r.Out), byte(r.Width))
	for _, o := range r.Operands {
		key = append(key, byte(o.Access))
	}
	if r.Columns {
		key = append(key, 'c')
	}
	kernels := rt.compiled(op, key, r.Text)
	defer c.Enter().Leave()
	c.PickStream()
	out := into
	if out == nil {
		out = c.Fresh(c.out(nil), shape, n)
	}
	var partial *Tensor // touched, so that a graph keeps it
	if p.chunks > 1 {
		partial = c.working(n * p.chunks * calculate.PartialBytes)
		c.Touch(partial)
	}
	c.admit(out)
	args := []uint64{uint64(out.pointer()), 0}
	if partial != nil {
		args[1] = uint64(partial.pointer())
	}
	args = append(args, c.arguments(first.n)...)
	args = append(args, uint64(outer), uint64(length), uint64(inner), uint64(p.chunks), uint64(p.share), uint64(p.lanes))
	c.launch(kernels, kernel, rt.together(p.items, p.lanes), args)
	if partial != nil {
		lanes := rt.lanesFor(p.chunks)
		args[len(args)-1] = uint64(lanes)
		finish := rt.together(n, lanes)
		finish.Overlap = true
		c.launch(kernels, calculate.Finish, finish, args)
		if rt.capture == nil {
			partial.giveBack()
		}
	}
	return out
}

// partition describes how a reduction is divided: items are the pieces of work, each for `lanes`
// threads.
type partition struct{ chunks, share, lanes, items int }

// mostPartial bounds the partial results of a reduction: 4 MiB, enough for 16 chunks of 16384
// columns.
const mostPartial = 1 << 18

// partition divides a reduction so that the device has enough threads, and each thread enough work.
// On a GPU, all blocks run at once if they fit, so that no block runs alone at the end.
func (rt *Runtime) partition(r *calculate.Reduce, outer, length, inner, width int) partition {
	p := partition{lanes: 1, chunks: 1}
	const least = 4 // loads of a thread
	neighbours := 1 // results of a thread
	if r.Columns {
		neighbours = width
	}
	groups := outer * inner / neighbours
	step := width / neighbours // elements that a thread takes at once
	most := mostPartial / (outer * inner)
	if rt.info.OnHost {
		p.chunks = min((rt.info.Processors+groups-1)/groups, length/4096, most)
	} else {
		all := r.Blocks() * rt.info.Processors // blocks that run at once
		low, high := r.Lanes(inner / neighbours)
		for high = min(high, rt.lanesFor(length/(step*least))); p.lanes < high &&
			(p.lanes < low || groups*p.lanes < all*calculate.Threads); {
			p.lanes *= 2
		}
		blocks := (groups*p.lanes + calculate.Threads - 1) / calculate.Threads
		most = min(most, length/(p.lanes*step*least))
		best := 0.0
		for waves := 1; waves <= 4 && blocks < all; waves++ {
			chunks := min(waves*all/blocks, most)
			if used := float64(chunks*blocks) / float64(waves*all); used > best+0.05 {
				best, p.chunks = used, chunks
			}
		}
	}
	p.chunks = max(p.chunks, 1)
	p.share = (length + p.chunks - 1) / p.chunks
	p.share = max((p.share+width-1)/width*width, 1)
	p.chunks = max((length+p.share-1)/p.share, 1)
	p.items = groups * p.chunks
	return p
}

// lanesFor returns the number of threads that work together on n pieces of work.
func (rt *Runtime) lanesFor(n int) int {
	if rt.info.OnHost || n <= 1 {
		return 1
	}
	return min(1<<bits.Len(uint(n-1)), calculate.Threads)
}

// together returns the grid for items that `lanes` threads each work on. On the host, and with one
// lane, threads share the items.
func (rt *Runtime) together(items, lanes int) device.Launch {
	if rt.info.OnHost {
		return device.Launch{Grid: [3]int{max(min(rt.info.Processors, items), 1), 1, 1}, Block: [3]int{1, 1, 1}}
	}
	each := calculate.Threads / lanes
	return device.Launch{Grid: [3]int{max((items+each-1)/each, 1), 1, 1}, Block: [3]int{calculate.Threads, 1, 1}}
}

// working returns memory for partial results. The kernels of a graph run one after another and share
// memory that was allocated before the capture and then belongs to the graph.
func (c *calculation) working(bytes int) *Tensor {
	if c.rt.capture != nil {
		return c.rt.capture.spare
	}
	return c.rt.ordinary(c.of.Name, c.stream, U8, []int{bytes}, bytes)
}

// spareWork allocates memory for the partial results of reductions in a graph that will be captured on
// s. rt.mu is held.
func (rt *Runtime) spareWork(op string, s *Stream) *Tensor {
	if rt.spare == nil {
		const bytes = mostPartial * calculate.PartialBytes
		rt.spare = rt.ordinary(op, s, U8, []int{bytes}, bytes)
	}
	return rt.spare
}
