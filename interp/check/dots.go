package check

import (
	"go/types"
	"slices"
)

// dotObjects returns what the packages export that cells have imported by a dot, this cell included: their names mean that until a cell defines them.
func (k *Attempt) dotObjects() map[string]types.Object {
	out := map[string]types.Object{}
	for _, path := range slices.Concat(k.Checker.scope.dots, k.Cell.Dots) {
		pkg, err := k.Checker.pkgs.Import(path)
		if err != nil {
			continue // the import itself reported it
		}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				out[name] = obj
			}
		}
	}
	return out
}
