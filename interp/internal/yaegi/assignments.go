package yaegi

// Assignments and returns have steps of their own, too, if the operands are numbers or bools: they
// access variables directly. Each step checks its operands, and otherwise runs yaegi's step.

// isPlace reports whether the left side of an assignment is a variable or an element of an array or
// slice.
func (y *Interpreter) isPlace(to *Node) bool {
	if to.sym != nil {
		return to.ident != "_"
	}
	return y.Generator(to) == IndexGenerator
}

// copying returns the step of x = y.
func copying(node *Node, operands []*Node, plain Step) Step {
	to, ok1 := operands[0].Result()
	from, ok2 := operands[1].Place()
	if !ok1 || !ok2 {
		return plain
	}
	next := node.Next()
	return func(frame *Frame) Step {
		if !to.In(frame).copy(from.In(frame)) {
			return plain(frame)
		}
		return next
	}
}

// mostReturned is the maximum number of values of a return statement with a step of this package.
const mostReturned = 4

// returning returns the step of a return statement with values, which are stored in the first
// places of the frame.
func returning(operands []*Node, plain Step) Step {
	var from [mostReturned]Place
	for i, operand := range operands {
		var ok bool
		if from[i], ok = operand.Place(); !ok {
			return plain
		}
	}
	count := len(operands)
	if count == 1 {
		from := from[0]
		return func(frame *Frame) Step {
			if !frame.data[0].copy(from.In(frame)) {
				return plain(frame)
			}
			return nil
		}
	}
	return func(frame *Frame) Step {
		to := frame.data[:count]
		var values [mostReturned]uint64 // all are read before any is written
		for i := range to {
			v := from[i].In(frame)
			if to[i].typ != v.typ || to[i].flag&variable == 0 || scalarSize[v.flag&kindMask] == 0 {
				return plain(frame)
			}
			values[i] = v.scalar()
		}
		for i := range to {
			to[i].setScalar(values[i])
		}
		return nil
	}
}
