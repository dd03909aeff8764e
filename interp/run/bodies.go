package run

import (
	"go/ast"
	"reflect"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/traefik/yaegi/interp"
)

// The steps of a declared function are made when it is first called, because most functions that a
// large cell declares are not called by the next statement, or never.

// body is the body of a declared function.
type body struct {
	rt    *Runtime
	block *yaegi.Node
	scope *stacks.Scope
	first atomic.Pointer[yaegi.Step] // nil until the steps are made
}

// Compile compiles a file, and guards it.
func (rt *Runtime) Compile(f *ast.File) (*interp.Program, error) {
	rt.making.Lock()
	defer rt.making.Unlock()
	p, err := rt.yaegi.CompileAST(f)
	if err == nil {
		rt.guard(yaegi.Tree(p), &stacks.Scope{})
	}
	return p, err
}

// ExecuteProgram runs a compiled program, which is a part of a cell.
func (rt *Runtime) ExecuteProgram(p *interp.Program) (reflect.Value, error) {
	if err := rt.generate(yaegi.Tree(p)); err != nil {
		return reflect.Value{}, err
	}
	return rt.yaegi.Run(p)
}

// generate makes the steps of all functions in a tree, except for the bodies that are postponed.
func (rt *Runtime) generate(tree *yaegi.Node) error {
	rt.making.Lock()
	defer rt.making.Unlock()
	return yaegi.MakeSteps(tree)
}

// postpone arranges that the steps of a declared function, whose body is in scope in, are made when
// it is first called. It returns nil if the steps are to be made at once.
func (rt *Runtime) postpone(function *yaegi.Node, in *stacks.Scope) *body {
	b := &body{rt: rt, scope: in}
	if b.block = function.Postpone(b.enter); b.block == nil {
		return nil
	}
	return b
}

// enter is the first step of the function.
func (b *body) enter(frame *yaegi.Frame) yaegi.Step {
	if b.rt.abandoned.Load() > 0 {
		b.rt.leaveAbandoned()
	}
	first := b.first.Load()
	if first == nil {
		first = b.make()
	}
	return (*first)(frame)
}

// make makes the steps, unless another goroutine has done so meanwhile, and returns the first.
func (b *body) make() *yaegi.Step {
	b.rt.making.Lock()
	defer b.rt.making.Unlock()
	if first := b.first.Load(); first != nil {
		return first
	}
	b.rt.guard(b.block, b.scope)
	first := yaegi.MakeBody(b.block)
	b.first.Store(first)
	return first
}
