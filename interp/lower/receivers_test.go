package lower

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestReceivers holds that the methods of a file have one receiver: a file belongs to one part of
// the lowerer, and uses only that part and those below.
func TestReceivers(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			found++
			of := fn.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			switch name := of.(*ast.Ident).Name; first {
			case "":
				first = name
			case name:
			default:
				t.Errorf("%s has methods of %s and of %s: move %s to a file of %s", file.Name(), first, name, fn.Name.Name, name)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d methods are found", found)
	}
}
