package trees

import (
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// The trees that yaegi compiles are guarded: after each call, and at the beginning of each function
// of a cell, the code checks whether its execution was abandoned. Yaegi itself can only stop all
// interpreted code or none, so without the guard, code whose call returns late would continue as
// soon as the next cell runs.

// guard makes the code of a tree end when its execution is abandoned, and replaces steps of
// yaegi's: see steps.go. Yaegi has already made the steps of function literals; they are made
// again.
func (t *Trees) guard(node *yaegi.Node, in *stacks.Scope) {
	node.Unmake()
	switch generator := t.yaegi.Generator(node); generator {
	case yaegi.CallGenerator:
		t.yaegi.Call(node)
		t.guardCall(node, in)
	case yaegi.BinaryGenerator:
		t.yaegi.CallCompiled(node)
		node.Wrap(func(s yaegi.Step) yaegi.Step { return t.printing(node, s) })
		t.guardCall(node, in)
	}
	t.useStep(node, in)
	t.quicken(node)
	if node.IsFunction() {
		t.guardFunction(node, in.Enter())
		return
	}
	for _, child := range node.Children() {
		t.guard(child, in)
	}
}

// guardCall guards a call, and records it on the stack if its function is traced.
func (t *Trees) guardCall(node *yaegi.Node, in *stacks.Scope) {
	point := in.Point
	node.Wrap(func(s yaegi.Step) yaegi.Step {
		if in.Traced {
			s = t.stacks.Calling(in, callPosition(node), point, s)
		}
		return func(frame *yaegi.Frame) yaegi.Step {
			next := s(frame)
			if t.Abandoned.Load() > 0 {
				t.control.Leave()
			}
			return next
		}
	})
}

// guardFunction guards a function; in is the function's scope.
func (t *Trees) guardFunction(node *yaegi.Node, in *stacks.Scope) {
	for _, t := range node.Variables() {
		native.MendEqual(t)
	}
	if f, ok := codeOf(node); ok {
		node.MakeOne()
		node.Wrap(func(s yaegi.Step) yaegi.Step { return t.keeping(node, f, s) })
	}
	if t.postpone(node, in) != nil {
		return
	}
	for _, child := range node.Children() {
		t.guard(child, in)
	}
	first := node.First()
	if first == nil {
		return
	}
	first.Wrap(func(s yaegi.Step) yaegi.Step {
		return func(frame *yaegi.Frame) yaegi.Step {
			if t.Abandoned.Load() > 0 {
				t.control.Leave()
			}
			return s(frame)
		}
	})
	if node.IsLiteral() {
		yaegi.MakeBody(node.Body())
	}
}
