package yaegi

// Assignments and returns have steps of ours too, if the operands are numbers or bools: they read and write variables where they are. Each looks at its operands, and
// otherwise leaves them to yaegi's step.

// isPlace reports whether what is assigned to is a variable or an element of an array or slice.
func (y *Interpreter) isPlace(to *Node) bool {
	if to.sym != nil {
		return to.ident != "_"
	}
	return y.Generator(to) == IndexGenerator
}

// copying is the step of x = y.
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

// mostReturned is how many values a return with a step of ours has.
const mostReturned = 4

// returning is the step of a return with values, which go to the first places of the frame.
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
		var values [mostReturned]uint64 // read before any is written
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
