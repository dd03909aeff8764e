package contract

// Helper is the name of a function that lowered code can call and cells cannot. Lowered code imports
// these functions from a package of their own, RuntimePath.
type Helper string

// The helpers, in groups. Where a description says variable x, x is a pointer to the variable, because
// yaegi passes interfaces to compiled code without the types of the values in them. A key identifies a
// type that was registered with Note.
const (
	// Bind(name string, pointer any): pointer points to yaegi's variable of this name
	Bind Helper = "Bind"
	Show Helper = "Show" // Show(pointers ...any): the values of the cell's last expression, none for nil
	// Describe(i int, text func() string): value i is shown as what its method text returns
	Describe Helper = "Describe"
	// Render(values ...any): the values are shown in the display forms that they provide
	Render Helper = "Render"

	// Assert(x, v any, key string) bool: whether variable x holds a value of v's type, which has
	// the key; if so, sets variable v
	Assert Helper = "Assert"
	// Implements(x, v any, key string, methods ...string) bool: Assert for an interface type
	Implements   Helper = "Implements"
	FailAssert   Helper = "FailAssert"   // FailAssert(x any, from, to string, methods ...string): panics as x.(T) does
	IsNil        Helper = "IsNil"        // IsNil(x any) bool: whether variable x, of an interface type, is nil
	ReceiverHeld Helper = "ReceiverHeld" // ReceiverHeld(x any): panics if variable x is nil
	Equal        Helper = "Equal"        // Equal(a, b any) bool: == of two variables of interface types
	// Holds(a, v any) bool: whether variable a, of an interface type, holds v
	Holds Helper = "Holds"
	Same  Helper = "Same" // Same(a, b any) bool: == of two native values

	// Native(i, v any, key string): stores v as a native value in variable i, of an interface type
	Native Helper = "Native"
	// Unbox(i, box any): Native for the value in a variable of a cell's interface type
	Unbox Helper = "Unbox"
	Hold  Helper = "Hold" // Hold(i, v any): stores a copy of the struct v in variable i
	// Method(key, name string, fn any): registers a method of the type of key
	Method Helper = "Method"
	// Implementation(typ, iface string, into any): registers that the type implements the
	// interface; into converts
	Implementation Helper = "Implementation"

	NewDefers Helper = "NewDefers" // NewDefers() *defers: the deferred calls of a function
	Recover   Helper = "Recover"   // Recover() any: the builtin recover
	Forward   Helper = "Forward"   // Forward(): the calling function calls another one in its place
	NotNil    Helper = "NotNil"    // NotNil(x any): panics as panic(x) does if variable x is nil
	Go        Helper = "Go"        // Go(f func()): the go statement
	NewSelect Helper = "NewSelect" // NewSelect() *selection: the select statement
	Spin      Helper = "Spin"      // Spin(): nothing, in a loop that does nothing

	// Methods that wait, but no longer than until the cell is stopped.

	Lock        Helper = "Lock"        // Lock(m sync.Locker)
	RLock       Helper = "RLock"       // RLock(m *sync.RWMutex)
	Wait        Helper = "Wait"        // Wait(g *sync.WaitGroup)
	WaitGo      Helper = "WaitGo"      // WaitGo(g *sync.WaitGroup, f func())
	CondWait    Helper = "CondWait"    // CondWait(c *sync.Cond)
	CmdRun      Helper = "CmdRun"      // CmdRun(c *exec.Cmd) error
	CmdWait     Helper = "CmdWait"     // CmdWait(c *exec.Cmd) error
	CmdOutput   Helper = "CmdOutput"   // CmdOutput(c *exec.Cmd) ([]byte, error)
	CmdCombined Helper = "CmdCombined" // CmdCombined(c *exec.Cmd) ([]byte, error)

	// UnsafePointer(to, from any): sets variable to to the pointer in variable from; one of them is
	// an unsafe.Pointer
	UnsafePointer   Helper = "UnsafePointer"
	UnsafeOfUintptr Helper = "UnsafeOfUintptr" // UnsafeOfUintptr(n uintptr) unsafe.Pointer
	UnsafeUintptr   Helper = "UnsafeUintptr"   // UnsafeUintptr(p unsafe.Pointer) uintptr
	UnsafeAdd       Helper = "UnsafeAdd"       // UnsafeAdd(p unsafe.Pointer, n int64) unsafe.Pointer
	// UnsafeSlice(to, from any, n int64): sets variable to to the slice of n elements at the
	// pointer in variable from
	UnsafeSlice Helper = "UnsafeSlice"
	// UnsafeSliceData(to, from any): sets variable to to the pointer to the elements of the slice
	// in variable from
	UnsafeSliceData  Helper = "UnsafeSliceData"
	UnsafeString     Helper = "UnsafeString"     // UnsafeString(p *byte, n int64) string
	UnsafeStringData Helper = "UnsafeStringData" // UnsafeStringData(s string) *byte

	// LoggerAt(l *log.Logger, at int) *Logger: l, for a call at position at
	LoggerAt Helper = "LoggerAt"

	// enter#(name string, end int, top bool): the calling function begins; see package stacks
	Enter Helper = "enter#"
	// leave#(at int): the calling function is about to make its deferred calls, at position at
	Leave Helper = "leave#"

	// stop#(point int, variables ...any): the goroutine stands here if the debugger wants it to; see
	// stops.go
	StopAt Helper = "stop#"

	// code#(name string, at int): the function literal that begins with this call is the function
	// name, declared at position at; see functioncode.go
	Code Helper = "code#"
	// Pointer(v reflect.Value) uintptr: v.Pointer(), which for a function value identifies its
	// function
	Pointer Helper = "Pointer"

	ShiftCount Helper = "ShiftCount" // ShiftCount(n int64) uint64: n, unless it is negative
	// Misused(state int): panics because an iterator breaks the rules in this state
	Misused Helper = "Misused"
	// Room(n, each int64, what string) int64: n, if there is memory for n elements of each bytes
	Room    Helper = "Room"
	Runes   Helper = "Runes"   // Runes(s string) (at []int, runes []rune): for a range over s
	Zero    Helper = "Zero"    // Zero(v any): sets variable v to zero
	Clear   Helper = "Clear"   // Clear(x any): the builtin clear
	Print   Helper = "Print"   // Print(args ...any): the builtin print
	Println Helper = "Println" // Println(args ...any): the builtin println
	// InterfaceWords(x any) string: what print and println write for variable x, of an interface type
	InterfaceWords Helper = "InterfaceWords"
)

// Methods of the values that helpers return.
const (
	DefersDo       = "Do"       // Do(body func()): runs a function's body and then its deferred calls
	DefersPush     = "Push"     // Push(f func()): defers f
	DefersPushCall = "PushCall" // PushCall(call func()): defers the function that call calls
	// PushRecover(): defers a call of the builtin recover
	DefersPushRecover = "PushRecover"

	SelectDefault = "Default" // Default(): adds the default case
	SelectSend    = "Send"    // Send(channel, value any): adds a case that sends; both are variables
	// Recv(channel any, into ...any): adds a case that receives; all are variables
	SelectRecv = "Recv"
	SelectDo   = "Do" // Do() int: waits, and returns the number of the case
)

// Ordered returns the helper for the builtin min or max of two operands of a basic type.
func Ordered(builtin, typ string) Helper { return Helper(builtin + "#" + typ) }
