package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A function that is defined again with another signature is a different function: earlier callers
// go on calling the old one. The cell that defines it prints a note that lists them.

// note records that the named function, which a cell defines, uses the functions in uses; all names
// are yaegi's.
func (c callers) note(name, cell string, uses []string) {
	c.forget(name)
	c.calls[name] = uses
	for _, used := range uses {
		if c.of[used] == nil {
			c.of[used] = map[string]string{}
		}
		c.of[used][name] = cell
	}
}

// forget drops a function whose name was defined again.
func (c callers) forget(name string) {
	for _, used := range c.calls[name] {
		if delete(c.of[used], name); len(c.of[used]) == 0 {
			delete(c.of, used)
		}
	}
	delete(c.calls, name)
}

// forgetType drops the methods of a type whose name was defined again.
func (c callers) forgetType(t types.Type) {
	if named, ok := t.(*types.Named); ok {
		for m := range named.Methods() {
			c.forget(named.Obj().Name() + "." + m.Name())
		}
	}
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
