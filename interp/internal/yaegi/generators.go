package yaegi

import (
	"reflect"
	"runtime"
	"strings"
)

// Names of generators, which identify operations.
const (
	CallGenerator    = "call"          // of a function value or an interpreted function
	BinaryGenerator  = "callBin"       // of a compiled function
	IndexGenerator   = "getIndexArray" // x[i] of an array, slice or string
	LiteralGenerator = "getFunc"       // a function literal
	// the selection of a method of the value in an interface of cells
	MethodGenerator = "getMethodByName"
)

// Generator returns the name of the generator that makes a node's step. It returns "" if the node
// has none, and a name that is not yaegi's if the generator is not.
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
