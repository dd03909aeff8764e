package run

import (
	"strconv"

	"github.com/petermattis/goid"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// Besides the user's own operations, lowered code mostly stores positions and records that a
// function begins. For these it has its own steps, which take a fifth of the time of yaegi's. The
// steps of operations are in package yaegi; elements.go and nilreceivers.go add their panics.

// useStep replaces the step of a node in a function, if this package has one for it.
func (rt *Runtime) useStep(node *yaegi.Node, in *stacks.Scope) {
	list := node.Children()
	if len(list) > 1 && isHelper(list[0], contract.StopAt) {
		rt.stoppingAt(node, in)
		return
	}
	switch len(list) {
	case 1: // position#
		if !node.IsStatement() {
			break
		}
		switch list[0].Name() {
		case contract.MarkVar:
			node.Generate(storing(rt.Stacks.Mark, node.Position()))
		case contract.CallVar:
			node.Generate(storing(rt.Stacks.CallMark, node.Position()))
		}
	case 2: // import#.leave#(5)
		if isHelper(list[0], contract.Leave) {
			position, _ := strconv.Atoi(list[1].Name())
			node.Generate(rt.Stacks.Leaving(position))
		}
	case 3: // import#.code#(name, at)
		if isHelper(list[0], contract.Code) {
			node.Generate(stacks.DoingNothing)
		}
	case 4: // import#.enter#(name, end, top)
		if isHelper(list[0], contract.Enter) {
			name, _ := strconv.Unquote(list[1].Name())
			node.Generate(rt.Stacks.Entering(in, name, list[3].Name() == "true"))
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
func (rt *Runtime) quicken(node *yaegi.Node) {
	generator := rt.yaegi.Generator(node)
	if bounds := yaegi.BoundsOf(generator); bounds != nil {
		node.Wrap(func(plain yaegi.Step) yaegi.Step { return node.Slicing(bounds, rt.checkingSlice(node, bounds, plain)) })
		return
	}
	switch generator {
	case "":
	case yaegi.IndexGenerator:
		node.Wrap(func(plain yaegi.Step) yaegi.Step { return node.Indexing(rt.checkingIndex(node, plain)) })
	case yaegi.MethodGenerator:
		if len(node.Children()) == 2 {
			node.Wrap(func(plain yaegi.Step) yaegi.Step { return rt.selectingMethod(node, plain) })
		}
	case yaegi.LiteralGenerator:
		rt.yaegi.Literal(node, rt.recovers)
	default:
		rt.yaegi.Quicken(node, generator)
	}
}

// recovers reports whether the calling goroutine recovers from panics of cells. On another
// goroutine a panic may end the process; see callbacks.go.
func (rt *Runtime) recovers() bool {
	_, own := rt.own.Load(goid.Get())
	return own
}
