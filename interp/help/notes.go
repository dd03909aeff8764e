package help

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// Notes returns remarks about a cell that checks but does not do what it seems to, one for each
// place.
func Notes(k *check.Checker, c *check.Cell) (notes []string) {
	isTensor := func(e ast.Expr) bool { return check.IsTensor(c.Info.TypeOf(e)) }
	literal := false
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			outer := literal
			literal = true
			ast.Inspect(n.Body, visit)
			literal = outer
			return false
		case *ast.ExprStmt:
			if note := droppedNote(c, n, literal); note != "" {
				notes = append(notes, note)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && isTensor(n.X) && isTensor(n.Y) {
				notes = append(notes, fmt.Sprintf("note: %s asks whether both are one tensor; %s", types.ExprString(n),
					elementsEqual(n.X, types.ExprString(n.Y))))
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || !c.Info.Types[id].IsBuiltin() || id.Name != "print" && id.Name != "println" {
				break
			}
			for _, arg := range n.Args {
				if isTensor(arg) {
					notes = append(notes,
						fmt.Sprintf("note: %s prints an address; fmt.Println(%s) prints the elements", types.ExprString(n),
							types.ExprString(arg)))
					break
				}
			}
		}
		return true
	}
	for _, d := range c.Decls {
		ast.Inspect(d, visit)
	}
	ast.Inspect(c.Body.Body, visit)
	return notes
}
