package run

import (
	"cmp"
	"reflect"
	"runtime"
)

// Helper is the name of a function that lowered code calls and no cell can. Lowered code finds it in a package of its own; helpers is the table of that package.
type Helper string

// The helpers, in groups. What is called a variable is given as a pointer to it, because yaegi passes interfaces to compiled code without the types of what
// they hold; a key names a type that the runtime was told of by Note.
const (
	Bind     Helper = "Bind"     // Bind(name string, pointer any): pointer points to the variable that has a name in yaegi
	Show     Helper = "Show"     // Show(pointers ...any): the values of the cell's last expression, none for nil
	Describe Helper = "Describe" // Describe(i int, text func() string): value i is shown as the text that it gives of itself
	Render   Helper = "Render"   // Render(values ...any): the values are shown in the forms that they say they have

	Assert       Helper = "Assert"       // Assert(x, v any, key string) bool: variable x holds a value of the type of v, the one of key; sets v
	Implements   Helper = "Implements"   // Implements(x, v any, key string, methods ...string) bool: the same for an interface type
	FailAssert   Helper = "FailAssert"   // FailAssert(x any, from, to string, methods ...string): panics as x.(T) does
	IsNil        Helper = "IsNil"        // IsNil(x any) bool: variable x, of an interface type, holds nothing
	ReceiverHeld Helper = "ReceiverHeld" // ReceiverHeld(x any): panics if variable x holds nothing
	Equal        Helper = "Equal"        // Equal(a, b any) bool: == of two variables of interface types
	Holds        Helper = "Holds"        // Holds(a, v any) bool: variable a, of an interface type, holds v
	Same         Helper = "Same"         // Same(a, b any) bool: == of two native values

	Native         Helper = "Native"         // Native(i, v any, key string): variable i, of an interface type, gets v as a native value
	Unbox          Helper = "Unbox"          // Unbox(i, box any): the same for what a variable of a cell's interface type holds
	Hold           Helper = "Hold"           // Hold(i, v any): variable i holds a copy of the struct v
	Method         Helper = "Method"         // Method(key, name string, fn any): the type of key has a method
	Implementation Helper = "Implementation" // Implementation(typ, iface string, into any): the type implements the interface; into converts

	NewDefers Helper = "NewDefers" // NewDefers() *defers: the deferred calls of a function
	Recover   Helper = "Recover"   // Recover() any: the builtin
	Forward   Helper = "Forward"   // Forward(): the function that calls it calls another in its place
	NotNil    Helper = "NotNil"    // NotNil(x any): panics as panic(x) does if variable x holds nothing
	Go        Helper = "Go"        // Go(f func()): the go statement
	NewSelect Helper = "NewSelect" // NewSelect() *selection: the select statement
	Yield     Helper = "Yield"     // Yield(): lets others run

	Lock        Helper = "Lock"        // Lock(m sync.Locker), and the like: methods that wait, until the cell is stopped
	RLock       Helper = "RLock"       // RLock(m *sync.RWMutex)
	Wait        Helper = "Wait"        // Wait(g *sync.WaitGroup)
	WaitGo      Helper = "WaitGo"      // WaitGo(g *sync.WaitGroup, f func())
	CondWait    Helper = "CondWait"    // CondWait(c *sync.Cond)
	CmdRun      Helper = "CmdRun"      // CmdRun(c *exec.Cmd) error
	CmdWait     Helper = "CmdWait"     // CmdWait(c *exec.Cmd) error
	CmdOutput   Helper = "CmdOutput"   // CmdOutput(c *exec.Cmd) ([]byte, error)
	CmdCombined Helper = "CmdCombined" // CmdCombined(c *exec.Cmd) ([]byte, error)

	UnsafePointer    Helper = "UnsafePointer"    // UnsafePointer(to, from any): variable to becomes the pointer in from; one of them is an unsafe.Pointer
	UnsafeOfUintptr  Helper = "UnsafeOfUintptr"  // UnsafeOfUintptr(n uintptr) unsafe.Pointer
	UnsafeUintptr    Helper = "UnsafeUintptr"    // UnsafeUintptr(p unsafe.Pointer) uintptr
	UnsafeAdd        Helper = "UnsafeAdd"        // UnsafeAdd(p unsafe.Pointer, n int64) unsafe.Pointer
	UnsafeSlice      Helper = "UnsafeSlice"      // UnsafeSlice(to, from any, n int64): variable to becomes the slice of n elements at the pointer in from
	UnsafeSliceData  Helper = "UnsafeSliceData"  // UnsafeSliceData(to, from any): variable to becomes the pointer to the elements of the slice in from
	UnsafeString     Helper = "UnsafeString"     // UnsafeString(p *byte, n int64) string
	UnsafeStringData Helper = "UnsafeStringData" // UnsafeStringData(s string) *byte

	LoggerAt Helper = "LoggerAt" // LoggerAt(l *log.Logger, at int) *Logger: l, for a call at a position

	Enter Helper = "enter#" // enter#(name string, end int, top bool): the function that calls it begins; see callstack.go
	Leave Helper = "leave#" // leave#(at int): the function that calls it is about to make its deferred calls, at a position

	Code    Helper = "code#"   // code#(name string, at int): the function value that it begins is of a function with a name, at a position; see functioncode.go
	Pointer Helper = "Pointer" // Pointer(v reflect.Value) uintptr: v.Pointer(), which says of a function value whose it is

	ShiftCount Helper = "ShiftCount" // ShiftCount(n int64) uint64: n, unless it is negative
	Misused    Helper = "Misused"    // Misused(state int): panics, for an iterator that does what it must not in a state
	Room       Helper = "Room"       // Room(n, each int64, what string) int64: n, if there is memory for n elements of so many bytes
	Runes      Helper = "Runes"      // Runes(s string) (at []int, runes []rune): for a range over s
	Zero       Helper = "Zero"       // Zero(v any): variable v becomes zero
	Clear      Helper = "Clear"      // Clear(x any): the builtin
	Print      Helper = "Print"      // Print(args ...any): the builtin
	Println    Helper = "Println"    // Println(args ...any): the builtin
	// InterfaceWords(x any) string: what the builtins print of variable x, of an interface type
	InterfaceWords Helper = "InterfaceWords"
)

// Methods of what the helpers return.
const (
	DefersDo       = "Do"       // Do(body func()): runs a function's body and then its deferred calls
	DefersPush     = "Push"     // Push(f func()): defers f
	DefersPushCall = "PushCall" // PushCall(call func()): defers what call calls
	// PushRecover(): defers a call of recover itself, which is as if the function that defers it called it at its end
	DefersPushRecover = "PushRecover"

	SelectDefault = "Default" // Default(): a case
	SelectSend    = "Send"    // Send(channel, value any): a case, of variables
	SelectRecv    = "Recv"    // Recv(channel any, into ...any): a case, of variables
	SelectDo      = "Do"      // Do() int: waits, and returns the number of the case
)

// Ordered returns the helper for one of the builtins min and max, of two operands of a basic type.
func Ordered(builtin, typ string) Helper { return Helper(builtin + "#" + typ) }

// helpers are the functions of the table.
func (rt *Runtime) helpers() map[Helper]any {
	table := map[Helper]any{
		Bind:     rt.bind,
		Show:     rt.show,
		Describe: rt.describe,
		Render:   rt.render,

		Assert:       rt.assert,
		Implements:   rt.implements,
		FailAssert:   rt.failAssert,
		IsNil:        rt.isNil,
		ReceiverHeld: rt.receiverHeld,
		Equal:        rt.equal,
		Holds:        rt.holds,
		Same:         func(a, b any) bool { return a == b },

		Native:         rt.native,
		Unbox:          rt.unbox,
		Hold:           rt.hold,
		Method:         rt.natives.addMethod,
		Implementation: rt.natives.addImplementation,

		NewDefers: rt.newDefers,
		Recover:   rt.recoverPanic,
		Forward:   rt.forward,
		NotNil:    rt.notNil,
		Go:        rt.goRun,
		NewSelect: rt.newSelect,
		Yield:     runtime.Gosched,

		Lock:        rt.lock,
		RLock:       rt.rlock,
		Wait:        rt.wait,
		WaitGo:      rt.waitGo,
		CondWait:    rt.condWait,
		CmdRun:      rt.cmdRun,
		CmdWait:     rt.cmdWait,
		CmdOutput:   rt.cmdOutput,
		CmdCombined: rt.cmdCombined,

		UnsafePointer:    unsafePointer,
		UnsafeOfUintptr:  unsafeOfUintptr,
		UnsafeUintptr:    unsafeUintptr,
		UnsafeAdd:        unsafeAdd,
		UnsafeSlice:      unsafeSlice,
		UnsafeSliceData:  unsafeSliceData,
		UnsafeString:     unsafeString,
		UnsafeStringData: unsafeStringData,

		LoggerAt: rt.logger,

		Enter: func(string, int, bool) {}, // what yaegi takes for it
		Leave: func(int) {},

		Code:    func(string, int) {},
		Pointer: rt.pointer,

		ShiftCount:     shiftCount,
		Misused:        misused,
		Room:           rt.room,
		Runes:          runesOf,
		Zero:           zero,
		Clear:          func(x any) { reflect.ValueOf(x).Clear() },
		Print:          printArgs,
		Println:        printlnArgs,
		InterfaceWords: rt.interfaceWords,
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
	table[Ordered("min", name)] = func(a, b T) T { return min(a, b) }
	table[Ordered("max", name)] = func(a, b T) T { return max(a, b) }
}

// exports is the package of the helpers.
func (rt *Runtime) exports() Exports {
	table := map[string]reflect.Value{}
	for name, function := range rt.helpers() {
		table[string(name)] = reflect.ValueOf(function)
	}
	return Exports{RuntimePath + "/runtime": table}
}
