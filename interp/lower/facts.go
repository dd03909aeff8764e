package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// facts has the checker's results about a cell. Its methods answer questions, or refuse a
// construct; they change nothing.
type facts struct {
	checker *check.Checker
	c       *check.Cell
	info    *types.Info
}

// refusal is the panic by which lowering refuses a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse refuses a construct. What names the construct and suggests an alternative.
func (l *facts) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }

// generic returns the declaration from which instances of obj are made, or nil if obj is not
// generic.
func (l *facts) generic(obj types.Object) *check.Generic {
	if g := l.c.Generics[obj]; g != nil {
		return g
	}
	return l.checker.Generic(obj)
}

// isOwn reports whether a function or method is interpreted: it belongs to a cell, or to a package
// that is available as source.
func (l *facts) isOwn(fn *types.Func) bool {
	if l.checker.Interprets(fn.Pkg()) || l.generic(fn.Origin()) != nil {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && l.generic(named.Origin().Obj()) != nil
	}
	return false
}

// isTransparent reports whether yaegi gets a type's underlying type instead of the type. That is so
// for function types of packages, such as iter.Seq, which compiled functions use under another
// name.
func (l *facts) isTransparent(t *types.Named) bool {
	_, isFunc := t.Underlying().(*types.Signature)
	return isFunc && !l.checker.Interprets(t.Obj().Pkg()) && t.Origin().NumMethods() == 0
}

// nativeKey returns the key of an instance that package generics has compiled. A cell's type with a
// basic underlying type is that basic type in yaegi; such a type may not be the type of a result,
// because yaegi would give the result the basic type.
func (l *facts) nativeKey(fn *types.Func, args []types.Type) string {
	var names []string
	for _, t := range args {
		if n, ok := t.(*types.Named); ok && l.checker.Interprets(n.Obj().Pkg()) && !typed.ReturnsParam(fn) {
			t = n.Underlying()
		}
		names = append(names, types.TypeString(t, nil))
	}
	return fn.Pkg().Path() + "." + fn.Name() + "[" + strings.Join(names, ",") + "]"
}

func (l *facts) line(pos token.Pos) int { return l.checker.Files().Position(pos).Line }

// isBuiltin reports whether call is a call of the builtin function with this name.
func (l *facts) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == name && l.info.Types[call.Fun].IsBuiltin()
}

// asks reports whether a cell uses functions that report stacks, and whether it uses the code of
// function values.
func (l *facts) asks() (stack, code bool) {
	for _, obj := range l.info.Uses {
		if fn, ok := obj.(*types.Func); ok && fn.Pkg() != nil && askingPackages[fn.Pkg().Path()] {
			stack, code = stack || stackFunctions[fn.FullName()], code || fn.FullName() == codePointer
		}
	}
	return stack, code
}

// declaresPredeclared reports whether the cell declares something under a predeclared name.
func (l *facts) declaresPredeclared() bool {
	for id := range l.info.Defs {
		if types.Universe.Lookup(id.Name) != nil {
			return true
		}
	}
	return false
}

// refuseRecursive refuses a use of such a type that yaegi handles differently than for other types:
// in slices, arrays and channels, and with methods.
func (l *facts) refuseRecursive(pos token.Pos, t types.Type) {
	l.refuse(pos, "the type "+check.TypeName(t)+" contains itself other than as a field of a struct; make it a struct with one field")
}

// maxArray is the maximum size of an array in bytes, because an array for which there is no memory
// ends the process.
const maxArray = 1 << 36

// refuseLarge refuses types that contain larger arrays.
func (l *facts) refuseLarge(pos token.Pos, t types.Type) {
	if _, ok := t.(*types.Array); !ok {
		return
	}
	if n := typed.Sizes.Sizeof(t); n < 0 || n > maxArray {
		l.refuse(pos, "an array of more than 64 GiB; make a slice instead, which fails with an error if there is no memory for it")
	}
}

// checkKey refuses map key types whose values yaegi would not compare by the values in their
// interfaces.
func (l *facts) checkKey(pos token.Pos, t types.Type) {
	if !l.checker.Packages().HoldsInterfaces(t) {
		return
	}
	what := "a map with keys of the interface type " + check.TypeName(t)
	if !types.IsInterface(t) {
		what = "a map with keys of type " + check.TypeName(t) + ", which contain values of interface types"
	}
	l.refuse(pos, what+", which would not be compared by the values in them; use any for the keys")
}

// stackFunctions lists the functions that report stacks.
var stackFunctions = map[string]bool{
	"runtime.Caller": true, "runtime.Callers": true, "runtime.CallersFrames": true, "runtime.FuncForPC": true, "runtime.Stack": true,
	"runtime/debug.Stack": true, "runtime/debug.PrintStack": true,
}

// askingPackages lists the packages of stackFunctions and codePointer.
var askingPackages = map[string]bool{"runtime": true, "runtime/debug": true, "reflect": true}

// codePointer is the method that returns the code of a function value.
const codePointer = "(reflect.Value).Pointer"
