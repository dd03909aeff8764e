package yaegi

import (
	"reflect"
	"runtime"
	"strings"
)

// Names of generators, by which operations are told apart.
const (
	CallGenerator    = "call"            // of a function value or an interpreted function
	BinaryGenerator  = "callBin"         // of a compiled function
	IndexGenerator   = "getIndexArray"   // x[i] of an array, slice or string
	LiteralGenerator = "getFunc"         // a function literal
	MethodGenerator  = "getMethodByName" // the selection of a method of what an interface of cells holds
)

// Generator returns the name of the generator that makes a node's step: "" if it has none, and something else than yaegi's names for one that is not yaegi's.
func (y *Interpreter) Generator(n *Node) string {
	if n.gen == nil {
		return ""
	}
	at := reflect.ValueOf(n.gen).Pointer()
	name, known := y.generators[at]
	if !known {
		name = strings.TrimPrefix(runtime.FuncForPC(at).Name(), FunctionPrefix)
		y.generators[at] = name
	}
	return name
}
