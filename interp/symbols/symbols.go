// Package symbols has the symbol tables through which cells see symmem and gonum, and those for the
// parts of the standard library that yaegi's tables lack. They are generated; regenerate them with
// go generate when an API changes (a test fails then).
package symbols

import (
	"maps"
	"reflect"
	_ "time/tzdata" // for cells that import it

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
)

//go:generate go run ./gen

// Sets returns the tables of all packages that cells see, by "import/path/name", then by
// identifier. If several have the same name, the last one counts.
func Sets() []map[string]map[string]reflect.Value {
	return []map[string]map[string]reflect.Value{stdlib.Symbols, syscall.Symbols, unrestricted.Symbols, Symbols}
}

// Tables merges Sets and others; others take precedence.
func Tables(others ...map[string]map[string]reflect.Value) map[string]map[string]reflect.Value {
	tables := map[string]map[string]reflect.Value{}
	for _, set := range append(Sets(), others...) {
		for key, table := range set {
			if tables[key] == nil {
				tables[key] = map[string]reflect.Value{}
			}
			maps.Copy(tables[key], table)
		}
	}
	return tables
}

// Symbols are the tables of this package.
var Symbols = map[string]map[string]reflect.Value{"time/tzdata/tzdata": {}}
