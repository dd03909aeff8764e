package run

import (
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// isBlankField reports whether a field is blank, by its name in yaegi's types, all of whose fields
// are exported.
func isBlankField(name string) bool { return strings.HasPrefix(name, "X"+contract.BlankField) }

// mendEqual makes == of a struct type ignore its blank fields, and those of its elements.
func mendEqual(t reflect.Type) { named.MendEqual(t, isBlankField) }
