// Package yaegi wraps the interpreter that runs cells and accesses the parts of its memory that it
// does not export. No other package of this program depends on that memory, so only this package
// has to change for a new release of yaegi or Go.
//
// # What it relies on
//
// Of yaegi, at Version: its structs have the fields in memory.go, with those names and offsets; its
// functions in functions.go have the parameters declared there; the kinds of nodes in memory.go and
// the generators in generators.go and steps.go (which are functions) have those names; a cell's
// value with the methods of a compiled interface is a struct whose first field is IValue.
//
// Of Go: a reflect.Value is a type, a pointer and a flag with the bits in values.go; slices and
// strings begin with a pointer and a length; an interface is a type followed by a value; functions
// of packages reflect and runtime in functions.go exist; arguments and results are passed by the
// convention in registers.go; MakeFunc allocates a struct that contains the given function. Two
// other packages rely on further internals of Go: named on type descriptors, and unexported on
// fields of structs in packages runtime, log and go/types. Each has its own checks.
//
// Open checks everything that can be checked, once per process (check.go): every field of every
// struct, the names of kinds and actions, a value, and a function that MakeFunc made. A difference
// is an error that names the version of yaegi and the field, and never a corrupted session. Only
// tests notice if a function has other parameters or a generator another name: the tests of package
// interp recognise this package's steps by their speed and by their panics. TestSignatures holds
// the calling convention.
//
// # A cell's life
//
// Package run compiles a cell with the Interpreter, walks its tree (Tree, Node), and replaces or
// wraps the steps of some nodes. Then yaegi makes the steps from the last of a function to the
// first, because a step refers to those that follow. A step of this package knows the places of its
// operands (Place), checks them in each Frame (Value), and runs yaegi's step in cases that it does
// not support. Run executes the statements, and Stop ends all running code. A function that a cell
// defines again replaces the old one (ReplaceFunction), and unneeded data is dropped (Settle, Drop,
// DropType, Forget).
//
// # Files
//
// In reading order: each file uses only those before it.
//
//	values.go        values of package reflect as they are in frames
//	memory.go        yaegi's structs
//	functions.go     yaegi's functions
//	check.go         the comparison with what is linked in
//	places.go        where operands are
//	interpreter.go   running and stopping
//	nodes.go         trees: what nodes are, and how their steps are made and replaced
//	generators.go    which operation a node is
//	symbols.go       packages that cells may import, and the names in the package of cells
//	bodies.go        bodies whose steps are made later
//	boxes.go         values in interfaces
//
// Steps of this package. Their functions are long and not factored out, because cells spend their
// time in them:
//
//	conversions.go   of numbers
//	arithmetic.go    x + y, x += y, x < y, of numbers
//	assignments.go   x = y, return, of numbers and bools
//	elements.go      x[i], x[i:j], len(x)
//	layout.go        the variables of a function
//	activations.go   reuse of frames
//	calls.go         calls of functions and methods of cells
//	literals.go      function literals, and calls of function values
//	registers.go     where operands of compiled functions are
//	trampolines*.go  calls with these operands
//	compiled.go      calls of compiled functions and methods
//	steps.go         which step is for which generator
package yaegi
