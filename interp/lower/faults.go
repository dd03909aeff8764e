package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// panics returns the position of the first operation in n that may panic. Blocks and function
// literals in n do not count.
func (l *facts) panics(n ast.Node) (at token.Pos) {
	if isNilNode(n) {
		return token.NoPos
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if at.IsValid() {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt, *ast.Ident, *ast.BasicLit:
			return false
		case ast.Expr:
			if tv, ok := l.info.Types[n]; ok && (tv.IsType() || tv.Value != nil) {
				return false
			}
		}
		if l.mayPanic(n) {
			at = l.faultAt(n)
		}
		return true
	})
	return at
}

// faultAt returns the position of an operation: its beginning, except for a method on another line
// than its operand, and for an index that is separate from its operand.
func (l *facts) faultAt(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && l.line(sel.Sel.Pos()) != l.line(n.Pos()) {
			return sel.Sel.Pos()
		}
	case *ast.IndexExpr:
		if isApart(n.X, n.Lbrack) {
			return n.Lbrack
		}
	case *ast.SliceExpr:
		if isApart(n.X, n.Lbrack) {
			return n.Lbrack
		}
	}
	return n.Pos()
}

// isApart reports whether something, which may be a line directive, separates an operand from its
// bracket.
func isApart(x ast.Expr, bracket token.Pos) bool { return bracket > x.End() }

// mayPanic reports whether the operation n itself may panic, not counting its operands.
func (l *facts) mayPanic(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !l.harmless(n)
	case *ast.IndexExpr:
		tv, ok := l.info.Types[n.X]
		if !ok || !tv.IsValue() {
			return false
		}
		_, isFunc := tv.Type.Underlying().(*types.Signature)
		return !isFunc
	case *ast.SliceExpr, *ast.StarExpr, *ast.SendStmt:
		return true
	case *ast.TypeAssertExpr:
		return n.Type != nil
	case *ast.SelectorExpr:
		sel := l.info.Selections[n]
		return sel != nil && sel.Indirect()
	case *ast.BinaryExpr:
		switch n.Op {
		case token.QUO, token.REM:
			return l.info.Types[n.Y].Value == nil && typed.IsInteger(l.info.TypeOf(n))
		case token.SHL, token.SHR:
			return l.info.Types[n.Y].Value == nil
		case token.EQL, token.NEQ:
			return types.IsInterface(l.info.TypeOf(n.X))
		}
	case *ast.AssignStmt:
		switch n.Tok {
		case token.QUO_ASSIGN, token.REM_ASSIGN, token.SHL_ASSIGN, token.SHR_ASSIGN:
			return l.info.Types[n.Rhs[0]].Value == nil
		}
	}
	return false
}

// harmless reports whether a call cannot panic: it is a conversion, or a builtin that only reads.
func (l *facts) harmless(n *ast.CallExpr) bool {
	tv := l.info.Types[n.Fun]
	if tv.IsType() {
		_, toArray := tv.Type.Underlying().(*types.Array)
		return !toArray
	}
	if !tv.IsBuiltin() {
		return false
	}
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	switch id.Name {
	case "len", "cap", "append", "new", "min", "max", "real", "imag", "complex", "copy", "clear", "delete":
		return true
	}
	return false
}

func isNilNode(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case ast.Expr:
		return n == nil
	}
	return false
}

// isCompiled reports whether a call runs only compiled code: the function or method belongs to a
// compiled package and gets no function of a cell.
func (l *facts) isCompiled(n *ast.CallExpr) bool {
	if !l.isCompiledFunc(ast.Unparen(n.Fun)) {
		return false
	}
	for _, a := range n.Args {
		if t := l.info.TypeOf(a); t != nil {
			if _, isFunc := t.Underlying().(*types.Signature); isFunc {
				return false
			}
		}
	}
	return true
}

// isCompiledFunc reports whether fun names a function or method of a compiled package.
func (l *facts) isCompiledFunc(fun ast.Expr) bool {
	f, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if sel := l.info.Selections[f]; sel != nil && types.IsInterface(sel.Recv()) {
		return false
	}
	fn, ok := l.info.Uses[f.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && !l.isOwn(fn)
}
