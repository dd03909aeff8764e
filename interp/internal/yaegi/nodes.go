package yaegi

import (
	"reflect"
	"slices"

	"github.com/traefik/yaegi/interp"
)

// Tree returns the tree of a compiled program. Positions and function literals of the program may
// be used as long as the tree is reachable.
func Tree(p *interp.Program) *Node { return programOf(p).root }

// Children returns a node's children. Those of a call are the function and the arguments;
// conversions and builtins likewise have the operator and the operands.
func (n *Node) Children() []*Node { return n.child }

// childPosition returns the index of a node among the children of n, or -1 if it is none of them.
func (n *Node) childPosition(of *Node) int { return slices.Index(n.child, of) }

// Name returns the text of an identifier or a literal, and "" for other nodes.
func (n *Node) Name() string { return n.ident }

// Position returns a node's position in the source.
func (n *Node) Position() int { return int(n.pos) }

// IsStatement reports whether a node is an expression statement.
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

// Unmake drops the step of a node, so that it is made again with the others.
func (n *Node) Unmake() { n.exec = nil }

// MakeSteps makes the steps of all functions in a tree, except for the bodies that are postponed.
func MakeSteps(tree *Node) error { return genRun(tree) }

// MakeBody makes the missing steps of a function's body and returns the address of the first step,
// which may be replaced later.
func MakeBody(block *Node) (first *Step) {
	setExec(block.start)
	return &block.start.exec
}

// First returns the node of a function whose step is executed first, or nil if there is none.
func (n *Node) First() *Node {
	if start := n.Body().start; start != nil && start.gen != nil {
		return start
	}
	return nil
}

// Wrap replaces the step of a node by the result of other, which gets the node's original step. It
// does so when the step is made.
func (n *Node) Wrap(other func(plain Step) Step) {
	plain := n.gen
	n.gen = func(node *Node) {
		plain(node)
		if node.exec != nil {
			node.exec = other(node.exec)
		}
	}
}

// Generate gives a node the step that do returns instead of yaegi's. The step continues with next.
func (n *Node) Generate(do func(next Step) Step) {
	n.gen = func(*Node) { n.exec = do(n.Next()) }
}

// Next returns the step that follows, or nil if there is none. Yaegi makes it before the node's
// own.
func (n *Node) Next() Step { return stepOf(n.tnext) }

// Otherwise returns the step that follows if a condition is false, or nil if there is none.
func (n *Node) Otherwise() Step { return stepOf(n.fnext) }

func stepOf(n *Node) Step {
	if n == nil {
		return nil
	}
	return n.exec
}

// Operand returns a function that evaluates a node in a frame. The node's own step must have been
// made.
func (n *Node) Operand() func(*Frame) reflect.Value { return genValue(n) }
