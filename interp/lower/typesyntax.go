package lower

import (
	"go/ast"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// fieldList lowers the types of parameters, fields, methods or type parameters.
func (l *lowerer) fieldList(f *ast.FieldList) {
	if f == nil {
		return
	}
	for _, field := range f.List {
		field.Type = l.expr(field.Type)
	}
}

func (l *lowerer) funcType(t *ast.FuncType) {
	l.fieldList(t.TypeParams)
	l.fieldList(t.Params)
	l.fieldList(t.Results)
}

// structFields lowers the fields of a struct. It writes the types of embedded fields without
// aliases, because yaegi would name such a field after the alias.
func (l *lowerer) structFields(s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Names != nil {
			f.Type = l.expr(f.Type)
			continue
		}
		t := l.info.TypeOf(f.Type)
		if typed.IsAliasOfOther(t) {
			f.Names = []*ast.Ident{embeddedName(f.Type)}
		}
		f.Type = l.typeExpr(t, f.Type.Pos())
	}
	l.blankFields(s)
}
