package lower

import (
	"go/ast"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// loggerMethods lists the functions of package log, and methods of its loggers, that write the
// position of their caller.
var loggerMethods = map[string]bool{
	"Print": true, "Printf": true, "Println": true, "Fatal": true, "Fatalf": true, "Fatalln": true,
	"Panic": true, "Panicf": true, "Panicln": true, "Output": true,
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
