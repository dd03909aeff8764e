package check

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Brief reports whether the code of the cell surely ends soon: it calls no function that was
// compiled or that cells declare, has no loop, and waits for nothing. It may panic. The cell must
// not have been lowered, which changes its syntax.
func (c *Cell) Brief() bool {
	if len(c.Packages) > 0 || len(c.Inits) > 0 {
		return false
	}
	for _, t := range c.Values { // other values may have a method that describes them
		if _, basic := types.Unalias(t).(*types.Basic); !basic {
			return false
		}
	}
	brief := true
	for _, s := range c.Stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // it is not called
			case *ast.CallExpr:
				brief = brief && c.endsSoon(n)
			case *ast.UnaryExpr:
				brief = brief && n.Op != token.ARROW
			case *ast.AssignStmt, *ast.DeclStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.BlockStmt, *ast.IfStmt, *ast.EmptyStmt:
			case ast.Stmt:
				brief = false
			}
			return brief
		})
	}
	return brief
}

// endsSoon reports whether a call is a conversion or a call of a built-in function that neither
// waits nor panics with a value of the cell.
func (c *Cell) endsSoon(call *ast.CallExpr) bool {
	switch called := c.Info.Types[call.Fun]; {
	case called.IsType():
		return true
	case called.IsBuiltin():
		name, ok := ast.Unparen(call.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		switch name.Name {
		case "append", "cap", "complex", "copy", "delete", "imag", "len", "make", "max", "min", "new", "real":
			return true
		}
	}
	return false
}
