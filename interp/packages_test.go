package interp

import (
	"go/token"
	"maps"
	"slices"
	"testing"
	"time"
)

// TestEveryPackage imports all packages that cells see.
func TestEveryPackage(t *testing.T) {
	in := open(t, Options{})
	start := time.Now()
	for _, importPath := range slices.Sorted(maps.Keys(in.pkgs.tables)) {
		pkg, err := in.pkgs.Import(importPath)
		if err != nil {
			t.Error(err)
			continue
		}
		for name := range in.pkgs.tables[importPath] {
			if token.IsExported(name) && pkg.Scope().Lookup(name) == nil {
				t.Errorf("%s.%s is in the table and not in the package", importPath, name)
			}
		}
	}
	t.Logf("%d packages took %v", len(in.pkgs.tables), time.Since(start))
}
