package interp

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Inspect answers a question without running user code. It may be called while a cell runs; variables are then shown as they are at
// that moment, but not what is in maps.
func (in *Interp) Inspect(ctx context.Context, topic, arg string) (string, error) {
	switch topic {
	case session.TopicVars:
		return in.vars(), nil
	case session.TopicType:
		return in.typeOf(arg)
	case session.TopicComplete:
		return in.complete(arg), nil
	}
	if in.options.Inspect != nil {
		return in.options.Inspect(ctx, topic, arg)
	}
	return "", fmt.Errorf("there is no topic %q", topic)
}

// maxShown is the length of a value in the list of variables.
const maxShown = 80

// vars lists the session's variables in order of definition: name, type and value, tab separated.
func (in *Interp) vars() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var b strings.Builder
	for _, name := range in.scope.order {
		s := in.scope.variable(name)
		if s == nil || !s.pointer.IsValid() {
			continue
		}
		text := []rune(strings.NewReplacer("\n", " ", "\t", " ").Replace(in.printed(func(p *printer) {
			p.live = in.runtime.busy.Load() > 0
			p.value(s.pointer.Elem(), s.typ, 0)
		})))
		if len(text) > maxShown {
			text = append(text[:maxShown-1], '…')
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", name, typeName(s.typ), string(text))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// typeOf returns the type of an expression, or what else a name stands for.
func (in *Interp) typeOf(expr string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	tv, err := in.evalType(expr)
	if err != nil {
		return "", err
	}
	switch {
	case tv.IsVoid():
		return "no value", nil
	case tv.IsType():
		if _, named := tv.Type.(*types.Named); named {
			return "type " + typeName(tv.Type) + " " + typeName(tv.Type.Underlying()), nil
		}
		return "type " + typeName(tv.Type), nil
	case tv.Value != nil:
		return fmt.Sprintf("%s constant %s", typeName(tv.Type), tv.Value), nil
	}
	return typeName(tv.Type), nil
}

// evalType checks an expression in the session's scope.
func (in *Interp) evalType(expr string) (types.TypeAndValue, error) {
	if _, err := parser.ParseExpr(expr); err != nil {
		return types.TypeAndValue{}, err
	}
	return types.Eval(token.NewFileSet(), in.scopePackage(), token.NoPos, expr)
}

// scopePackage is a package that contains all that the session's names mean, packages as well.
func (in *Interp) scopePackage() *types.Package {
	setScope(in.pkg, types.NewScope(types.Universe, token.NoPos, token.NoPos, "session"))
	for name, path := range in.scope.imports {
		if pkg, err := in.pkgs.Import(path); err == nil {
			in.pkg.Scope().Insert(types.NewPkgName(token.NoPos, in.pkg, name, pkg))
		}
	}
	for _, obj := range in.scope.objects {
		in.pkg.Scope().Insert(obj)
	}
	return in.pkg
}
