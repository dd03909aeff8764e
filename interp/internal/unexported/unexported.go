// Package unexported reaches fields of other packages' structs that have no exported way to them.
package unexported

import (
	"fmt"
	"reflect"
)

// Field returns a field of a struct that can be addressed, by its name, as a value that can be set. It returns an error if there is no such field, or its kind is
// another: those who use it look once at the start, so that another version of the package is an error there.
func Field(v reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Kind() != kind {
		return f, fmt.Errorf("interp: %s has no field %s of kind %s", v.Type(), name, kind)
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), nil
}
