// Package yaegi is the interpreter that runs cells, with the part of its memory that it has no exported way to. Nothing else of this program knows that memory: what
// the next release of yaegi or Go changes is to be found and mended here.
//
// # What it relies on
//
// Of yaegi, at Version: that its structs have the fields of memory.go, under those names and in those places; that its functions of functions.go have the parameters
// declared there; that the kinds of nodes of memory.go and the generators that generators.go and steps.go name, which are functions, are called so; that a value of a cell
// with the methods of a compiled interface is a struct whose first field is IValue.
//
// Of Go: that a reflect.Value is a type, a pointer and a flag with the bits of values.go; that a slice begins with a pointer and a length, and so does a string; that an
// interface has its type and its value behind each other; that there is reflect.unsafe_New. Two packages beside this one rely on more of Go: named on the
// descriptors of types, and unexported on fields of package runtime's, log's and go/types' structs. Each looks for itself.
//
// Open compares what can be compared, once in a process (check.go): every field of every struct, the names of kinds, and a value. What differs is an
// error that names the version of yaegi and the field, and never a corrupted session. That a function has other parameters, or a generator another name, shows in
// tests only: the tests of package interp hold the steps to be ours by their time and by their panics.
//
// # A cell's life
//
// Package run compiles a cell with the Interpreter, walks its tree (Tree, Node), and says which nodes get another step than yaegi's, which it wraps. Then yaegi makes
// the steps from the last of a function to the first, so that each knows those that follow; the steps of ours are made of yaegi's, know where their operands
// are (Place), look at them for each Frame (Value), and leave what they do not know to yaegi's. Run executes the statements, Stop ends all code that runs. What
// a cell defines again takes the place of what it was (ReplaceFunction), and what is not needed any more is dropped (Settle, Drop, DropType, Forget).
//
// # Files
//
// In the order to read them in: each uses those before it only.
//
//	values.go        values of package reflect as they are in frames
//	memory.go        yaegi's structs
//	functions.go     yaegi's functions
//	check.go         the comparison with what is linked in
//	places.go        where operands are
//	interpreter.go   running and stopping
//	nodes.go         trees: what nodes are, and how their steps are made and replaced
//	generators.go    which operation a node is
//	symbols.go       what names mean in the package of cells
//	bodies.go        bodies whose steps are made later
//	boxes.go         values in interfaces
//
// And the steps of ours, whose functions are whole here because they are what cells' time goes to:
//
//	conversions.go   of numbers
//	arithmetic.go    x + y, x += y, x < y, of numbers
//	assignments.go   x = y, return, of numbers and bools
//	elements.go      x[i], x[i:j], len(x)
//	layout.go        the variables of a function
//	activations.go   frames that are used again
//	calls.go         calls of functions and methods of cells
//	literals.go      function literals
//	steps.go         which step is for which generator
package yaegi
