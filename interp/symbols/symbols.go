// Package symbols holds the tables through which cells see symmem and gonum, and what yaegi's tables lack of the standard library. They are generated;
// make them anew with go generate when an API changes (a test says so).
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

// Sets gives the tables of all packages that cells see, by "import/path/name", then by identifier. Where several have a name, the last holds.
func Sets() []map[string]map[string]reflect.Value {
	return []map[string]map[string]reflect.Value{stdlib.Symbols, syscall.Symbols, unrestricted.Symbols, Symbols}
}

// Tables merges the sets of Sets and others, which replace symbols of the same name.
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
