// Package unexported accesses unexported fields of other packages' structs.
package unexported

import (
	"fmt"
	"reflect"
)

// Field returns a field of an addressable struct, by name, as a value that can be set. It returns
// an error if the field does not exist or has another kind. Users of Field check once at startup,
// so that an incompatible version of the package is an error there.
func Field(v reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Kind() != kind {
		return f, fmt.Errorf("interp: %s has no field %s of kind %s", v.Type(), name, kind)
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), nil
}
