package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// namer knows the names in yaegi of the objects of the session and of the cell, and of instances,
// which it names on first use. Types with different names are different types.
type namer struct {
	facts
	program *Program
	names   map[types.Object]string // names in yaegi of this cell's objects
	// names of functions that are defined again, in their declaration; uses have the name of the
	// first declaration
	declared map[types.Object]string
	renamed  map[types.Object]string // local variables that have another name in yaegi
	hoisted  map[types.Object]bool   // variables of the cell's top level
	places   map[*types.Var]*Storage // the storage of those variables
	// type parameters of instances, which stand for the type arguments
	params    map[types.Object]bool
	recursion map[*types.Named]bool        // whether a type is recursive
	instances map[types.Object][]*instance // instances that this cell is the first to use
	pending   []*instance                  // those of them that are not lowered yet
}

// name returns the identifier in yaegi of an object of the session or of this cell. Local objects
// keep their names.
func (l *namer) name(obj types.Object) string {
	if n, ok := l.names[obj]; ok {
		return n
	}
	if n, ok := l.renamed[obj]; ok {
		return n
	}
	if n, ok := l.program.names[obj]; ok {
		return n
	}
	return obj.Name()
}

// storage returns the storage of a variable of the session or of this cell's top level, or nil for
// other objects.
func (l *namer) storage(obj types.Object) *Storage {
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	if s := l.places[v]; s != nil {
		return s
	}
	return l.program.storage[l.program.names[v]]
}

// capture notes that a variable of the session may be used as long as a pointer to it or a generic
// function exists.
func (l *namer) capture(obj types.Object) {
	if s := l.storage(obj); s != nil {
		s.captured = true
	}
}

// captureOperand captures the variable that contains an operand.
func (l *namer) captureOperand(e ast.Expr) {
	if id := root(e); id != nil && l.info.Uses[id] != nil {
		l.capture(l.info.Uses[id])
	}
}

// outlives reports whether code may read the value assigned to e after the function with the
// assignment has ended.
func (l *namer) outlives(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return !ok || l.storage(l.info.ObjectOf(id)) != nil
}

func (l *namer) anyHoisted(names []*ast.Ident) bool {
	for _, id := range names {
		if l.hoisted[l.info.Defs[id]] {
			return true
		}
	}
	return false
}

// uses returns, before the cell is lowered, the functions of the session that each function of the
// cell uses, by the latter's name.
func (l *namer) uses() map[string][]string {
	all := map[string][]string{}
	collect := func(name string, in ast.Node) {
		list := []string{}
		ast.Inspect(in, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if fn, ok := l.info.Uses[id].(*types.Func); ok && fn.Pkg() == l.checker.Package() && fn.Signature().Recv() == nil &&
				fn.Name() != name {
				list = append(list, l.name(fn))
			}
			return true
		})
		all[name] = list
	}
	for _, d := range l.c.Decls {
		f, ok := d.(*ast.FuncDecl)
		switch {
		case !ok || f.Name.Name == "init" || f.Name.Name == "_":
		case f.Recv == nil:
			collect(f.Name.Name, f.Body)
		default:
			collect(check.ReceiverName(f).Name+"."+f.Name.Name, f.Body)
		}
	}
	for _, s := range l.c.Stmts {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
			continue
		}
		for i, e := range a.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				if lit, ok := ast.Unparen(a.Rhs[i]).(*ast.FuncLit); ok {
					collect(id.Name, lit.Body)
				} else {
					all[id.Name] = nil
				}
			}
		}
	}
	return all
}

// comparedToNil returns the operand that e compares to nil if its type is an interface type of
// cells. Yaegi treats such an interface as not nil after it has been passed on as the result of a
// call.
func (l *namer) comparedToNil(e *ast.BinaryExpr) ast.Expr {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return nil
	}
	for _, side := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if l.info.Types[side[1]].IsNil() && l.isBoxed(l.info.TypeOf(side[0])) {
			return side[0]
		}
	}
	return nil
}

// describing returns the method of a session's type that describes its values: Error, String or "".
func (l *namer) describing(t types.Type) string {
	if types.IsInterface(t) || l.identity(t) == "" {
		return ""
	}
	for _, name := range []string{"Error", "String"} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, l.checker.Package(), name)
		fn, ok := obj.(*types.Func)
		if !ok || fn.Signature().Params().Len() > 0 || fn.Signature().Results().Len() != 1 {
			continue
		}
		if types.Identical(fn.Signature().Results().At(0).Type(), types.Typ[types.String]) {
			return name
		}
	}
	return ""
}
