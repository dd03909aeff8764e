package interp

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"runtime"
)

// Helper is the name of a function that lowered code calls and no cell can. Lowered code finds it in a package of its own; helpers is the table of that package.
type Helper string

// The helpers, in groups. What is called a variable is given as a pointer to it, because yaegi passes interfaces to compiled code without the types of what
// they hold; a key names a type that the runtime was told of by Note.
const (
	helperBind     Helper = "Bind"     // Bind(name string, pointer any): pointer points to the variable that has a name in yaegi
	helperShow     Helper = "Show"     // Show(pointers ...any): the values of the cell's last expression, none for nil
	helperDescribe Helper = "Describe" // Describe(i int, text func() string): value i is shown as the text that it gives of itself
	helperRender   Helper = "Render"   // Render(values ...any): the values are shown in the forms that they say they have

	helperAssert       Helper = "Assert"       // Assert(x, v any, key string) bool: variable x holds a value of the type of v, the one of key; sets v
	helperImplements   Helper = "Implements"   // Implements(x, v any, key string, methods ...string) bool: the same for an interface type
	helperFailAssert   Helper = "FailAssert"   // FailAssert(x any, from, to string, methods ...string): panics as x.(T) does
	helperIsNil        Helper = "IsNil"        // IsNil(x any) bool: variable x, of an interface type, holds nothing
	helperReceiverHeld Helper = "ReceiverHeld" // ReceiverHeld(x any): panics if variable x holds nothing
	helperEqual        Helper = "Equal"        // Equal(a, b any) bool: == of two variables of interface types
	helperHolds        Helper = "Holds"        // Holds(a, v any) bool: variable a, of an interface type, holds v
	helperSame         Helper = "Same"         // Same(a, b any) bool: == of two native values

	helperNative         Helper = "Native"         // Native(i, v any, key string): variable i, of an interface type, gets v as a native value
	helperUnbox          Helper = "Unbox"          // Unbox(i, box any): the same for what a variable of a cell's interface type holds
	helperHold           Helper = "Hold"           // Hold(i, v any): variable i holds a copy of the struct v
	helperMethod         Helper = "Method"         // Method(key, name string, fn any): the type of key has a method
	helperImplementation Helper = "Implementation" // Implementation(typ, iface string, into any): the type implements the interface; into converts

	helperNewDefers Helper = "NewDefers" // NewDefers() *defers: the deferred calls of a function
	helperRecover   Helper = "Recover"   // Recover() any: the builtin
	helperForward   Helper = "Forward"   // Forward(): the function that calls it calls another in its place
	helperNotNil    Helper = "NotNil"    // NotNil(x any): panics as panic(x) does if variable x holds nothing
	helperGo        Helper = "Go"        // Go(f func()): the go statement
	helperNewSelect Helper = "NewSelect" // NewSelect() *selection: the select statement
	helperYield     Helper = "Yield"     // Yield(): lets others run

	helperLock        Helper = "Lock"        // Lock(m sync.Locker), and the like: methods that wait, until the cell is stopped
	helperRLock       Helper = "RLock"       // RLock(m *sync.RWMutex)
	helperWait        Helper = "Wait"        // Wait(g *sync.WaitGroup)
	helperWaitGo      Helper = "WaitGo"      // WaitGo(g *sync.WaitGroup, f func())
	helperCondWait    Helper = "CondWait"    // CondWait(c *sync.Cond)
	helperCmdRun      Helper = "CmdRun"      // CmdRun(c *exec.Cmd) error
	helperCmdWait     Helper = "CmdWait"     // CmdWait(c *exec.Cmd) error
	helperCmdOutput   Helper = "CmdOutput"   // CmdOutput(c *exec.Cmd) ([]byte, error)
	helperCmdCombined Helper = "CmdCombined" // CmdCombined(c *exec.Cmd) ([]byte, error)

	helperIndexFault  Helper = "IndexFault"  // IndexFault(i, n int): panics, for index i of n elements
	helperSliceBounds Helper = "SliceBounds" // SliceBounds(given, length, capacity, low, high, limit int): panics if the bounds are wrong
	helperShiftCount  Helper = "ShiftCount"  // ShiftCount(n int64) uint64: n, unless it is negative
	helperMisused     Helper = "Misused"     // Misused(state int): panics, for an iterator that does what it must not in a state
	helperRunes       Helper = "Runes"       // Runes(s string) (at []int, runes []rune): for a range over s
	helperZero        Helper = "Zero"        // Zero(v any): variable v becomes zero
	helperClear       Helper = "Clear"       // Clear(x any): the builtin
	helperPrint       Helper = "Print"       // Print(args ...any): the builtin
	helperPrintln     Helper = "Println"     // Println(args ...any): the builtin
)

// Methods of what the helpers return.
const (
	defersDo       = "Do"       // Do(body func()): runs a function's body and then its deferred calls
	defersPush     = "Push"     // Push(f func()): defers f
	defersPushCall = "PushCall" // PushCall(call func()): defers what call calls

	selectDefault = "Default" // Default(): a case
	selectSend    = "Send"    // Send(channel, value any): a case, of variables
	selectRecv    = "Recv"    // Recv(channel any, into ...any): a case, of variables
	selectDo      = "Do"      // Do() int: waits, and returns the number of the case
)

// orderedHelper returns the helper for one of the builtins min and max, of two operands of a basic type.
func orderedHelper(builtin, typ string) Helper { return Helper(builtin + "#" + typ) }

// helpers are the functions of the table.
func (rt *Runtime) helpers() map[Helper]any {
	table := map[Helper]any{
		helperBind:     rt.bind,
		helperShow:     rt.show,
		helperDescribe: rt.describe,
		helperRender:   rt.render,

		helperAssert:       rt.assert,
		helperImplements:   rt.implements,
		helperFailAssert:   rt.failAssert,
		helperIsNil:        rt.isNil,
		helperReceiverHeld: rt.receiverHeld,
		helperEqual:        rt.equal,
		helperHolds:        rt.holds,
		helperSame:         func(a, b any) bool { return a == b },

		helperNative:         rt.native,
		helperUnbox:          rt.unbox,
		helperHold:           rt.hold,
		helperMethod:         rt.natives.addMethod,
		helperImplementation: rt.natives.addImplementation,

		helperNewDefers: rt.newDefers,
		helperRecover:   rt.recoverPanic,
		helperForward:   rt.forward,
		helperNotNil:    rt.notNil,
		helperGo:        rt.goRun,
		helperNewSelect: rt.newSelect,
		helperYield:     runtime.Gosched,

		helperLock:        rt.lock,
		helperRLock:       rt.rlock,
		helperWait:        rt.wait,
		helperWaitGo:      rt.waitGo,
		helperCondWait:    rt.condWait,
		helperCmdRun:      rt.cmdRun,
		helperCmdWait:     rt.cmdWait,
		helperCmdOutput:   rt.cmdOutput,
		helperCmdCombined: rt.cmdCombined,

		helperIndexFault:  indexFault,
		helperSliceBounds: sliceBounds,
		helperShiftCount:  shiftCount,
		helperMisused:     misused,
		helperRunes:       runesOf,
		helperZero:        zero,
		helperClear:       func(x any) { reflect.ValueOf(x).Clear() },
		helperPrint:       printArgs,
		helperPrintln:     func(args ...any) { fmt.Fprintln(os.Stderr, args...) },
	}
	addOrdered[int](table)
	addOrdered[int8](table)
	addOrdered[int16](table)
	addOrdered[int32](table)
	addOrdered[int64](table)
	addOrdered[uint](table)
	addOrdered[uint8](table)
	addOrdered[uint16](table)
	addOrdered[uint32](table)
	addOrdered[uint64](table)
	addOrdered[uintptr](table)
	addOrdered[float32](table)
	addOrdered[float64](table)
	addOrdered[string](table)
	return table
}

// addOrdered adds min and max for a type.
func addOrdered[T cmp.Ordered](table map[Helper]any) {
	name := reflect.TypeFor[T]().Name()
	table[orderedHelper("min", name)] = func(a, b T) T { return min(a, b) }
	table[orderedHelper("max", name)] = func(a, b T) T { return max(a, b) }
}

// exports is the package of the helpers.
func (rt *Runtime) exports() Exports {
	table := map[string]reflect.Value{}
	for name, function := range rt.helpers() {
		table[string(name)] = reflect.ValueOf(function)
	}
	return Exports{runtimePath + "/runtime": table}
}
