package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// faultyImporter panics, as package go/types does for some syntax.
type faultyImporter struct{}

func (faultyImporter) Import(string) (*types.Package, error) {
	var p *types.Package
	return p, p.Scope().Lookup("x").(error)
}

// TestFault checks that a panic of go/types is an error of the check.
func TestFault(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x", "package main; import \"x\"", 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := &types.Config{Importer: faultyImporter{}, Error: func(error) {}}
	fault := checkFile(conf, fset, types.NewPackage("main", "main"), &types.Info{Uses: map[*ast.Ident]types.Object{}}, file)
	if fault == nil || !strings.HasPrefix(fault.Error(), "the type checker failed: ") {
		t.Errorf("got %v", fault)
	}
}
