package native

import (
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// isBlankField reports whether a field is blank, by its name in yaegi's types, all of whose fields
// are exported.
func isBlankField(name string) bool { return strings.HasPrefix(name, "X"+contract.BlankField) }

// MendEqual makes == of a struct type ignore its blank fields, and those of its elements.
func MendEqual(t reflect.Type) { named.MendEqual(t, isBlankField) }
