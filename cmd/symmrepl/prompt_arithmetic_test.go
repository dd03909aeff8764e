//go:build !race

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestArithmeticPageComplete holds the page to a cell for every operation: each exported method and
// function of the files that have them.
func TestArithmeticPageComplete(t *testing.T) {
	if device() != "cpu" {
		t.Skip("compares files of the repository, which are the same for all devices")
	}
	page, err := os.ReadFile("../../docs/arithmetic.md")
	if err != nil {
		t.Fatal(err)
	}
	var cells strings.Builder
	for _, line := range strings.Split(string(page), "\n") {
		if cell, ok := strings.CutPrefix(line, "symm> "); ok {
			cells.WriteString(cell + "\n")
		}
	}
	const core = "../../symmem/internal/core/"
	n := 0
	for _, name := range []string{"../../symmem/calculate.go", "../../symmem/arithmetic.go", core + "arithmetic.go", core + "statistics.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Name.Name == "String" {
				continue
			}
			call := "." + f.Name.Name + "("
			if of, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && of.X.(*ast.Ident).Name == "Runtime" {
				call = "symm" + call
			}
			if n++; !strings.Contains(cells.String(), call) {
				t.Errorf("docs/arithmetic.md has no cell with %s…)", call)
			}
		}
	}
	if n < 45 {
		t.Errorf("%d operations were found", n)
	}
}
