package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/generics"
)

// A package that a cell uses without importing it is imported all the same if its name means nothing else and only one package can
// be meant. The imports count as the cell's own, so that running the cell's text again does it again.

// preferred are packages that share their names with others of the tables, the one that is meant first.
var preferred = []string{"math/rand/v2", "crypto/rand", "math/rand", "text/template", "html/template"}

// missingImports finds packages that would give a meaning to names which the check found undefined. It reports whether there are any.
func (k *attempt) missingImports() bool {
	used := map[string][]string{} // members, by the name before the dot
	for _, d := range k.errs {
		name, ok := strings.CutPrefix(d.msg, "undefined: ")
		if !ok || k.c.imports[name] != "" {
			continue
		}
		if sel, ok := k.c.find(k.at[d], isOperand).(*ast.SelectorExpr); ok {
			used[name] = append(used[name], sel.Sel.Name)
		}
	}
	found := false
	for name, members := range used {
		if path := k.checker.pkgs.meant(name, members); path != "" {
			k.c.auto[name] = path
			found = true
		}
	}
	return found
}

// isOperand reports whether n is a selector whose operand is the name at pos.
func isOperand(n ast.Node, pos token.Pos) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Pos() == pos
}

// find returns the innermost node of the cell that is as wanted, nil if none is.
func (p *parsed) find(pos token.Pos, wanted func(n ast.Node, pos token.Pos) bool) ast.Node {
	var found ast.Node
	visit := func(n ast.Node) bool {
		if n != nil && wanted(n, pos) {
			found = n
		}
		return true
	}
	for _, d := range p.decls {
		ast.Inspect(d, visit)
	}
	ast.Inspect(p.body.Body, visit)
	return found
}

// importable gives the name of every package that cells may import, by its path.
func (p *packages) importable() map[string]string {
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

// pathsOf lists the packages that have a name, as import paths.
func (p *packages) pathsOf(name string) []string {
	var paths []string
	for path, n := range p.importable() {
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

// meant returns the import path of the package that has a name and members, "" when none or several may be meant.
func (p *packages) meant(name string, members []string) string {
	paths := slices.DeleteFunc(p.pathsOf(name), func(path string) bool {
		return slices.ContainsFunc(members, func(m string) bool { return !p.has(path, m) })
	})
	if len(paths) == 1 || len(paths) > 1 && slices.Contains(preferred, paths[0]) {
		return paths[0]
	}
	return ""
}

// has reports whether a package exports a name.
func (p *packages) has(path, name string) bool {
	if !token.IsExported(name) {
		return false
	}
	pkg, err := p.Import(path)
	return err == nil && pkg.Scope().Lookup(name) != nil
}

// noteImports says which packages were imported without being asked for.
func (c *checked) noteImports() {
	for _, name := range slices.Sorted(maps.Keys(c.auto)) {
		fmt.Fprintf(os.Stderr, "note: imported %q\n", c.auto[name])
	}
}
