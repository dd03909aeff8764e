package check

import (
	"go/token"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/symbols"
)

// TestEveryPackage imports all packages that cells see.
func TestEveryPackage(t *testing.T) {
	pkgs := newPackages(token.NewFileSet(), symbols.Tables())
	start := time.Now()
	for _, importPath := range slices.Sorted(maps.Keys(pkgs.tables)) {
		pkg, err := pkgs.Import(importPath)
		if err != nil {
			t.Error(err)
			continue
		}
		for name := range pkgs.tables[importPath] {
			if token.IsExported(name) && pkg.Scope().Lookup(name) == nil {
				t.Errorf("%s.%s is in the table and not in the package", importPath, name)
			}
		}
	}
	t.Logf("%d packages took %v", len(pkgs.tables), time.Since(start))
}
