package interp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Inspect answers a query without running user code. It may be called while a cell runs; variables are then shown as they are at
// that moment, but not what is in maps. Topics that are not about the interpreter go to Options.Inspect.
func (in *Interp) Inspect(ctx context.Context, q session.Query) (a session.Answer, err error) {
	switch q.Topic {
	case session.TopicVars:
		a.Variables = in.vars()
	case session.TopicType:
		a.Text, err = in.typeOf(q.Arg)
	case session.TopicDoc:
		a.Text, err = in.documentation(q.Arg)
	case session.TopicComplete:
		a.Candidates = in.complete(q.Arg)
	default:
		if in.options.Inspect == nil {
			return a, fmt.Errorf("there is no topic %q", q.Topic)
		}
		return in.options.Inspect(ctx, q)
	}
	return a, err
}

// maxShown is the length of a value in the list of variables.
const maxShown = 80

// vars lists the session's variables in order of definition.
func (in *Interp) vars() []session.Variable {
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []session.Variable
	for _, name := range in.scope.order {
		s := in.scope.variable(name)
		if s == nil || !s.pointer.IsValid() {
			continue
		}
		live := in.runtime.busy.Load() > 0
		text := []rune(strings.NewReplacer("\n", " ", "\t", " ").Replace(in.printed(func(p *printer) {
			p.live = live
			p.value(s.pointer.Elem(), s.typ, 0)
		})))
		if len(text) > maxShown {
			text = append(text[:maxShown-1], '…')
		}
		list = append(list, session.Variable{
			Name: name, Type: typeName(s.typ), Size: in.size(s.pointer.Elem(), live), Value: string(text),
		})
	}
	return list
}

// typeOf returns the type of an expression, or what else a name stands for.
func (in *Interp) typeOf(expr string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	expr = strings.TrimSpace(expr)
	if path, ok := in.scope.imports[expr]; ok && in.scope.objects[expr] == nil {
		return fmt.Sprintf("package %s // import %q", in.pkgs.pkg(path).Name(), path), nil
	}
	tv, err := in.evalType(expr)
	if err != nil {
		return "", err
	}
	switch {
	case tv.IsVoid():
		return "no value", nil
	case tv.IsBuiltin():
		decl, _, _ := builtinDoc(expr)
		return decl, nil
	case tv.IsType():
		if _, named := tv.Type.(*types.Named); named {
			return "type " + typeName(tv.Type) + " " + typeName(tv.Type.Underlying()) + methodList(tv.Type), nil
		}
		return "type " + typeName(tv.Type), nil
	case tv.Value != nil:
		return fmt.Sprintf("%s constant %s", typeName(tv.Type), tv.Value), nil
	}
	return typeName(tv.Type), nil
}

// evalType checks an expression in the session's scope.
func (in *Interp) evalType(expr string) (types.TypeAndValue, error) {
	if sig := in.genericFunction(expr); sig != nil { // without type arguments it is no expression
		return types.TypeAndValue{Type: sig}, nil
	}
	tv, err := types.Eval(token.NewFileSet(), in.scopePackage(nil), token.NoPos, expr)
	if err == nil {
		return tv, nil
	}
	// What a cell would say of it is better, and packages that are not imported are known to it.
	c, err := in.checkExpr(expr)
	if err != nil {
		return types.TypeAndValue{}, err
	}
	in.forgetFiles(c.parsed)
	if tv, err = types.Eval(token.NewFileSet(), in.scopePackage(c.auto), token.NoPos, expr); err != nil {
		err = errNoExpression
	}
	return tv, err
}

// genericFunction returns the signature of a generic function by its name, nil when that names something else.
func (in *Interp) genericFunction(name string) *types.Signature {
	obj := in.scope.objects[name]
	if pkg, member, ok := strings.Cut(name, "."); ok && in.scope.objects[pkg] == nil {
		for _, path := range in.pathsFor(pkg) {
			if in.pkgs.has(path, member) {
				p, _ := in.pkgs.Import(path)
				obj = p.Scope().Lookup(member)
			}
		}
	}
	if fn, ok := obj.(*types.Func); ok && fn.Signature().TypeParams().Len() > 0 {
		return fn.Signature()
	}
	return nil
}

// scopePackage is a package that contains all that the session's names mean, and the packages of more by their names.
func (in *Interp) scopePackage(more map[string]string) *types.Package {
	imports := maps.Clone(in.scope.imports)
	maps.Copy(imports, more)
	setScope(in.pkg)
	for name, path := range imports {
		if pkg, err := in.pkgs.Import(path); err == nil {
			in.pkg.Scope().Insert(types.NewPkgName(token.NoPos, in.pkg, name, pkg))
		}
	}
	for _, obj := range in.scope.objects {
		in.pkg.Scope().Insert(obj)
	}
	return in.pkg
}
