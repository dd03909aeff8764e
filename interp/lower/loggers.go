package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// loggerMethods lists the functions of package log, and methods of its loggers, that write the
// position of their caller.
var loggerMethods = map[string]bool{
	"Print": true, "Printf": true, "Println": true, "Fatal": true, "Fatalf": true, "Fatalln": true,
	"Panic": true, "Panicf": true, "Panicln": true, "Output": true,
}

// isLogger reports whether e selects such a function or method.
func (l *marker) isLogger(e *ast.SelectorExpr) bool {
	fn, ok := l.info.Uses[e.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "log" && loggerMethods[fn.Name()] && !l.silent
}

// loggerAt turns a lowered logger into a run.Logger, which knows the position of e.
func (l *builder) loggerAt(e *ast.SelectorExpr, logger ast.Expr) ast.Expr {
	return l.helper(e.Pos(), contract.LoggerAt, logger, l.number(e.Pos(), int(e.Sel.Pos())))
}

// standardLogger lowers the selection of such a function of package log.
func (l *builder) standardLogger(e *ast.SelectorExpr) ast.Expr {
	return &ast.SelectorExpr{X: l.loggerAt(e,
		&ast.CallExpr{Fun: l.pkgMember(e.Pos(), "log", "Default"), Lparen: e.Pos(), Rparen: e.Pos()}), Sel: e.Sel}
}

// loggerReceiver lowers the logger whose method e selects; the result is a pointer.
func (l *lowerer) loggerReceiver(e *ast.SelectorExpr) ast.Expr {
	l.captureOperand(e.X)
	x, t := l.embeddedField(e, l.info.Selections[e])
	if !check.IsPointer(t) {
		x = l.address(x)
	}
	return x
}
