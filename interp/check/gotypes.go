package check

import (
	"github.com/symmrepl/symmrepl/interp/internal/unexported"

	"fmt"
	"go/types"
	"reflect"
	"strings"
)

// methodsOf returns the list of a type's methods.
func methodsOf(n *types.Named) (*[]*types.Func, error) {
	f, err := unexported.Field(reflect.ValueOf(n).Elem(), "methods", reflect.Slice)
	if err != nil {
		return nil, err
	}
	methods, ok := f.Addr().Interface().(*[]*types.Func)
	if !ok {
		return nil, fmt.Errorf("interp: the methods of a type are %s", f.Type())
	}
	return methods, nil
}

// scopeParts returns a scope's objects by name, and its inner scopes.
func scopeParts(s *types.Scope) (elems, children reflect.Value, err error) {
	v := reflect.ValueOf(s).Elem()
	if elems, err = unexported.Field(v, "elems", reflect.Map); err == nil {
		children, err = unexported.Field(v, "children", reflect.Slice)
	}
	return elems, children, err
}

// setScope empties the scope of a package, and returns a function that undoes that. For go/types,
// all cells are one package, so that they may use each other's unexported fields and methods, but
// the meaning of names changes from cell to cell. The scope object itself is kept, because other
// objects refer to it.
func setScope(p *types.Package) (undo func()) {
	elems, children, err := scopeParts(p.Scope())
	if err != nil {
		panic(err) // an incompatible version of go/types
	}
	was := reflect.New(elems.Type()).Elem()
	was.Set(elems)
	elems.SetZero()
	children.SetZero()
	return func() {
		elems.Set(was)
		children.SetZero()
	}
}

// replaceMethod gives a type a method, in place of one of the same name, and returns how to undo that.
func replaceMethod(n *types.Named, fn *types.Func) (undo func()) {
	n.NumMethods() // completes the type
	methods, err := methodsOf(n)
	if err != nil {
		panic(err) // another version of go/types
	}
	old := *methods
	list := make([]*types.Func, 0, len(old)+1)
	for _, m := range old {
		if m.Name() != fn.Name() {
			list = append(list, m)
		}
	}
	*methods = append(list, fn)
	return func() { *methods = old }
}

// goVersion is the version of the language that cells are written in.
const goVersion = "go1.26"

// methodNamed returns a type's own method, nil if it has none of that name.
func methodNamed(t *types.Named, name string) *types.Func {
	for m := range t.Methods() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

func IsPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// NamedOf returns a named type, also if t is a pointer to it; nil for other types.
func NamedOf(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// SymmType returns the name of the type of package symm that t is or points to, "" for other types.
func SymmType(t types.Type) string {
	named := NamedOf(t)
	if named == nil || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path()+"/", SymmemPath+"/") {
		return ""
	}
	return named.Obj().Name()
}

// IsTensor reports whether t is *symm.Tensor. It may be nil.
func IsTensor(t types.Type) bool { return SymmType(t) == "Tensor" && IsPointer(t) }

// PackageName is the package that all cells are in.
const PackageName = "main"
