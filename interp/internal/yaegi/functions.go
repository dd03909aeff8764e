package yaegi

import (
	"reflect"
	"unsafe"
)

// What follows are yaegi's own functions. The linker sees that there are functions of these names, and nothing but reading that their parameters are these.

// FunctionPrefix is that of the names of yaegi's functions.
const FunctionPrefix = modulePath + "/interp."

// genRun makes the steps of functions and variables, where there are none.
//
//go:linkname genRun github.com/traefik/yaegi/interp.genRun
func genRun(tree *Node) error

// setExec makes the steps of a node and of those that follow it, where there are none.
//
//go:linkname setExec github.com/traefik/yaegi/interp.setExec
func setExec(node *Node)

// genValue returns how to evaluate a node in a frame, once its own step has been made.
//
//go:linkname genValue github.com/traefik/yaegi/interp.genValue
func genValue(node *Node) func(*Frame) reflect.Value

// genValueRecv returns how to evaluate the receiver of a method in a frame.
//
//go:linkname genValueRecv github.com/traefik/yaegi/interp.genValueRecv
func genValueRecv(node *Node) func(*Frame) reflect.Value

// runCfg runs the body of a function that compiled code may have called.
//
//go:linkname runCfg github.com/traefik/yaegi/interp.runCfg
func runCfg(start *Node, frame *Frame, function, call *Node)

//go:linkname newFrame github.com/traefik/yaegi/interp.newFrame
func newFrame(caller *Frame, length int, id uint64) *Frame

// cloneFrame returns a copy of a frame, whose variables are the same.
//
//go:linkname cloneFrame github.com/traefik/yaegi/interp.(*frame).clone
func cloneFrame(frame *Frame) *Frame

// typeOf returns the type that yaegi lays out for one of its own.
//
//go:linkname typeOf github.com/traefik/yaegi/interp.(*itype).TypeOf
func typeOf(typ *itype) reflect.Type

// allocate is a function of package reflect. It returns a new variable of a type; unlike reflect.New it makes no type of pointers to it, which package reflect would
// never forget.
//
//go:linkname allocate reflect.unsafe_New
func allocate(typ unsafe.Pointer) unsafe.Pointer
