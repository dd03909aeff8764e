package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// localType declares a type that a function declares outside of the function, under a unique name,
// because the type may be needed there as a type argument.
func (l *lowerer) localType(s *ast.TypeSpec) {
	if obj, ok := l.info.Defs[s.Name].(*types.TypeName); ok && !s.Assign.IsValid() {
		l.inFunctions[obj] = l.inFunction(obj)
	}
	if obj := l.info.Defs[s.Name]; s.TypeParams != nil && obj != nil {
		l.c.Generics[obj] = &check.Generic{Package: l.checker.Package()} // it has no methods
		return
	}
	if obj, ok := l.info.Defs[s.Name].(*types.TypeName); ok && s.Name.Name != "_" {
		l.names[obj] = l.program.newTypeName(s.Name.Name, l.c.Package != nil)
		l.locals = append(l.locals, obj)
		l.localSpecs = append(l.localSpecs, l.typeSpec(s))
	}
}

// typeSpec lowers a type declaration.
func (l *lowerer) typeSpec(s *ast.TypeSpec) *ast.TypeSpec {
	if obj := l.info.Defs[s.Name]; obj != nil {
		if !s.Assign.IsValid() && l.isRecursive(obj.Type()) {
			return l.recursiveSpec(s, obj)
		}
		l.types[s] = obj
		s.Name = l.ident(s.Name.Pos(), l.name(obj))
	}
	if t, ok := types.Unalias(l.info.TypeOf(s.Type)).(*types.Named); ok && l.identity(t) != "" && !s.Assign.IsValid() &&
		!types.IsInterface(t) {
		s.Type = l.typeExpr(t.Underlying(), s.Type.Pos()) // yaegi would also give it the methods
	} else {
		s.Type = l.expr(s.Type)
	}
	l.finishType(s, l.types[s])
	return s
}
