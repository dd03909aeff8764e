package yaegi

import (
	"reflect"

	"github.com/traefik/yaegi/interp"
)

// Tree returns the tree of a compiled program: positions and function literals of the program are in use as long as it is reachable.
func Tree(p *interp.Program) *Node { return programOf(p).root }

// Children returns the nodes below a node. Those of a call are the function and the arguments, and so are the operator and operands of conversions and builtins.
func (n *Node) Children() []*Node { return n.child }

// Name returns the identifier or the literal that a node is, "" for others.
func (n *Node) Name() string { return n.ident }

// Position returns where in the source a node is.
func (n *Node) Position() int { return int(n.pos) }

// IsStatement reports whether a node is an expression as a statement.
func (n *Node) IsStatement() bool { return n.kind == kinds.exprStmt }

// IsLiteral reports whether a node is a function literal.
func (n *Node) IsLiteral() bool { return n.kind == kinds.funcLit }

// IsFunction reports whether a node is a function of a cell.
func (n *Node) IsFunction() bool {
	return len(n.child) > bodyChild && n.child[typeChild].kind == kinds.funcType
}

// Body returns the body of a function.
func (n *Node) Body() *Node { return n.child[bodyChild] }

// Variables returns the types of the variables of a function.
func (n *Node) Variables() []reflect.Type { return n.types }

// Type returns the type of a node's value.
func (n *Node) Type() reflect.Type { return typeOf(n.typ) }

// IsMade reports whether a node has its step.
func (n *Node) IsMade() bool { return n.exec != nil }

// Unmake drops the step of a node, so that it is made, or made again, by what makes steps.
func (n *Node) Unmake() { n.exec = nil }

// MakeSteps makes the steps of all functions in a tree, but for the bodies that are postponed.
func MakeSteps(tree *Node) error { return genRun(tree) }

// MakeBody makes the steps of a function's body, where there are none, and returns the first, which may be replaced later.
func MakeBody(block *Node) (first *Step) {
	setExec(block.start)
	return &block.start.exec
}

// First returns the node of a function whose step is executed first, nil if there is none.
func (n *Node) First() *Node {
	if start := n.Body().start; start != nil && start.gen != nil {
		return start
	}
	return nil
}

// Wrap makes a node, once its step is made, have another in its place, which other makes of the one that it has.
func (n *Node) Wrap(other func(plain Step) Step) {
	plain := n.gen
	n.gen = func(node *Node) {
		plain(node)
		if node.exec != nil {
			node.exec = other(node.exec)
		}
	}
}

// Generate makes a node have the step that do returns, which goes on with next, and not yaegi's.
func (n *Node) Generate(do func(next Step) Step) {
	n.gen = func(*Node) { n.exec = do(n.Next()) }
}

// Next returns the step that follows, nil if there is none. Yaegi makes it before that of the node.
func (n *Node) Next() Step { return stepOf(n.tnext) }

// Otherwise returns the step that follows a condition that does not hold, nil if there is none.
func (n *Node) Otherwise() Step { return stepOf(n.fnext) }

func stepOf(n *Node) Step {
	if n == nil {
		return nil
	}
	return n.exec
}

// Operand returns how to evaluate a node in a frame, once its own step has been made.
func (n *Node) Operand() func(*Frame) reflect.Value { return genValue(n) }
