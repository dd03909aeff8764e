package export

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/interp/check"
)

// Packages that the program itself needs.
const (
	symmemPath = "github.com/symmrepl/symmrepl/symmem"
	showPath   = "github.com/symmrepl/symmrepl/show"
)

// reserve reserves every identifier of the cells, so that no new name equals one, and names the
// packages.
func (p *program) reserve() {
	for _, c := range p.cells {
		for t := range gotokens.All(c.Source) {
			if t.Kind == token.IDENT {
				p.taken[t.Text] = true
			}
		}
	}
	for _, c := range p.cells {
		if c.checked == nil {
			continue
		}
		for id, obj := range c.checked.Info.Uses {
			if pkg, ok := obj.(*types.PkgName); ok && p.imports[pkg.Imported().Path()] == "" {
				p.imports[pkg.Imported().Path()] = p.packageName(id.Name)
			}
		}
	}
}

// packageName returns the name wanted for a package, or a fresh one if another package has it.
func (p *program) packageName(wanted string) string {
	if !p.isPackage(wanted) {
		p.taken[wanted] = true
		return wanted
	}
	return p.fresh(wanted)
}

func (p *program) isPackage(name string) bool {
	for _, known := range p.imports {
		if known == name {
			return true
		}
	}
	return false
}

// pkg returns the name of a package in the program, which imports it from now on.
func (p *program) pkg(importPath string) string {
	name := p.imports[importPath]
	if name == "" {
		name = path.Base(importPath)
		if importPath == symmemPath {
			name = "symm"
		}
		if p.taken[name] {
			name = p.fresh(name)
		}
		p.taken[name] = true
		p.imports[importPath] = name
	}
	p.written[importPath] = true
	return name
}

// newName returns the name in the program for an object that the session calls name: the same name
// if it has no other meaning.
func (p *program) newName(name string) string {
	free := types.Universe.Lookup(name) == nil && !p.isPackage(name) && name != "main" && name != "init"
	for _, used := range p.names {
		free = free && used != name
	}
	if free {
		return name
	}
	return p.fresh(name)
}

// fresh returns a name that does not occur in the cells.
func (p *program) fresh(name string) string {
	for n := 2; ; n++ {
		if candidate := fmt.Sprint(name, n); !p.taken[candidate] {
			p.taken[candidate] = true
			return candidate
		}
	}
}

// unused returns name, or a similar fresh one if name occurs in the cells.
func (p *program) unused(name string) string {
	if !p.taken[name] {
		p.taken[name] = true
		return name
	}
	return p.fresh(name)
}

// nameOf returns the name in the program of an identifier that uses or defines an object.
func (p *program) nameOf(id *ast.Ident, obj types.Object) string {
	switch obj := obj.(type) {
	case *types.PkgName:
		return p.pkg(obj.Imported().Path())
	case *types.Var:
		if obj.Embedded() {
			t := obj.Origin().Type()
			if ptr, ok := t.(*types.Pointer); ok {
				t = ptr.Elem()
			}
			switch t := t.(type) { // the field has the name of its type, or of the alias
			case *types.Alias:
				return cmp.Or(p.names[t.Obj()], id.Name)
			case *types.Named:
				return cmp.Or(p.names[t.Origin().Obj()], id.Name)
			}
			return id.Name
		}
	}
	if name := p.names[obj]; name != "" {
		return name
	}
	return id.Name
}

// countMethods counts the definitions of functions and methods in a cell, and gives them different
// names.
func (p *program) countMethods(c *cell) {
	for _, d := range c.checked.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if g := p.functionOf(c, f); g != nil {
				g.count++
				g.versions = append(g.versions, p.fresh(g.name))
			}
		}
	}
}

// functionOf returns the function that a declaration defines, or nil if it cannot be defined again.
func (p *program) functionOf(c *cell, f *ast.FuncDecl) *function {
	base := check.ReceiverName(f)
	if base == nil {
		return p.funcs[p.names[c.checked.Info.Defs[f.Name]]]
	}
	typ, ok := c.checked.Info.Uses[base].(*types.TypeName)
	if !ok {
		return nil
	}
	named, ok := types.Unalias(typ.Type()).(*types.Named)
	if !ok || named.TypeParams().Len() > 0 {
		return nil
	}
	key := p.names[named.Obj()] + "." + f.Name.Name
	if p.funcs[key] == nil {
		method, ok := c.checked.Info.Defs[f.Name].(*types.Func)
		if !ok || method.Signature().Recv() == nil {
			return nil
		}
		name := p.names[named.Obj()] + strings.ToUpper(f.Name.Name[:1]) + f.Name.Name[1:]
		p.funcs[key] = &function{name: p.unused(name), method: method, sig: method.Signature()}
	}
	return p.funcs[key]
}
