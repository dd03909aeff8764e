package interp

import (
	"go/ast"
	"go/types"
)

// promoted are methods that forward to those of interfaces which a struct embeds: yaegi does not find them by itself.
func (l *lowerer) promoted(s *ast.TypeSpec) []*ast.FuncDecl {
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
	for m := range types.NewMethodSet(obj.Type()).Methods() {
		fn := m.Obj().(*types.Func)
		if len(m.Index()) < 2 || !types.IsInterface(fn.Signature().Recv().Type()) {
			continue
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
		recv := &ast.Field{Names: []*ast.Ident{l.ident(pos, "recv#")}, Type: l.ident(pos, s.Name.Name)}
		out = append(out, &ast.FuncDecl{
			Recv: &ast.FieldList{Opening: pos, List: []*ast.Field{recv}}, Name: l.ident(pos, fn.Name()), Type: lit.Type, Body: lit.Body,
		})
	}
	return out
}
