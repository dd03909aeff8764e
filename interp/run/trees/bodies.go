package trees

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
	of    *Trees
	block *yaegi.Node
	scope *stacks.Scope
	first atomic.Pointer[yaegi.Step] // nil until the steps are made
}

// Of returns the tree of a compiled program, for runtime.AddCleanup: the program's positions and
// function literals may be used while the tree is reachable.
func Of(p *interp.Program) *yaegi.Node { return yaegi.Tree(p) }

// Compile compiles a file, and guards it.
func (t *Trees) Compile(f *ast.File) (*interp.Program, error) {
	t.making.Lock()
	defer t.making.Unlock()
	p, err := t.yaegi.CompileAST(f)
	if err == nil {
		t.guard(yaegi.Tree(p), &stacks.Scope{})
	}
	return p, err
}

// ExecuteProgram runs a compiled program, which is a part of a cell.
func (t *Trees) ExecuteProgram(p *interp.Program) (reflect.Value, error) {
	if err := t.generate(yaegi.Tree(p)); err != nil {
		return reflect.Value{}, err
	}
	return t.yaegi.Run(p)
}

// generate makes the steps of all functions in a tree, except for the bodies that are postponed.
func (t *Trees) generate(tree *yaegi.Node) error {
	t.making.Lock()
	defer t.making.Unlock()
	return yaegi.MakeSteps(tree)
}

// postpone arranges that the steps of a declared function, whose body is in scope in, are made when
// it is first called. It returns nil if the steps are to be made at once.
func (t *Trees) postpone(function *yaegi.Node, in *stacks.Scope) *body {
	b := &body{of: t, scope: in}
	if b.block = function.Postpone(b.enter); b.block == nil {
		return nil
	}
	return b
}

// enter is the first step of the function.
func (b *body) enter(frame *yaegi.Frame) yaegi.Step {
	if b.of.Abandoned.Load() > 0 {
		b.of.control.Leave()
	}
	first := b.first.Load()
	if first == nil {
		first = b.make()
	}
	return (*first)(frame)
}

// make makes the steps, unless another goroutine has done so meanwhile, and returns the first.
func (b *body) make() *yaegi.Step {
	b.of.making.Lock()
	defer b.of.making.Unlock()
	if first := b.first.Load(); first != nil {
		return first
	}
	b.of.guard(b.block, b.scope)
	first := yaegi.MakeBody(b.block)
	b.first.Store(first)
	return first
}
