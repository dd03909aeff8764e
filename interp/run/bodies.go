package run

import (
	"go/ast"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// The steps of a declared function are made when it is called first: most of what a large cell declares is not called by the next statement, or ever. In the
// tree, an entry takes the place of the function's body, so that neither yaegi nor others that walk trees find there what is not made yet.

// body is the body of a declared function.
type body struct {
	rt    *Runtime
	block unsafe.Pointer
	scope *scope
	first atomic.Pointer[step] // nil until the steps are made
}

// Compile compiles a file, and guards it.
func (rt *Runtime) Compile(f *ast.File) (*interp.Program, error) {
	rt.making.Lock()
	defer rt.making.Unlock()
	p, err := rt.yaegi.CompileAST(f)
	if err == nil {
		rt.guard(unsafe.Pointer(Tree(p)), &scope{})
	}
	return p, err
}

// ExecuteProgram runs a compiled program, which is a part of a cell.
func (rt *Runtime) ExecuteProgram(p *interp.Program) (reflect.Value, error) {
	if err := rt.generate(unsafe.Pointer(Tree(p))); err != nil {
		return reflect.Value{}, err
	}
	return rt.yaegi.execute(p)
}

// generate makes the steps of all functions in a tree, but for the bodies that are postponed.
func (rt *Runtime) generate(tree unsafe.Pointer) error {
	rt.making.Lock()
	defer rt.making.Unlock()
	return genRun(tree)
}

// genRun makes the steps of functions and variables, where there are none.
//
//go:linkname genRun github.com/traefik/yaegi/interp.genRun
func genRun(tree unsafe.Pointer) error

// postpone puts an entry in the place of a declared function's body. It returns nil for a function whose steps are to be made at once: function literals, and init
// functions, which yaegi does not call by their bodies.
func (rt *Runtime) postpone(function unsafe.Pointer, in *scope) *body {
	n := rt.yaegi.nodes
	children := n.childrenOf(function)
	block := children[bodyChild]
	start := n.pointer(block, n.start)
	if n.kindOf(function) != n.funcDecl || n.nameOf(children[nameChild]) == "init" || start == nil || *n.genOf(start) == nil {
		return nil
	}
	b := &body{rt: rt, block: block, scope: in}
	entry := reflect.New(n.node)
	entry.Elem().Set(reflect.NewAt(n.node, block).Elem())
	at := entry.UnsafePointer()
	*(*[]unsafe.Pointer)(unsafe.Add(at, n.child)) = nil
	for _, field := range []uintptr{n.next, n.fnext} {
		*(*unsafe.Pointer)(unsafe.Add(at, field)) = nil
	}
	*(*unsafe.Pointer)(unsafe.Add(at, n.start)) = at
	*n.execOf(at) = b.enter
	*(*any)(unsafe.Add(at, n.val)) = b
	children[bodyChild] = at
	return b
}

// blockOf returns the body of a function, which an entry may have taken the place of.
func (n *nodes) blockOf(function unsafe.Pointer) unsafe.Pointer {
	block := n.childrenOf(function)[bodyChild]
	if b, ok := (*(*any)(unsafe.Add(block, n.val))).(*body); ok {
		return b.block
	}
	return block
}

// enter is the step by which the function begins.
func (b *body) enter(frame unsafe.Pointer) step {
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
func (b *body) make() *step {
	b.rt.making.Lock()
	defer b.rt.making.Unlock()
	if first := b.first.Load(); first != nil {
		return first
	}
	n := b.rt.yaegi.nodes
	b.rt.guard(b.block, b.scope)
	start := n.pointer(b.block, n.start)
	setExec(start)
	first := n.execOf(start)
	b.first.Store(first)
	return first
}
