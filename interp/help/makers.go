package help

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/interp/check"
)

// The user may have written a method as a function, or a function as a method. And if a value of a
// package's type is expected, one of the package's functions may return it.

// methodHint returns a hint for an undefined member of a package that is a method of the package's
// types: symm.Barrier.
func (k *suggester) methodHint(name, member string) string {
	pkg := k.imported(name)
	if pkg == nil {
		return ""
	}
	var of []string
	for _, typ := range exportedNames(pkg) {
		t, ok := pkg.Scope().Lookup(typ).(*types.TypeName)
		if !ok {
			continue
		}
		if fn, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, pkg, member); isFunc(fn) {
			of = append(of, name+"."+typ)
		}
	}
	if len(of) == 0 || len(of) > spelling.Most {
		return ""
	}
	return member + " is a method of " + strings.Join(of, " and ")
}

// functionHint returns a hint for a method that a type does not have, if the type's package has a
// function of that name with the type as first parameter: t.AllReduce().
func (k *suggester) functionHint(operand string, t types.Type, name string) string {
	pkg := packageOf(t)
	if pkg == nil {
		return ""
	}
	fn, ok := pkg.Scope().Lookup(name).(*types.Func)
	if !ok || !fn.Exported() {
		return ""
	}
	params := fn.Signature().Params()
	if params.Len() == 0 || !types.Identical(params.At(0).Type(), t) {
		return ""
	}
	args := operand
	if params.Len() > 1 {
		args += ", …"
	}
	return name + " is a function: " + pkg.Name() + "." + name + "(" + args + ")"
}

// makerHint names the functions of a type's package that return only that type. In a message, the
// type is called pkg.name.
func (k *suggester) makerHint(called string) string {
	prefix, name, ok := strings.Cut(strings.TrimPrefix(called, "*"), ".")
	pkg := k.imported(prefix)
	if !ok || pkg == nil {
		return ""
	}
	wanted, ok := pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return ""
	}
	t := wanted.Type()
	if strings.HasPrefix(called, "*") {
		t = types.NewPointer(t)
	}
	var makers []string
	for _, member := range exportedNames(pkg) {
		fn, ok := pkg.Scope().Lookup(member).(*types.Func)
		if !ok {
			continue
		}
		sig := fn.Signature()
		if results := sig.Results(); results.Len() == 1 && sig.TypeParams() == nil && types.Identical(results.At(0).Type(), t) {
			args := "()"
			if sig.Params().Len() > 0 {
				args = "(…)"
			}
			makers = append(makers, prefix+"."+member+args)
		}
	}
	if len(makers) == 0 || len(makers) > spelling.Most {
		return ""
	}
	return strings.Join(makers, " or ") + " makes one"
}

// imported returns the package that a name denotes in a cell, or in a message about it.
func (k *suggester) imported(name string) *types.Package {
	imports := maps.Clone(k.checker.Imports())
	maps.Copy(imports, k.c.Imports)
	if path, ok := imports[name]; ok {
		pkg, _ := k.checker.Packages().Import(path)
		return pkg
	}
	for _, path := range slices.Sorted(maps.Values(imports)) {
		if pkg, err := k.checker.Packages().Import(path); err == nil && pkg.Name() == name {
			return pkg
		}
	}
	return nil
}

// packageOf returns the package that declares a type, or the type that it points to.
func packageOf(t types.Type) *types.Package {
	if named := check.NamedOf(t); named != nil {
		return named.Obj().Pkg()
	}
	return nil
}

func isFunc(obj types.Object) bool {
	_, ok := obj.(*types.Func)
	return ok
}
