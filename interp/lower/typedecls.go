package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// finishType tags a declared type obj, so that its values can be distinguished from those of other
// types. An interface type without methods becomes an alias of any, because yaegi would not store
// nil when nil is assigned to a variable of the type.
func (l *declarer) finishType(s *ast.TypeSpec, obj types.Object) {
	l.types[s] = obj
	if obj != nil && typed.IsEmptyInterface(obj.Type()) {
		s.Assign, s.Type = s.Pos(), &ast.InterfaceType{Interface: s.Pos(), Methods: &ast.FieldList{Opening: s.Pos()}}
	}
	if st, ok := s.Type.(*ast.StructType); ok && !s.Assign.IsValid() {
		if len(st.Fields.List) == 0 {
			empty := &ast.StructType{Struct: s.Pos(), Fields: &ast.FieldList{Opening: s.Pos()}}
			st.Fields.List = []*ast.Field{{Names: []*ast.Ident{l.ident(s.Pos(), "_")}, Type: empty}}
		}
		tagType(st.Fields.List[0], s.Name.Name)
	}
}

// typeHelpers returns the additional methods of a declared type.
func (l *declarer) typeHelpers(s *ast.TypeSpec) []*ast.FuncDecl {
	out := l.promoted(s)
	if f := l.identityMethod(s); f != nil {
		out = append(out, f)
	}
	if obj := l.types[s]; obj != nil && !s.Assign.IsValid() {
		l.registerMethods(obj.Type(), nil)
	}
	return out
}

// tagType writes a struct type's name into the tag of its first field. The tag makes the type
// different from all others in package reflect, and gives the name of any value of the type.
func tagType(f *ast.Field, name string) {
	tag := contract.TypeTag + ":" + strconv.Quote(name)
	if f.Tag != nil {
		if old, err := strconv.Unquote(f.Tag.Value); err == nil {
			tag = old + " " + tag
		}
	}
	f.Tag = &ast.BasicLit{ValuePos: f.Pos(), Kind: token.STRING, Value: strconv.Quote(tag)}
}

// identityMethod returns a method that every type gets, because yaegi keeps the identity of a value
// in an interface only if its type has methods.
func (l *declarer) identityMethod(s *ast.TypeSpec) *ast.FuncDecl {
	obj := l.types[s]
	if obj == nil || s.Assign.IsValid() {
		return nil
	}
	switch obj.Type().Underlying().(type) {
	case *types.Interface, *types.Pointer:
		return nil
	}
	pos := s.Pos()
	recv := &ast.Field{Type: &ast.StarExpr{Star: pos, X: l.ident(pos, s.Name.Name)}}
	return &ast.FuncDecl{
		Recv: &ast.FieldList{Opening: pos, List: []*ast.Field{recv}},
		Name: l.ident(pos, identityName),
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}},
		Body: &ast.BlockStmt{Lbrace: pos, Rbrace: pos},
	}
}

const identityName = "identity#"

// promoted returns methods that forward to methods of embedded types that yaegi does not find by
// itself: methods of interfaces, and methods for which it would find another (see promotion.go).
func (l *declarer) promoted(s *ast.TypeSpec) []*ast.FuncDecl {
	obj := l.types[s]
	if obj == nil || s.Assign.IsValid() {
		return nil
	}
	st, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var out []*ast.FuncDecl
	pos := s.Pos()
	byValue := types.NewMethodSet(obj.Type())
	for m := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
		fn := m.Obj().(*types.Func)
		if len(m.Index()) < 2 || !types.IsInterface(fn.Signature().Recv().Type()) && !l.mistakesMethod(m) {
			continue
		}
		var of ast.Expr = l.ident(pos, s.Name.Name)
		if byValue.Lookup(fn.Pkg(), fn.Name()) == nil {
			of = &ast.StarExpr{Star: pos, X: of}
		}
		var x ast.Expr = l.ident(pos, "recv#")
		var t types.Type = st
		for _, i := range m.Index()[:len(m.Index())-1] {
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			f := t.Underlying().(*types.Struct).Field(i)
			x, t = &ast.SelectorExpr{X: x, Sel: l.ident(pos, l.fieldName(f))}, f.Type()
		}
		lit, args := l.forwarder(pos, fn.Signature())
		l.forward(lit, fn.Signature(), &ast.SelectorExpr{X: x, Sel: l.ident(pos, fn.Name())}, args)
		recv := &ast.Field{Names: []*ast.Ident{l.ident(pos, "recv#")}, Type: of}
		out = append(out, &ast.FuncDecl{
			Recv: &ast.FieldList{Opening: pos, List: []*ast.Field{recv}}, Name: l.ident(pos, fn.Name()), Type: lit.Type, Body: lit.Body,
		})
	}
	return out
}

// registerMethods registers a declared type's methods for compiled code.
func (l *declarer) registerMethods(t types.Type, only *types.Func) {
	named, ok := t.(*types.Named)
	if !ok || types.IsInterface(t) || check.IsPointer(t) {
		return
	}
	pos := l.c.Body.Pos()
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		fn := m.Obj().(*types.Func)
		if !fn.Exported() || only != nil && fn != only {
			continue
		}
		key := l.valueKey(named)
		sig := m.Type().(*types.Signature)
		lit, args := l.forwarder(pos, sig)
		recv := "recv#"
		lit.Type.Params.List = append([]*ast.Field{{Names: []*ast.Ident{l.ident(pos, recv)},
			Type: l.typeExpr(types.NewPointer(t), pos)}}, lit.Type.Params.List...)
		var x ast.Expr = l.ident(pos, recv)
		l.forward(lit, sig, &ast.SelectorExpr{X: x, Sel: l.ident(pos, fn.Name())}, args)
		l.registrations = append(l.registrations,
			&ast.ExprStmt{X: l.helper(pos, contract.Method, l.quoted(pos, key), l.quoted(pos, fn.Name()), lit)})
	}
}

// registerAdded registers a method that this cell adds to a type of an earlier cell, also for the
// types that embed that type.
func (l *declarer) registerAdded(fn *types.Func) {
	for _, obj := range l.program.spelled() {
		l.registerMethods(obj.Type(), fn)
	}
}

// recursiveSpec lowers the declaration of a recursive type.
func (l *declarer) recursiveSpec(s *ast.TypeSpec, obj types.Object) *ast.TypeSpec {
	named := obj.Type().(*types.Named)
	switch named.Underlying().(type) {
	case *types.Signature, *types.Pointer, *types.Map:
	default:
		l.refuseRecursive(s.Name.Pos(), named)
	}
	if typed.HasStruct(named.Underlying()) {
		l.refuseRecursive(s.Name.Pos(), named)
	}
	l.recursive = append(l.recursive, contract.Recursive{Type: named, Symbol: l.recursiveSymbol(named.Obj()), Underlying: l.name(obj)})
	l.imports[contract.HiddenPath] = true
	l.types[s] = obj
	s.Name, s.Assign = l.ident(s.Name.Pos(), l.name(obj)), s.Name.Pos()
	s.Type = l.typeExpr(named.Underlying(), s.Type.Pos())
	return s
}
