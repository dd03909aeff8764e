package yaegi

// Quicken replaces the step of a node if its generator makes an operation that this package has a
// step for and that does not depend on the runtime of cells. These steps do the same as yaegi's in
// less time, and run yaegi's in cases that they do not support.
func (y *Interpreter) Quicken(node *Node, generator string) {
	list := node.child
	use := node.Wrap
	switch {
	case calculations[generator]:
		use(func(plain Step) Step { return y.calculating(node, list, generator, plain) })
	case generator == "assign" && len(list) == 2 && node.kind == kinds.assignStmt && y.isPlace(list[0]):
		use(func(plain Step) Step { return copying(node, list, plain) })
	case generator == "convert" && len(list) == 2:
		use(func(plain Step) Step { return converting(node, list[1], plain) })
	case generator == "_len" && len(list) == 2:
		use(func(plain Step) Step { return measuring(node, list[1], plain) })
	case generator == "_return" && 0 < len(list) && len(list) <= mostReturned:
		use(func(plain Step) Step { return returning(list, plain) })
	}
}
