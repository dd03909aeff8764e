package lower

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A compiled call that blocks when its cell is interrupted is abandoned. If it returns later, while
// another cell runs, the code after it does not run. But yaegi may store the call's results as part
// of the call, so variables that other cells can see are assigned in a separate step.

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
	return !promptPackages[root] && path != check.SymmemPath // a device ends its calls itself
}

// promptPackages lists packages whose functions, like those of the packages below them, do not
// block and do not take long.
var promptPackages = map[string]bool{"bytes": true, "cmp": true, "errors": true, "math": true, "strconv": true, "strings": true,
	"unicode": true}
