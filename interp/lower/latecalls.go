package lower

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A compiled call that blocks when its cell is interrupted is given up. If it returns later, in the time of another cell, what follows it is not executed. Yaegi
// may store its results as a part of the call, so variables that other cells see are assigned in a step of their own.

// mayBeLate reports whether e is a call of a compiled function that may take long to return.
func (l *facts) mayBeLate(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := l.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || l.isOwn(fn) {
		return false
	}
	path := fn.Pkg().Path()
	root, _, _ := strings.Cut(path, "/")
	return !promptPackages[root] && path != check.SymmemPath // a device ends its own calls
}

// promptPackages are packages, with those below them, whose functions do not block and do not take long.
var promptPackages = map[string]bool{"bytes": true, "cmp": true, "errors": true, "math": true, "strconv": true, "strings": true, "unicode": true}
