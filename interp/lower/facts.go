package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// facts are what the checker knows of a cell. Its methods answer questions, or refuse a construct; they change nothing.
type facts struct {
	checker *check.Checker
	c       *check.Cell
	info    *types.Info
}

// refusal is the panic by which lowering gives up on a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse gives up on a construct; what names it and says what to do instead.
func (l *facts) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }

// generic returns the declaration that instances of obj are made of; nil for what is not generic.
func (l *facts) generic(obj types.Object) *check.Generic {
	if g := l.c.Generics[obj]; g != nil {
		return g
	}
	return l.checker.Generic(obj)
}

// isOwn reports whether a function or method is interpreted: one of a cell, or of a package that has it in source.
func (l *facts) isOwn(fn *types.Func) bool {
	if l.checker.Interprets(fn.Pkg()) || l.generic(fn.Origin()) != nil {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && l.generic(named.Origin().Obj()) != nil
	}
	return false
}

// isTransparent reports whether yaegi gets a type's underlying type in its place: function types of packages such as iter.Seq, which compiled functions
// have by another name.
func (l *facts) isTransparent(t *types.Named) bool {
	_, isFunc := t.Underlying().(*types.Signature)
	return isFunc && !l.checker.Interprets(t.Obj().Pkg()) && t.Origin().NumMethods() == 0
}

// nativeKey returns the key of an instance that package generics has compiled. A type of cells that has a basic underlying type is that type in yaegi; but
// yaegi would also give results of the function that type.
func (l *facts) nativeKey(fn *types.Func, args []types.Type) string {
	var names []string
	for _, t := range args {
		if n, ok := t.(*types.Named); ok && l.checker.Interprets(n.Obj().Pkg()) && !typed.ReturnsParam(fn) {
			t = n.Underlying()
		}
		names = append(names, types.TypeString(t, nil))
	}
	return fn.Pkg().Path() + "." + fn.Name() + "[" + strings.Join(names, ",") + "]"
}

func (l *facts) line(pos token.Pos) int { return l.checker.Files().Position(pos).Line }

// isBuiltin reports whether a call is one of the builtin function of a name.
func (l *facts) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == name && l.info.Types[call.Fun].IsBuiltin()
}
