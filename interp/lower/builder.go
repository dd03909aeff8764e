package lower

import (
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// builder makes syntax: names, types, calls of helpers. It notes what the lowered cell needs for that.
type builder struct {
	namer
	imports map[string]bool       // packages that the lowered code uses, by path
	hidden  run.Exports           // symbols for types that have no name in the tables
	noted   map[string]types.Type // types that the runtime has to know, by key
	temps   int
}

// note adds the type of a key to those that the runtime has to know.
func (l *builder) note(key string, t types.Type) { l.noted[key] = t }
