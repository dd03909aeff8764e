package lower

import (
	"go/ast"
	"go/types"
)

// funcDecl lowers a function or method.
func (l *lowerer) funcDecl(d *ast.FuncDecl) *ast.FuncDecl {
	obj := l.info.Defs[d.Name].(*types.Func)
	l.renamePredeclared(d)
	if recv := obj.Signature().Recv(); recv != nil {
		l.refuseRecursiveMethod(d, recv.Type())
	}
	l.fieldList(d.Recv)
	l.funcType(d.Type)
	l.nameParams(d.Recv)
	l.nameParams(d.Type.Params)
	l.fn = l.newFunction(obj.Signature(), d.Body, d.Recv, d.Type.Params, d.Type.Results)
	l.fn.name = l.nameDeclared(d, obj)
	l.nameResults(d.Type)
	d.Body.List = l.finishFunction(d.Body, append(l.zeroResults(d.Type, obj.Signature()), l.stmts(d.Body.List)...))
	if name := l.declared[obj]; name != "" {
		d.Name = l.ident(d.Name.Pos(), name)
	} else if d.Recv == nil && d.Name.Name != "init" {
		d.Name = l.ident(d.Name.Pos(), l.name(obj))
	}
	return d
}

func (l *lowerer) funcLit(e *ast.FuncLit) ast.Expr {
	sig, _ := l.info.TypeOf(e).(*types.Signature)
	l.funcType(e.Type)
	l.nameParams(e.Type.Params)
	name := l.fn.nameLiteral()
	l.fn = l.newFunction(sig, e.Body, e.Type.Params, e.Type.Results)
	l.fn.name, l.fn.literal = name, true
	l.nameResults(e.Type)
	e.Body.List = append(l.code(e.Pos(), name, e.Pos()),
		l.finishFunction(e.Body, append(l.zeroResults(e.Type, sig), l.stmts(e.Body.List)...))...)
	return e
}
