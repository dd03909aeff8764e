package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// An unnamed struct type has the methods of its embedded fields. A value that is converted to a
// compiled interface with methods first gets a named type, which the cell declares:
//
//	var r io.Reader = struct#1(struct{ io.Reader }{f})

// bearer returns such a named type for from, which is an unnamed struct type or a pointer to one.
// It returns nil if a value of from needs none to be converted to the type to.
func (l *declarer) bearer(from, to types.Type, pos token.Pos) types.Type {
	i, ok := to.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 || l.isBoxed(to) {
		return nil
	}
	switch t := types.Unalias(from).(type) {
	case *types.Struct:
		return l.structBearer(t, pos)
	case *types.Pointer:
		if st, ok := types.Unalias(t.Elem()).(*types.Struct); ok {
			return types.NewPointer(l.structBearer(st, pos))
		}
	}
	return nil
}

func (l *declarer) structBearer(t *types.Struct, pos token.Pos) *types.Named {
	key := l.typeText(t)
	if named := l.bearers[key]; named != nil {
		return named
	}
	obj := types.NewTypeName(pos, l.checker.Package(), contract.UnnamedStruct, nil)
	named := types.NewNamed(obj, t, nil)
	l.bearers[key] = named
	l.names[obj] = l.program.newTypeName(obj.Name(), l.c.Package != nil)
	l.locals = append(l.locals, obj)
	spec := &ast.TypeSpec{Name: l.ident(pos, l.names[obj]), Type: l.structExpr(t, pos)}
	l.finishType(spec, obj)
	l.localSpecs = append(l.localSpecs, spec)
	return named
}
