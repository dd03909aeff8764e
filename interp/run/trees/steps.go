package trees

import (
	"strconv"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// Besides the user's own operations, lowered code mostly stores positions and records that a
// function begins. For these it has its own steps, which take a fifth of the time of yaegi's. The
// steps of operations are in package yaegi; elements.go and nilreceivers.go add their panics.

// useStep replaces the step of a node in a function, if this package has one for it.
func (t *Trees) useStep(node *yaegi.Node, in *stacks.Scope) {
	list := node.Children()
	if len(list) > 1 && isHelper(list[0], contract.StopAt) {
		t.stops.Stopping(node, in)
		return
	}
	switch len(list) {
	case 1: // position#
		if !node.IsStatement() {
			break
		}
		switch list[0].Name() {
		case contract.MarkVar:
			node.Generate(storing(t.stacks.Mark, node.Position()))
		case contract.CallVar:
			node.Generate(storing(t.stacks.CallMark, node.Position()))
		}
	case 2: // import#.leave#(5)
		if isHelper(list[0], contract.Leave) {
			position, _ := strconv.Atoi(list[1].Name())
			node.Generate(t.stacks.Leaving(position))
		}
	case 3: // import#.code#(name, at)
		if isHelper(list[0], contract.Code) {
			node.Generate(stacks.DoingNothing)
		}
	case 4: // import#.enter#(name, end, top)
		if isHelper(list[0], contract.Enter) {
			name, _ := strconv.Unquote(list[1].Name())
			node.Generate(t.stacks.Entering(in, name, list[3].Name() == "true"))
		}
	}
}

// storing returns the step that stores a position in a variable.
func storing(variable *int, position int) func(next yaegi.Step) yaegi.Step {
	return func(next yaegi.Step) yaegi.Step {
		return func(*yaegi.Frame) yaegi.Step {
			*variable = position
			return next
		}
	}
}

// quicken replaces the step of a node if the node is an operation for which package yaegi has a
// step.
func (t *Trees) quicken(node *yaegi.Node) {
	generator := t.yaegi.Generator(node)
	if bounds := yaegi.BoundsOf(generator); bounds != nil {
		node.Wrap(func(plain yaegi.Step) yaegi.Step { return node.Slicing(bounds, t.checkingSlice(node, bounds, plain)) })
		return
	}
	switch generator {
	case "":
	case yaegi.IndexGenerator:
		node.Wrap(func(plain yaegi.Step) yaegi.Step { return node.Indexing(t.checkingIndex(node, plain)) })
	case yaegi.MethodGenerator:
		if len(node.Children()) == 2 {
			node.Wrap(func(plain yaegi.Step) yaegi.Step { return t.selectingMethod(node, plain) })
		}
	case yaegi.LiteralGenerator:
		t.yaegi.Literal(node, t.control.Recovers)
	default:
		t.yaegi.Quicken(node, generator)
	}
}
