package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A function that is defined again with another signature is another function: earlier callers go on calling the one before. The cell says who does.

// callers are the functions of the session that use functions of it.
type callers struct {
	of    map[string]map[string]string // by the name in yaegi of the function that is used: the cells of those that use it, by name
	calls map[string][]string          // the functions in yaegi that one uses, by its name
}

func newCallers() callers { return callers{map[string]map[string]string{}, map[string][]string{}} }

// note makes the functions in yaegi that a function of a cell uses those of its name.
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

// forget drops a function whose name means something else now.
func (c callers) forget(name string) {
	for _, used := range c.calls[name] {
		if delete(c.of[used], name); len(c.of[used]) == 0 {
			delete(c.of, used)
		}
	}
	delete(c.calls, name)
}

// forgetType drops the methods of a type whose name means something else now.
func (c callers) forgetType(t types.Type) {
	if named, ok := t.(*types.Named); ok {
		for m := range named.Methods() {
			c.forget(named.Obj().Name() + "." + m.Name())
		}
	}
}

// uses collects, before it is lowered, which functions of the session the functions of the cell use, by the names of the latter.
func (l *namer) uses() map[string][]string {
	all := map[string][]string{}
	collect := func(name string, in ast.Node) {
		list := []string{}
		ast.Inspect(in, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if fn, ok := l.info.Uses[id].(*types.Func); ok && fn.Pkg() == l.checker.Package() && fn.Signature().Recv() == nil && fn.Name() != name {
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

// commitCallers keeps what the functions of the cell use, and notes who goes on calling a function that has been dropped.
func (d *definitions) commitCallers() {
	p := d.program
	for name, uses := range d.uses {
		p.callers.note(name, d.l.c.Name, uses)
	}
	for _, old := range d.outdated {
		if users := p.callers.of[old.name]; len(users) > 0 {
			d.kept = append(d.kept, keptFunction{old.fn, maps.Clone(users)})
		}
	}
}

// keptFunction is a function whose name means something else now, and the functions that go on calling it with their cells.
type keptFunction struct {
	fn    *types.Func
	users map[string]string
}

// Outdated says which functions go on calling one that the cell has defined again with another signature, in a line for each of these.
func (c *Cell) Outdated() (notes []string) {
	for _, k := range c.definitions.kept {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(k.users)) {
			names = append(names, fmt.Sprintf("%s (%s)", name, k.users[name]))
		}
		verb := "call"
		if len(names) == 1 {
			verb = "calls"
		}
		notes = append(notes, fmt.Sprintf("note: %s still %s the earlier %s%s; define it again to change that",
			strings.Join(names, ", "), verb, k.fn.Name(), strings.TrimPrefix(check.TypeName(k.fn.Signature()), "func")))
	}
	return notes
}
