package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// branch is one way in which an assertion or a switch may succeed: a condition, and the statements
// to run then.
type branch struct {
	cond ast.Expr
	then []ast.Stmt
}

// branches lists the ways in which the variable x may hold a T; the one that succeeds sets v. It
// appends the declarations of the variables that the branches need to out.
func (l *declarer) branches(pos token.Pos, x string, t types.Type, v string, out *[]ast.Stmt) []branch {
	ref := func(name string) ast.Expr { return l.address(l.ident(pos, name)) }
	if !types.IsInterface(t) {
		return []branch{{cond: l.helper(pos, contract.Assert, ref(x), ref(v), l.quoted(pos, l.valueKey(t)))}}
	}
	args := []ast.Expr{ref(x), ref(v), l.quoted(pos, l.assertedKey(t))}
	for m := range t.Underlying().(*types.Interface).Methods() {
		args = append(args, l.quoted(pos, m.Name()))
	}
	return []branch{{cond: l.helper(pos, contract.Implements, args...)}}
}

// assertedKey returns the key by which the runtime finds the types that implement an interface type
// of cells. It returns "" for interface types of compiled code.
func (l *declarer) assertedKey(t types.Type) string {
	if !l.isBoxed(t) {
		return ""
	}
	key := l.typeText(t)
	l.asserted[key] = t
	return key
}
