package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

func isArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// hasLength reports whether the elements of x are counted from 0: that it is a slice, an array, a pointer to one, or a string.
func (l *facts) hasLength(x ast.Expr) bool {
	t := l.info.TypeOf(x)
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Array, *types.Slice:
		return true
	case *types.Pointer:
		return isArray(t.Elem())
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return false
}

func hasFunction(list *types.Tuple) bool {
	for v := range list.Variables() {
		if isFunction(v.Type()) {
			return true
		}
	}
	return false
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// isDirected reports whether t is a type of channels that only send or only receive: reflection makes none.
func isDirected(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	return ok && c.Dir() != types.SendRecv
}

// isLiteral reports whether e is a composite literal, or the address of one.
func isLiteral(e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

func (l *facts) isTuple(e ast.Expr) bool {
	_, ok := l.info.TypeOf(e).(*types.Tuple)
	return ok
}

// isPlain reports whether e calls and receives nothing.
func (l *facts) isPlain(e ast.Expr) bool {
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			plain = plain && l.info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		}
		return plain
	})
	return plain
}

func (l *facts) lhsType(e ast.Expr) types.Type {
	if t := l.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid] // the blank identifier
}

// paramAt is the type of what the i-th argument becomes, nil when there is no such parameter.
func paramAt(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		t := sig.Params().At(n - 1).Type()
		if s, ok := t.(*types.Slice); ok && !spread {
			return s.Elem()
		}
		return t
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// elementType is the type of an element of a composite literal of type t: of the i-th, or of the field that key names.
func elementType(t types.Type, st *types.Struct, i int, key ast.Expr) types.Type {
	if st == nil {
		if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
			return e.Elem()
		}
		return nil
	}
	id, named := key.(*ast.Ident)
	for j := range st.NumFields() {
		if f := st.Field(j); named && f.Name() == id.Name || !named && j == i {
			return f.Type()
		}
	}
	return nil
}

// isReceive reports whether e is a receive operation.
func isReceive(e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW
}

func isShift(tok token.Token) bool {
	return tok == token.SHL || tok == token.SHR || tok == token.SHL_ASSIGN || tok == token.SHR_ASSIGN
}
