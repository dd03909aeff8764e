package yaegi

// If the steps of a function are made later, an entry replaces the function's body in the tree, so
// that neither yaegi nor other code that walks trees finds nodes without steps there.

// entry is the value of the replacement node: the original body.
type entry struct{ block *Node }

// Postpone replaces a declared function's body by an entry and returns the body; the function then
// begins with step enter. It returns nil for a function whose steps have to be made at once: a
// function literal, or an init function, which yaegi does not call through its body.
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

// block returns the body of a function, even if an entry has replaced it.
func (n *Node) block() *Node {
	if e, ok := n.Body().val.(entry); ok {
		return e.block
	}
	return n.Body()
}
