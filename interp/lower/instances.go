package lower

import (
	"cmp"
	"go/ast"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// lowerPending lowers the instances that the cell is the first to use, and the instances that these
// use. It also declares the types that functions declare.
func (l *lowerer) lowerPending(out *lowered) {
	for len(l.pending)+len(l.localSpecs) > 0 {
		if len(l.localSpecs) > 0 {
			spec := l.localSpecs[0]
			l.localSpecs = l.localSpecs[1:]
			out.types = append(out.types, spec)
			out.funcs = append(out.funcs, l.typeHelpers(spec.(*ast.TypeSpec))...)
			continue
		}
		inst := l.pending[0]
		l.pending = l.pending[1:]
		if inst.typ != nil {
			l.lowerTypeInstance(inst, out)
		} else {
			l.lowerFuncInstance(inst, out)
		}
	}
}

func (l *lowerer) lowerFuncInstance(inst *instance, out *lowered) {
	g := l.generic(inst.obj)
	f := g.Copy(g.Func)
	f.Type.TypeParams = nil
	f.Name = l.ident(f.Name.Pos(), cmp.Or(inst.fresh, inst.name))
	fn := l.instantiate(g, f, inst.args)
	l.names[fn] = f.Name.Name
	out.funcs = append(out.funcs, l.instanceDecl(inst, g, f))
}

// lowerTypeInstance lowers a type and its methods.
func (l *lowerer) lowerTypeInstance(inst *instance, out *lowered) {
	g := l.generic(inst.obj)
	pos := l.c.Body.Pos()
	if t := inst.typ.Type(); typed.Recursive(t) {
		l.refuseRecursive(inst.obj.Pos(), t)
	}
	spec := &ast.TypeSpec{Name: l.ident(pos, inst.name), Type: l.typeExpr(inst.typ.Type().Underlying(), pos)}
	l.finishType(spec, inst.typ)
	out.types = append(out.types, spec)
	out.funcs = append(out.funcs, l.typeHelpers(spec)...)
	for _, m := range g.Methods {
		f := g.Copy(m)
		l.instantiate(g, f, inst.args)
		out.funcs = append(out.funcs, l.instanceDecl(inst, g, f))
	}
}

// instanceDecl lowers a copy of a declaration. Code of packages has no positions in a cell.
func (l *lowerer) instanceDecl(inst *instance, g *check.Generic, f *ast.FuncDecl) *ast.FuncDecl {
	was, instancing := l.silent, l.instancing
	l.silent, l.instancing = g.Text == nil, inst
	defer func() { l.silent, l.instancing = was, instancing }()
	return l.funcDecl(f)
}
