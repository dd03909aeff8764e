package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
)

// appendsParts reports whether append gets several elements, one of which may be in memory that
// append overwrites.
func (l *facts) appendsParts(e *ast.CallExpr) bool {
	return len(e.Args) > 2 && slices.ContainsFunc(e.Args[2:], func(a ast.Expr) bool {
		switch a := ast.Unparen(a).(type) {
		case *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr:
			return l.info.Types[a].Value == nil && l.info.Types[a].IsValue()
		}
		return false
	})
}

// losesParams reports whether e is a function in a field or behind a pointer that has parameters of
// interface types. If called in place, yaegi would give it yaegi's own representation of the
// arguments.
func (l *facts) losesParams(e ast.Expr) bool {
	tv := l.info.Types[e]
	if !tv.IsValue() || tv.Type == nil {
		return false
	}
	sig, ok := tv.Type.Underlying().(*types.Signature)
	if !ok {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if s := l.info.Selections[e]; s == nil || s.Kind() != types.FieldVal {
			return false
		}
	case *ast.StarExpr:
	default:
		return false
	}
	for v := range sig.Params().Variables() {
		t := v.Type()
		if s, ok := t.(*types.Slice); ok && sig.Variadic() {
			t = s.Elem()
		}
		if types.IsInterface(t) {
			return true
		}
	}
	return false
}

// comparesInterfaces reports whether e compares interface values, which yaegi represents
// differently than Go.
func (l *facts) comparesInterfaces(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ || l.info.Types[e.X].IsNil() || l.info.Types[e.Y].IsNil() {
		return false
	}
	return types.IsInterface(l.info.TypeOf(e.X)) || types.IsInterface(l.info.TypeOf(e.Y))
}

// isSimple reports whether an operand is a variable, or a constant.
func (l *facts) isSimple(e ast.Expr) bool {
	if tv := l.info.Types[e]; tv.Value != nil {
		return true
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := l.info.Uses[id].(*types.Var)
	return ok && (l.checker.Interprets(v.Pkg()) || v.Pkg() == nil)
}

// comparesBoxes reports whether e compares structs or arrays that contain interfaces of cells.
func (l *facts) comparesBoxes(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return false
	}
	t := l.info.TypeOf(e.X)
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return l.checker.Packages().HoldsInterfaces(t)
	}
	return false
}

// isConversion reports whether e is a conversion of a value that is not constant.
func (l *facts) isConversion(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && l.info.Types[call.Fun].IsType() && l.info.Types[e].Value == nil
}

// needsStatements reports whether an assignment is lowered to several statements.
func (l *facts) needsStatements(a *ast.AssignStmt) bool {
	if len(a.Rhs) > 1 && slices.ContainsFunc(a.Rhs, isLiteral) {
		return true
	}
	if l.interferes(a) {
		return true
	}
	if len(a.Lhs) > 1 && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return types.IsInterface(l.lhsType(e)) }) {
		return true
	}
	return slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool {
		switch e := ast.Unparen(e).(type) {
		case *ast.TypeAssertExpr:
			return len(a.Lhs) > len(a.Rhs)
		case *ast.IndexExpr:
			return len(a.Lhs) > len(a.Rhs) && a.Tok == token.ASSIGN
		case *ast.UnaryExpr:
			return e.Op == token.ARROW
		}
		return false
	})
}

func (l *facts) noResults(lit *ast.FuncLit) bool {
	return lit.Type.Results == nil || len(lit.Type.Results.List) == 0
}

// holdsResult reports whether e contains a temporary variable, which holds the result of a call
// that callsFirst moved out of e.
func (l *facts) holdsResult(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && l.info.Uses[id] == nil
		return !found
	})
	return found
}

// iterated returns the type of the i-th value of an iteration over x.
func (l *facts) iterated(x ast.Expr, i int) types.Type {
	pick := func(list ...types.Type) types.Type { return list[i] }
	switch t := l.info.TypeOf(x).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return pick(types.Typ[types.Int], types.Typ[types.Rune])
		}
	case *types.Slice:
		return pick(types.Typ[types.Int], t.Elem())
	case *types.Array:
		return pick(types.Typ[types.Int], t.Elem())
	case *types.Pointer:
		return pick(types.Typ[types.Int], t.Elem().Underlying().(*types.Array).Elem())
	case *types.Map:
		return pick(t.Key(), t.Elem())
	case *types.Chan:
		return t.Elem()
	case *types.Signature:
		return t.Params().At(0).Type().Underlying().(*types.Signature).Params().At(i).Type()
	}
	return l.info.TypeOf(x)
}

// renders reports whether a value of type t may have display forms: t has the method for that, or
// is an interface type whose values may.
func (l *facts) renders(t types.Type) bool {
	if types.IsInterface(t) {
		return true
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == check.DisplayPath {
		return true
	}
	methods := types.NewMethodSet(t)
	for _, name := range []string{
		"Render", "SimpleRender", "HTML", "JavaScript", "JPEG", "JSON", "Latex", "Markdown", "PDF", "PNG", "SVG", "ColorModel", "WriterTo",
	} {
		if methods.Lookup(l.checker.Package(), name) != nil {
			return true
		}
	}
	return false
}

// needsChoice reports whether yaegi would run a switch wrongly: the switch compares interfaces, has
// a clause with several values (yaegi evaluates all of them), or falls through to or over a default
// clause that is not the last.
func (l *facts) needsChoice(s *ast.SwitchStmt) bool {
	if s.Tag != nil && types.IsInterface(l.info.TypeOf(s.Tag)) {
		return true
	}
	through, early := false, false
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		early = early || clause.List == nil && i < len(s.Body.List)-1
		if n := len(clause.Body); n > 0 {
			b, ok := clause.Body[n-1].(*ast.BranchStmt)
			through = through || ok && b.Tok == token.FALLTHROUGH
		}
		for _, e := range clause.List {
			if tv := l.info.Types[e]; tv.Value == nil && (len(clause.List) > 1 || s.Tag != nil) || types.IsInterface(tv.Type) {
				return true
			}
		}
	}
	return through && early
}
