package yaegi

import (
	"reflect"
	"unsafe"
)

// Yaegi's own functions. The linker checks that functions with these names exist; nothing checks
// their parameters.

// FunctionPrefix is the prefix of the names of yaegi's functions.
const FunctionPrefix = modulePath + "/interp."

// genRun makes the missing steps of functions and variables.
//
//go:linkname genRun github.com/traefik/yaegi/interp.genRun
func genRun(tree *Node) error

// setExec makes the missing steps of a node and of those that follow it.
//
//go:linkname setExec github.com/traefik/yaegi/interp.setExec
func setExec(node *Node)

// genValue returns a function that evaluates a node in a frame. The node's own step must have been
// made.
//
//go:linkname genValue github.com/traefik/yaegi/interp.genValue
func genValue(node *Node) func(*Frame) reflect.Value

// genValueRecv returns a function that evaluates the receiver of a method in a frame.
//
//go:linkname genValueRecv github.com/traefik/yaegi/interp.genValueRecv
func genValueRecv(node *Node) func(*Frame) reflect.Value

// runCfg runs the body of a function, which compiled code may have called.
//
//go:linkname runCfg github.com/traefik/yaegi/interp.runCfg
func runCfg(start *Node, frame *Frame, function, call *Node)

//go:linkname newFrame github.com/traefik/yaegi/interp.newFrame
func newFrame(caller *Frame, length int, id uint64) *Frame

// cloneFrame returns a copy of a frame that shares its variables.
//
//go:linkname cloneFrame github.com/traefik/yaegi/interp.(*frame).clone
func cloneFrame(frame *Frame) *Frame

// typeOf returns the reflect type for one of yaegi's types.
//
//go:linkname typeOf github.com/traefik/yaegi/interp.(*itype).TypeOf
func typeOf(typ *itype) reflect.Type

// allocate is a function of package reflect. It returns a new variable of a type. Unlike
// reflect.New it does not create the type of pointers to it, which package reflect would keep for
// ever.
//
//go:linkname allocate reflect.unsafe_New
func allocate(typ unsafe.Pointer) unsafe.Pointer

// allocateArray is a function of package reflect. It returns new elements of a type.
//
//go:linkname allocateArray reflect.unsafe_NewArray
func allocateArray(typ unsafe.Pointer, length int) unsafe.Pointer

// move is a function of package reflect. It copies a value of a type.
//
//go:linkname move reflect.typedmemmove
//go:noescape
func move(typ, to, from unsafe.Pointer)
