package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// expr lowers an expression or a type.
func (l *lowerer) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	if tv, ok := l.info.Types[e]; ok && tv.Value != nil {
		if folded := l.constant(e, tv); folded != nil {
			return folded
		}
	}
	switch e := e.(type) {
	case *ast.Ident:
		if sel := l.qualified(e); sel != ast.Expr(e) {
			return l.expr(sel)
		}
		if fn, ok := l.info.Uses[e].(*types.Func); ok && l.generic(fn) != nil {
			return l.instanceValue(e, fn)
		} else if ok && l.checker.Interprets(fn.Pkg()) {
			return l.functionValue(e, fn)
		}
		return l.identifier(e)
	case *ast.BasicLit:
		return e
	case *ast.SelectorExpr:
		return l.member(e)
	case *ast.CallExpr:
		return l.call(e)
	case *ast.FuncLit:
		return l.kept(l.funcLit(e))
	case *ast.CompositeLit:
		return l.composite(e)
	case *ast.ParenExpr:
		e.X = l.expr(e.X)
	case *ast.IndexExpr:
		if tv := l.info.Types[e]; tv.IsType() {
			return l.typeExpr(tv.Type, e.Pos())
		} else if _, isFunc := l.info.TypeOf(e.X).Underlying().(*types.Signature); isFunc {
			return l.expr(e.X) // with type arguments
		}
		if m, ok := l.info.TypeOf(e.X).Underlying().(*types.Map); ok {
			e.X, e.Index = l.expr(e.X), l.convertKey(e.Index, m)
			return e
		}
		e.X, e.Index = l.expr(l.fromBracket(e.X, e.Lbrack)), l.expr(e.Index)
	case *ast.IndexListExpr:
		if tv := l.info.Types[e]; tv.IsType() {
			return l.typeExpr(tv.Type, e.Pos())
		}
		return l.expr(e.X)
	case *ast.SliceExpr:
		if _, ok := l.info.TypeOf(e.X).Underlying().(*types.Array); ok {
			l.captureOperand(e.X)
		}
		e.X, e.Low, e.High, e.Max = l.expr(l.fromBracket(e.X, e.Lbrack)), l.expr(e.Low), l.expr(e.High), l.expr(e.Max)
	case *ast.TypeAssertExpr:
		return l.assert(e)
	case *ast.StarExpr:
		e.X = l.expr(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			l.captureOperand(e.X)
			l.dereference(e.X)
			// yaegi would use one literal for all iterations of a loop
			if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok && !typed.IsStruct(l.info.TypeOf(lit)) {
				return l.pointerTo(l.expr(lit), l.info.TypeOf(lit))
			}
		}
		e.X = l.expr(e.X)
	case *ast.BinaryExpr:
		if l.comparesInterfaces(e) {
			return l.equal(e)
		}
		if x := l.comparedToNil(e); x != nil {
			return l.isNil(e, x)
		}
		if l.comparesBoxes(e) {
			return l.same(e)
		}
		if e.Op == token.LAND || e.Op == token.LOR {
			e.X, e.Y = l.firstOperand(e.X), l.receivedOperand(e.Y)
			return e
		}
		if isShift(e.Op) {
			e.X, e.Y = l.shifted(e.X), l.shiftCount(e.Y)
			return e
		}
		if e.Op == token.QUO {
			e.X, e.Y = l.expr(e.X), l.divisor(e.Y)
			return e
		}
		switch x, y := l.info.TypeOf(e.X), l.info.TypeOf(e.Y); {
		case l.info.Types[e.X].IsNil() || l.info.Types[e.Y].IsNil():
			e.X, e.Y = l.expr(e.X), l.expr(e.Y)
		case types.AssignableTo(x, y):
			e.X, e.Y = l.convert(e.X, y), l.expr(e.Y)
		default:
			e.X, e.Y = l.expr(e.X), l.convert(e.Y, x)
		}
	case *ast.KeyValueExpr:
		e.Key, e.Value = l.expr(e.Key), l.expr(e.Value)
	case *ast.ArrayType:
		l.refuseLarge(e.Pos(), l.info.TypeOf(e))
		if _, ok := e.Len.(*ast.Ellipsis); !ok && e.Len != nil {
			e.Len = l.integer(e.Len)
		}
		e.Elt = l.expr(e.Elt)
	case *ast.StructType:
		l.structFields(e)
	case *ast.FuncType:
		l.funcType(e)
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return l.ident(e.Pos(), "any") // as in typeExpr
		}
		l.fieldList(e.Methods)
	case *ast.MapType:
		if t := l.info.TypeOf(e.Key); t != nil {
			l.checkKey(e.Pos(), t)
		}
		e.Key, e.Value = l.expr(e.Key), l.expr(e.Value)
	case *ast.ChanType:
		e.Value = l.expr(e.Value)
	case *ast.Ellipsis:
		e.Elt = l.expr(e.Elt)
	}
	return e
}

func (l *lowerer) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = l.expr(e)
	}
}

// member lowers a selector that is not the function operand of a call.
func (l *lowerer) member(e *ast.SelectorExpr) ast.Expr {
	s := l.info.Selections[e]
	switch {
	case s == nil || s.Kind() == types.FieldVal:
		return l.selector(e)
	case s.Kind() == types.MethodExpr:
		return l.methodExpr(e, s)
	}
	return l.methodValue(e, s)
}

// selector lowers pkg.Name, x.field and x.Method.
func (l *lowerer) selector(e *ast.SelectorExpr) ast.Expr {
	if id, ok := e.X.(*ast.Ident); ok {
		if pkg, ok := l.info.Uses[id].(*types.PkgName); ok {
			if t, ok := l.info.Uses[e.Sel].(*types.TypeName); ok && l.generic(t) != nil {
				return l.typeExpr(t.Type(), e.Pos())
			}
			if l.isLogger(e) {
				return l.standardLogger(e)
			}
			if v, ok := l.info.Uses[e.Sel].(*types.Var); ok && typed.IsBasic(v.Type()) {
				// yaegi would treat it as a constant
				if at, ok := l.checker.Packages().Variable(v); ok {
					p := l.hiddenSymbol(e.Pos(), pkg.Imported().Path()+"."+v.Name(), at)
					return &ast.ParenExpr{Lparen: e.Pos(), X: &ast.StarExpr{Star: e.Pos(), X: p}, Rparen: e.End()}
				}
			}
			return l.instance(e.Sel, l.pkgMember(id.Pos(), pkg.Imported().Path(), e.Sel.Name))
		}
	}
	if s := l.info.Selections[e]; s != nil && s.Kind() == types.MethodVal && l.isLogger(e) {
		return &ast.SelectorExpr{X: l.loggerAt(e, l.loggerReceiver(e)), Sel: e.Sel}
	}
	if s := l.info.Selections[e]; s != nil && s.Kind() == types.MethodVal &&
		check.IsPointer(s.Obj().(*types.Func).Signature().Recv().Type()) {
		l.captureOperand(e.X)
	}
	if s := l.info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
		l.refuseHiding(e, s)
	}
	if s := l.info.Selections[e]; s != nil && len(s.Index()) > 1 && l.mistakesDepth(s) {
		e.X, _ = l.methodOwner(e, s)
	} else {
		e.X = l.expr(e.X)
	}
	if v, ok := l.info.Uses[e.Sel].(*types.Var); ok && v.Embedded() {
		e.Sel = l.ident(e.Sel.Pos(), l.fieldName(v))
	}
	return e
}

// composite lowers a composite literal. The keys of a struct's fields are not expressions.
func (l *lowerer) composite(e *ast.CompositeLit) (out ast.Expr) {
	t := l.info.TypeOf(e)
	if e.Type = l.expr(e.Type); e.Type == nil && l.isRecursive(t) {
		e.Type = l.typeExpr(t, e.Pos())
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element written without &T
		t = p.Elem()
		if !typed.IsStruct(t) {
			e.Type = l.typeExpr(t, e.Pos())
			defer func() { out = l.pointerTo(e, t) }()
		}
	}
	st, isStruct := t.Underlying().(*types.Struct)
	for i, elt := range e.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			e.Elts[i] = l.element(elt, typed.ElementType(t, st, i, nil))
			if isStruct && st.Field(i).Name() == "_" {
				e.Elts[i] = l.dropped(e.Elts[i], st.Field(i).Type())
			}
			continue
		}
		if !isStruct {
			if m, ok := t.Underlying().(*types.Map); ok {
				kv.Key = l.convertKey(kv.Key, m)
			} else {
				kv.Key = l.integer(kv.Key)
			}
		} else if id, ok := kv.Key.(*ast.Ident); ok {
			if f, ok := l.info.Uses[id].(*types.Var); ok {
				kv.Key = l.ident(id.Pos(), l.fieldName(f))
			}
		}
		kv.Value = l.convert(kv.Value, typed.ElementType(t, st, i, kv.Key))
	}
	return e
}

// convertKey lowers a key of a map. Yaegi itself converts keys to interfaces of cells.
func (l *lowerer) convertKey(e ast.Expr, m *types.Map) ast.Expr {
	if l.isBoxed(m.Key()) {
		return l.expr(e)
	}
	return l.convert(e, m.Key())
}

// divisor lowers a divisor. A constant zero, by which only floating-point and complex numbers can
// be divided, gets a type, because yaegi rejects an untyped one.
func (l *lowerer) divisor(e ast.Expr) ast.Expr {
	if tv := l.info.Types[e]; tv.Value != nil && constant.Sign(tv.Value) == 0 {
		return l.conversion(tv.Type, l.typedConstant(e, tv))
	}
	return l.expr(e)
}

// integer lowers a constant that is an integer whatever its type is: a count, index or length.
func (l *lowerer) integer(e ast.Expr) ast.Expr {
	tv := l.info.Types[e]
	if tv.Value == nil {
		return l.expr(e)
	}
	return &ast.BasicLit{ValuePos: e.Pos(), Kind: token.INT, Value: constant.ToInt(tv.Value).ExactString()}
}
