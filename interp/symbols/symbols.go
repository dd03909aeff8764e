// Package symbols holds the table through which cells see symmem. The table is generated; make it anew with go generate when symmem's API
// changes (a test says so).
package symbols

import "reflect"

//go:generate go run ./gen

// Symbols are the tables by "import/path/name", then by identifier.
var Symbols = map[string]map[string]reflect.Value{}
