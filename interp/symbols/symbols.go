// Package symbols has the symbol tables through which cells see symmem and gonum, and those for the
// parts of the standard library that yaegi's tables lack. They are generated; regenerate them with
// go generate when an API changes (a test fails then).
package symbols

import (
	"maps"
	"reflect"
	"sync"
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

// Tables merges Sets and others; others take precedence. The caller must not change the tables: those
// that others do not change are shared by all callers.
func Tables(others ...map[string]map[string]reflect.Value) map[string]map[string]reflect.Value {
	tables := maps.Clone(ours())
	for _, set := range others {
		merge(tables, set)
	}
	return tables
}

// ours merges Sets.
var ours = sync.OnceValue(func() map[string]map[string]reflect.Value {
	tables := map[string]map[string]reflect.Value{}
	for _, set := range Sets() {
		merge(tables, set)
	}
	return tables
})

// merge adds the tables of a set to those of the same packages, of which it changes no map.
func merge(tables, set map[string]map[string]reflect.Value) {
	for key, table := range set {
		if before := tables[key]; before != nil {
			both := maps.Clone(before)
			maps.Copy(both, table)
			table = both
		}
		tables[key] = table
	}
}

// Symbols are the tables of this package.
var Symbols = map[string]map[string]reflect.Value{"time/tzdata/tzdata": {}}
