package symmem

import (
	"fmt"
	"reflect"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// calculation is one call of Map, of Reduce, or of a named operation.
type calculation struct {
	*Call
	*calculate.Calculation
	tensors []*Tensor // among the operands
}

// calculation checks a formula and its operands. args are tensors, numbers and options.
func (rt *Runtime) calculation(of *operators.Operator, formula string, args []any, reduces bool) *calculation {
	rt.refuseClosed(of.Name)
	c := &calculation{}
	var opts []Option
	var operands []calculate.Operand
	for _, a := range args {
		switch v := a.(type) {
		case Option:
			opts = append(opts, v)
		case *Tensor:
			if v == nil || v.st == nil {
				panic(rt.isNil(of.Name, "tensor"))
			}
			rt.usable(of.Name, v)
			operands, c.tensors = append(operands, v.calculated()), append(c.tensors, v)
		default:
			n, ok := element.NumberOf(a)
			if !ok {
				hint := ""
				if reflect.ValueOf(a).CanComplex() {
					hint = "give a tensor of one element, as symm.Local(symm.C64, 1).Fill(1i)"
				}
				panic(rt.misuse(of.Name, fmt.Sprintf("x%d", len(operands)), hint, "an operand is a tensor or a number, not %T", a))
			}
			operands = append(operands, calculate.Constant(n))
		}
	}
	on := calculate.Device{Host: rt.info.OnHost, Processors: rt.info.Processors, Tuned: rt.plan}
	var err error
	if c.Calculation, err = rt.calculating.Bind(formula, operands, reduces, on); err != nil {
		panic(rt.failure(of.Name, err))
	}
	call := rt.newCall(of, rt.all, opts)
	c.Call = &call
	return c
}

// calculated describes the tensor to package calculate.
func (t *Tensor) calculated() calculate.Operand {
	return calculate.Operand{Type: t.dtype.element(), Shape: t.shape, N: t.n, At: t.pointer()}
}

// into describes the tensor of Into, nil without Into.
func (c *calculation) into() *calculate.Operand {
	if c.opts.into == nil {
		return nil
	}
	return ptr(c.opts.into.calculated())
}

// calculated does Map, Reduce or a named operation, given its formula.
func (rt *Runtime) calculated(of *operators.Operator, formula string, args []any, reduces bool) *Tensor {
	c := rt.calculation(of, formula, args, reduces)
	if !reduces {
		p, err := c.Map(c.into())
		return c.run(c.opts.into, p, err)
	}
	var along *int
	if c.Has(operators.Along) {
		along = &c.opts.along
	}
	p, err := c.Reduce(c.into(), along)
	return c.run(c.opts.into, p, err)
}

// run launches what was planned, or refuses the call. It returns into or, if that is nil, a new tensor.
func (c *calculation) run(into *Tensor, p *calculate.Plan, err error) *Tensor {
	rt, op := c.rt, c.Record.Op
	if err != nil {
		panic(rt.failure(op, err))
	}
	if p.N == 0 {
		if into == nil {
			into = rt.zeros(op, DType(p.Out), p.Shape, 0)
		}
		return into
	}
	kernels, err := rt.calculating.Kernels(p, func(text device.Source) (device.Module, error) {
		defer rt.compiling()()
		return rt.dev.Compile(text)
	})
	if err != nil {
		panic(rt.failure(op, err))
	}
	defer c.Enter().Leave()
	c.PickStream()
	out := into
	if out == nil {
		out = c.Fresh(DType(p.Out), p.Shape, p.N)
	}
	var partial device.Ptr
	var working *Tensor // touched, so that a graph keeps it
	if p.Partial > 0 {
		working = c.working(p.Partial)
		c.Touch(working)
		partial = working.pointer()
	}
	c.Touch(c.tensors...)
	c.Record.DType, c.Record.N = out.dtype.element(), out.n
	c.Admit(out)
	g := c.opts.group
	for _, l := range p.Launches(out.pointer(), partial, g.rank, len(g.ranks)) {
		k, launch := l.In(kernels)
		c.ran(l.Kernel, false)
		c.issued(c.stream.launch(k, launch))
	}
	if working != nil && rt.capture == nil {
		working.giveBack()
	}
	return out
}

// working returns memory for partial results. The kernels of a graph run one after another and share
// memory that was allocated before the capture and then belongs to the graph.
func (c *calculation) working(bytes int) *Tensor {
	if c.rt.capture != nil {
		return c.rt.capture.spare
	}
	return c.rt.ordinary(c.Record.Op, c.stream, U8, []int{bytes}, bytes)
}

// spareWork allocates memory for the partial results of reductions in a graph that will be captured on
// s. rt.mu is held.
func (rt *Runtime) spareWork(op string, s *Stream) *Tensor {
	if rt.spare == nil {
		rt.spare = rt.ordinary(op, s, U8, []int{calculate.MostPartial}, calculate.MostPartial)
	}
	return rt.spare
}
