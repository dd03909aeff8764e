package lower

import (
	"go/ast"
	"go/token"
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

// nameParams gives unnamed parameters of a function names, because yaegi allocates no space for
// unnamed ones.
func (l *builder) nameParams(params *ast.FieldList) {
	if params == nil {
		return
	}
	for _, f := range params.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{l.ident(f.Type.Pos(), l.temp("p"))}
		}
		for i, id := range f.Names {
			if id.Name == "_" {
				f.Names[i] = l.ident(id.Pos(), l.temp("p"))
			}
		}
	}
}

// zeroResults sets named results to their zero values. In yaegi they would initially have the value
// of the variable to which the result is assigned.
func (l *builder) zeroResults(t *ast.FuncType, sig *types.Signature) (out []ast.Stmt) {
	if t.Results == nil {
		return nil
	}
	i := 0
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if id.Name == "_" {
				id.Name = l.temp("result") // it is returned like the other results
			}
			out = append(out, assign(token.ASSIGN, l.ident(id.Pos(), id.Name), l.zero(id.Pos(), sig.Results().At(i).Type())))
			i++
		}
	}
	return out
}
