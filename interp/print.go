package interp

import (
	"fmt"
	"go/types"
	"reflect"
)

const cellPackage = "main"

// print writes a value in Go syntax.
func (in *Interp) print(v reflect.Value, t types.Type) string {
	return fmt.Sprintf("%#v", v.Interface())
}
