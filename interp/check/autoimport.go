package check

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/generics"
)

// If a cell uses a package without importing it, the package is imported automatically, if its name
// has no other meaning and identifies a single package. Automatic imports count as the cell's own,
// so running the cell's text again has the same effect.

// preferred lists packages that share a name with others in the tables; the package to choose comes
// first.
var preferred = []string{"math/rand/v2", "crypto/rand", "math/rand", "text/template", "html/template"}

// missingImports finds packages that would define the names that the check found undefined. It
// reports whether there are any.
func (k *Attempt) missingImports() bool {
	used := map[string][]string{} // members, by the name before the dot
	for _, d := range k.errs {
		name, ok := strings.CutPrefix(d.msg, "undefined: ")
		if !ok || k.Cell.Imports[name] != "" {
			continue
		}
		if sel, ok := k.Cell.Find(k.at[d], IsOperand).(*ast.SelectorExpr); ok {
			used[name] = append(used[name], sel.Sel.Name)
		}
	}
	found := false
	for name, members := range used {
		if path := k.Checker.pkgs.meant(name, members); path != "" {
			k.Cell.Auto[name] = path
			found = true
		}
	}
	return found
}

// IsOperand reports whether n is a selector whose operand is the name at pos.
func IsOperand(n ast.Node, pos token.Pos) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Pos() == pos
}

// Find returns the innermost node of the cell for which wanted is true, or nil.
func (p *Syntax) Find(pos token.Pos, wanted func(n ast.Node, pos token.Pos) bool) ast.Node {
	var found ast.Node
	visit := func(n ast.Node) bool {
		if n != nil && wanted(n, pos) {
			found = n
		}
		return true
	}
	for _, d := range p.Decls {
		ast.Inspect(d, visit)
	}
	ast.Inspect(p.Body.Body, visit)
	return found
}

// Importable returns the names of all packages that cells may import, by import path.
func (p *Packages) Importable() map[string]string {
	all := maps.Clone(p.names)
	for _, source := range generics.Paths() {
		if all[source] == "" {
			all[source] = path.Base(source)
		}
	}
	maps.DeleteFunc(all, func(path, _ string) bool {
		return strings.HasSuffix(path, "/generics/compiled") || strings.HasPrefix(path, "github.com/traefik/")
	})
	return all
}

// PathsOf lists the import paths of packages with the given name.
func (p *Packages) PathsOf(name string) []string {
	var paths []string
	for path, n := range p.Importable() {
		if n == name {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		if i, j := slices.Index(preferred, a), slices.Index(preferred, b); i >= 0 && j >= 0 {
			return i - j
		}
		return strings.Compare(a, b)
	})
	return paths
}

// meant returns the import path of the package with the given name and members. It returns "" if
// there is none or the choice is ambiguous.
func (p *Packages) meant(name string, members []string) string {
	paths := slices.DeleteFunc(p.PathsOf(name), func(path string) bool {
		return slices.ContainsFunc(members, func(m string) bool { return !p.Has(path, m) })
	})
	if len(paths) == 1 || len(paths) > 1 && slices.Contains(preferred, paths[0]) {
		return paths[0]
	}
	return ""
}

// Alternatives returns the import paths of the other packages that an automatic import of a checked
// cell could have meant: they have its name, and all that the cell uses of it.
func (k *Checker) Alternatives(c *Cell, name string) []string {
	var members []string
	for id, obj := range c.Info.Uses {
		if p := obj.Pkg(); p != nil && p.Path() == c.Auto[name] && obj.Parent() == p.Scope() {
			members = append(members, id.Name)
		}
	}
	return slices.DeleteFunc(k.pkgs.PathsOf(name), func(path string) bool {
		return path == c.Auto[name] || slices.ContainsFunc(members, func(m string) bool { return !k.pkgs.Has(path, m) })
	})
}

// Has reports whether a package exports a name.
func (p *Packages) Has(path, name string) bool {
	if !token.IsExported(name) {
		return false
	}
	pkg, err := p.Import(path)
	return err == nil && pkg.Scope().Lookup(name) != nil
}
