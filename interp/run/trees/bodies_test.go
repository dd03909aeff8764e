package trees

import (
	"go/parser"
	"testing"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/native"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"github.com/symmrepl/symmrepl/interp/run/standing"
	"github.com/traefik/yaegi/interp"
)

// TestPostponedSteps checks that a declared function has no steps before its first call, and that
// yaegi finds none of its nodes until then.
func TestPostponedSteps(t *testing.T) {
	y, err := yaegi.Open(interp.New(interp.Options{}), "main", native.MendEqual)
	if err != nil {
		t.Fatal(err)
	}
	of := stacks.New(nil, nil)
	trees := New(y, nil, of, standing.New(of, nil, nil), Control{})
	file, err := parser.ParseFile(y.FileSet(), "f.go", "package main\nfunc next(n int) int { var m int; m = n; for i := 0; i < 3; i++ { m++ }; return m }", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := y.CompileAST(file)
	if err != nil {
		t.Fatal(err)
	}
	declared := Of(p).Children()
	function := declared[len(declared)-1]
	b := trees.postpone(function, &stacks.Scope{})
	if b == nil {
		t.Fatal("the function is not postponed")
	}
	if _, err := trees.ExecuteProgram(p); err != nil {
		t.Fatal(err)
	}
	if got := stepsIn(b.block); got != 0 || b.first.Load() != nil {
		t.Errorf("%d nodes of the function have steps before it is called", got)
	}
	if entry := function.Body(); len(entry.Children()) > 0 || function.First() != entry || !entry.IsMade() {
		t.Error("the function does not begin with its entry")
	}
	for range 2 {
		v, err := y.Eval("next(4)")
		if err != nil {
			t.Fatal(err)
		}
		if v.Int() != 7 {
			t.Errorf("the function returns %d, not 7", v.Int())
		}
	}
	if stepsIn(b.block) == 0 || b.first.Load() == nil {
		t.Error("no node of the function has a step after it was called")
	}
}

// stepsIn counts the nodes of a tree that have steps.
func stepsIn(node *yaegi.Node) (count int) {
	if node.IsMade() {
		count++
	}
	for _, child := range node.Children() {
		count += stepsIn(child)
	}
	return count
}
