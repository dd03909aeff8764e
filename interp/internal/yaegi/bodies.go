package yaegi

// In the tree, an entry takes the place of the body of a function whose steps are made later, so that neither yaegi nor others that walk trees find there what is not
// made yet.

// entry is the value of the node that is an entry: the body.
type entry struct{ block *Node }

// Postpone puts an entry in the place of a declared function's body, which it returns: the function begins with step enter. It returns nil for a function whose steps
// are to be made at once: function literals, and init functions, which yaegi does not call by their bodies.
func (n *Node) Postpone(enter Step) (block *Node) {
	block = n.Body()
	if n.kind != kinds.funcDecl || n.child[nameChild].ident == "init" || n.First() == nil {
		return nil
	}
	at := new(Node)
	*at = *block
	at.child, at.tnext, at.fnext = nil, nil, nil
	at.start, at.exec, at.val = at, enter, entry{block}
	n.child[bodyChild] = at
	return block
}

// block returns the body of a function, which an entry may have taken the place of.
func (n *Node) block() *Node {
	if e, ok := n.Body().val.(entry); ok {
		return e.block
	}
	return n.Body()
}
