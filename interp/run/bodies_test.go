package run

import (
	"go/parser"
	"testing"
	"unsafe"
)

// TestPostponedSteps holds that a declared function has no steps before it is called first, and that yaegi finds none of its nodes until then.
func TestPostponedSteps(t *testing.T) {
	rt, err := New(nil, nil, 1<<30, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(rt.Files(), "f.go", "package main\nfunc next(n int) int { var m int; m = n; for i := 0; i < 3; i++ { m++ }; return m }", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rt.yaegi.CompileAST(file)
	if err != nil {
		t.Fatal(err)
	}
	n, tree := rt.yaegi.nodes, unsafe.Pointer(Tree(p))
	declared := n.childrenOf(tree)
	function := declared[len(declared)-1]
	b := rt.postpone(function, &scope{})
	if b == nil {
		t.Fatal("the function is not postponed")
	}
	if _, err := rt.ExecuteProgram(p); err != nil {
		t.Fatal(err)
	}
	if got := stepsIn(n, b.block); got != 0 || b.first.Load() != nil {
		t.Errorf("%d nodes of the function have steps before it is called", got)
	}
	if entry := n.childrenOf(function)[bodyChild]; len(n.childrenOf(entry)) > 0 || n.pointer(entry, n.start) != entry || *n.execOf(entry) == nil {
		t.Error("the function does not begin with its entry")
	}
	for range 2 {
		v, err := rt.yaegi.Eval("next(4)")
		if err != nil {
			t.Fatal(err)
		}
		if v.Int() != 7 {
			t.Errorf("the function returns %d, not 7", v.Int())
		}
	}
	if stepsIn(n, b.block) == 0 || b.first.Load() == nil {
		t.Error("no node of the function has a step after it was called")
	}
}

// stepsIn counts the nodes of a tree that have steps.
func stepsIn(n *nodes, node unsafe.Pointer) (count int) {
	if *n.execOf(node) != nil {
		count++
	}
	for _, child := range n.childrenOf(node) {
		count += stepsIn(n, child)
	}
	return count
}
