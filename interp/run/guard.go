package run

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
func (rt *Runtime) guard(node *yaegi.Node, in *stacks.Scope) {
	node.Unmake()
	switch generator := rt.yaegi.Generator(node); generator {
	case yaegi.CallGenerator:
		rt.yaegi.Call(node)
		rt.guardCall(node, in)
	case yaegi.BinaryGenerator:
		rt.yaegi.CallCompiled(node)
		node.Wrap(func(s yaegi.Step) yaegi.Step { return rt.printing(node, s) })
		rt.guardCall(node, in)
	}
	rt.useStep(node, in)
	rt.quicken(node)
	if node.IsFunction() {
		rt.guardFunction(node, in.Enter())
		return
	}
	for _, child := range node.Children() {
		rt.guard(child, in)
	}
}

// guardCall guards a call, and records it on the stack if its function is traced.
func (rt *Runtime) guardCall(node *yaegi.Node, in *stacks.Scope) {
	point := in.Point
	node.Wrap(func(s yaegi.Step) yaegi.Step {
		if in.Traced {
			s = rt.Stacks.Calling(in, callPosition(node), point, s)
		}
		return func(frame *yaegi.Frame) yaegi.Step {
			next := s(frame)
			if rt.abandoned.Load() > 0 {
				rt.leaveAbandoned()
			}
			return next
		}
	})
}

// guardFunction guards a function; in is the function's scope.
func (rt *Runtime) guardFunction(node *yaegi.Node, in *stacks.Scope) {
	for _, t := range node.Variables() {
		native.MendEqual(t)
	}
	if f, ok := codeOf(node); ok {
		node.MakeOne()
		node.Wrap(func(s yaegi.Step) yaegi.Step { return rt.keeping(node, f, s) })
	}
	if rt.postpone(node, in) != nil {
		return
	}
	for _, child := range node.Children() {
		rt.guard(child, in)
	}
	first := node.First()
	if first == nil {
		return
	}
	first.Wrap(func(s yaegi.Step) yaegi.Step {
		return func(frame *yaegi.Frame) yaegi.Step {
			if rt.abandoned.Load() > 0 {
				rt.leaveAbandoned()
			}
			return s(frame)
		}
	})
	if node.IsLiteral() {
		yaegi.MakeBody(node.Body())
	}
}
