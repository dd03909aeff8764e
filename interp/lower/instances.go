package lower

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/generics"
	"github.com/symmrepl/symmrepl/interp/run"
)

// instanceOf returns the instance of obj with these type arguments; the first use in the session has it lowered, after the rest of the cell.
func (l *namer) instanceOf(obj types.Object, args []types.Type) *instance {
	same := func(i *instance) bool { return slices.EqualFunc(i.args, args, types.Identical) }
	for _, list := range [][]*instance{l.instances[obj], l.program.instances[obj]} {
		if i := slices.IndexFunc(list, same); i >= 0 {
			return list[i]
		}
	}
	inst := &instance{obj: obj, args: args}
	if _, isType := obj.(*types.TypeName); isType {
		inst.name = l.program.newTypeName(obj.Name(), obj.Pkg() != l.checker.Package() && l.checker.Interprets(obj.Pkg()))
	} else {
		inst.name = l.program.newName(obj.Name())
	}
	l.instances[obj] = append(l.instances[obj], inst)
	l.pending = append(l.pending, inst)
	return inst
}

// instanceType returns the instance that a named type is; nil for types that are not instances, or are written as what they are.
func (l *namer) instanceType(t *types.Named) *instance {
	obj := t.Origin().Obj()
	g := l.generic(obj)
	if g == nil || l.isTransparent(t) {
		return nil
	}
	inst := l.instanceOf(obj, slices.Collect(t.TypeArgs().Types()))
	if inst.typ == nil {
		inst.typ = types.NewTypeName(obj.Pos(), obj.Pkg(), inst.name, t)
	}
	return inst
}

// isTransparent reports whether yaegi gets a type's underlying type in its place: function types of packages such as iter.Seq, which compiled functions
// have by another name.
func (l *facts) isTransparent(t *types.Named) bool {
	_, isFunc := t.Underlying().(*types.Signature)
	return isFunc && !l.checker.Interprets(t.Obj().Pkg()) && t.Origin().NumMethods() == 0
}

// instance lowers the use id of a function, which may be an instance of a generic one; e is what it is otherwise.
func (l *builder) instance(id *ast.Ident, e ast.Expr) ast.Expr {
	fn, ok := l.info.Uses[id].(*types.Func)
	if !ok || l.generic(fn.Origin()) == nil {
		return e
	}
	var args []types.Type
	if inst, ok := l.info.Instances[id]; ok {
		args = slices.Collect(inst.TypeArgs.Types())
	}
	if v, ok := generics.Native(l.nativeKey(fn, args)); ok {
		return l.hiddenSymbol(id.Pos(), l.nativeKey(fn, args), v)
	}
	return l.ident(id.Pos(), l.instanceOf(fn, args).name)
}

// lowerPending lowers the instances that the cell is the first to use, and those that they use; and it declares the types that functions do.
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
	if t := inst.typ.Type(); recursive(t) {
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

// instanceDecl lowers a copy of a declaration. What happens in packages has no position in a cell.
func (l *lowerer) instanceDecl(inst *instance, g *check.Generic, f *ast.FuncDecl) *ast.FuncDecl {
	was, instancing := l.silent, l.instancing
	l.silent, l.instancing = g.Text == nil, inst
	defer func() { l.silent, l.instancing = was, instancing }()
	return l.funcDecl(f)
}

// nativeKey returns the key of an instance that package generics has compiled. A type of cells that has a basic underlying type is that type in yaegi; but
// yaegi would also give results of the function that type.
func (l *facts) nativeKey(fn *types.Func, args []types.Type) string {
	var names []string
	for _, t := range args {
		if n, ok := t.(*types.Named); ok && l.checker.Interprets(n.Obj().Pkg()) && !returnsParam(fn) {
			t = n.Underlying()
		}
		names = append(names, types.TypeString(t, nil))
	}
	return fn.Pkg().Path() + "." + fn.Name() + "[" + strings.Join(names, ",") + "]"
}

// returnsParam reports whether a generic function has a result of the type of a type parameter.
func returnsParam(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if _, ok := v.Type().(*types.TypeParam); ok {
			return true
		}
	}
	return false
}

// instantiate checks f, a copy of a declaration of g, with its type parameters bound to types.
func (l *builder) instantiate(g *check.Generic, f *ast.FuncDecl, args []types.Type) *types.Func {
	fn, params, err := l.checker.Instantiate(l.info, g, f, args)
	if err != nil {
		l.refuse(f.Pos(), "with these type arguments "+run.PlainNames(f.Name.Name)+" cannot be compiled: "+err.Error())
	}
	for _, p := range params {
		l.params[p] = true
	}
	l.unqualify(f)
	return fn
}
