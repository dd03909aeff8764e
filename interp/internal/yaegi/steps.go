package yaegi

// Quicken makes a node have a step of ours, if its generator makes that of an operation which has one and asks nothing of those who run cells. Those steps do what
// yaegi's do in less time, and leave to yaegi's what they do not know.
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
