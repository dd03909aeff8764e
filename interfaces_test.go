package symmrepl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// foreign are methods of other modules' types, which keep their names.
var foreign = map[string]bool{
	"As": true, "Unwrap": true, // of errors
	"Elem":    true, // of go/types
	"NetConn": true, // of crypto/tls
	"TryLock": true, // of package sync
}

// anonymous are methods that a file asks for without a name for their interface because of what
// imports permit.
var anonymous = map[string]bool{
	"chart/chart.go Shape":    true, // of tensors, among others: it imports nothing of this module
	"chart/chart.go Float64s": true,
	"interp/failure.go Hint":  true, // of an error that only interp/run knows
}

// TestInterfacesHaveNames holds that what a value may do besides is asked for by the name of an
// interface. Who implements that asserts it; a method that is asked for without a name can be
// renamed, and what it was for is gone without a word.
func TestInterfacesHaveNames(t *testing.T) {
	asked := map[string]bool{}
	for _, file := range sources(t) {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(e ast.Expr) {
			if i, ok := e.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, name := range m.Names {
						use := file + " " + name.Name
						if foreign[name.Name] {
							continue
						}
						if asked[use] = true; !anonymous[use] {
							t.Errorf("%v: %s is asked for by an interface without a name", fset.Position(m.Pos()), name.Name)
						}
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				ask(n.Type)
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						ask(e)
					}
				}
			}
			return true
		})
	}
	for use := range anonymous {
		if !asked[use] {
			t.Errorf("%s is not asked for any more", use)
		}
	}
}
