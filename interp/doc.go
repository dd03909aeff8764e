// Package interp implements one Go session on one rank. It evaluates cells of Go one after the
// other, and each cell sees the definitions of those before it.
//
// # A cell's life
//
// [Interp.Eval] passes a cell through the packages below this one. Each package depends only on
// those after it in this list:
//
//	interp         Interp puts the layers together: evaluate, inspect, print
//	  help         completion, documentation, hints for wrong cells
//	  lower        rewrites checked cells into the part of Go that yaegi runs correctly
//	  run          runs lowered cells: helpers that they call; starting, stopping, limits
//	  check        parses cells and type-checks them with go/types
//	  generics     the standard library's generic functions and types, as source
//	  symbols      tables of everything else that cells may import
//
// Package check parses the cell and checks it in the scope of earlier cells' definitions. A cell
// with errors has no effect at all.
//
// Package lower rewrites its syntax: code that yaegi would compute wrongly or cannot run is
// replaced, or refused with a message that suggests an alternative. Then yaegi compiles the result
// (compile.go). If yaegi rejects code that go/types accepted, the cell fails, too, and has no
// effect. From here on the session has the cell's definitions, whether the cell runs to its end or
// not.
//
// Packages of a module that a cell is the first to import are processed in the same way before the
// cell, each in its own scope, and initialised when the cell runs.
//
// Package run runs the compiled cell, and stops it when its context ends. A call of a function,
// method or closure of a cell takes about 50 ns, and of a compiled function 10 to 40. When a
// function or method is defined again with the same signature, its earlier callers call the new
// one. If a function's signature has changed, a note lists the callers that go on calling the old
// one. The value of the cell's last expression is printed (result.go), or the error gets its place
// in the text of the cell that caused it (failure.go). The text of a cell is kept as long as its
// code may run, and those of about the latest thousand cells for reports about them (texts.go).
//
// Beside it, package docs holds the documentation of the packages that cells import, and package
// export writes the cells of a session as a Go program.
//
// # Values in compiled code
//
// A value of a cell's type that is converted to an interface of compiled code, any included, has
// the type there that Go would give it: its name, fields and methods. Interfaces with methods that
// cells declare are printed, encoded and compared as the values in them, with two exceptions.
// Package reflect would see structs, so it refuses values and types that contain such interfaces.
// And if an unexported field of type any contains such a value, as payload may in struct{ payload
// any }, the value is printed as the interpreter stores it.
//
// When a type gets a method after values of it were converted to interfaces, type assertions still
// find the type in the older values, and these equal new ones. But they are different keys of a
// map[any]T, and different values to compiled code. If the new method makes the promotion of
// another method ambiguous, later cells get an error; code of earlier cells, and values that are
// already in interfaces, keep the promoted method.
//
// A value of an unnamed struct type loses its promoted methods when it is converted to any for
// compiled code, for example when it is printed.
//
// The error of a panic has the text that Go prints, including the panics in whose deferred calls
// the panic began. The exception is a struct, pointer, slice or map that is neither an error nor a
// Stringer: Go prints its address, and the session prints its value. The position of the error is
// that of the statement that code of cells began last; it may belong to another goroutine that ran
// meanwhile. If the position is in a function that a statement of the cell called, the detail gives
// the position of that statement.
//
// runtime.Caller, Callers, CallersFrames, FuncForPC and Stack of one goroutine, and debug.Stack,
// report the functions of cells, and the panic because of which a deferred call runs, beginning
// with the first cell that uses one of them. Functions defined before are not in the stacks, and
// calls in later functions cost more. Stacks do not contain compiled functions either, and
// functions of package runtime have no lines. The method Pointer of reflect.Value distinguishes
// function values, and FuncForPC names their functions, beginning with the first cell that calls
// Pointer; FuncForPC panics for a value that was made before. Profiles and counts of allocations
// are those of the interpreter, and values may be collected later than in a compiled program.
// Reading unmapped memory panics, while it ends a compiled program.
//
// When a function declared in a cell has an interface or a variadic parameter among its parameters
// and results, an argument of negative zero becomes zero, also in a struct or array that contains
// only zeros.
//
// # Interrupts
//
// When the context of a cell ends, interpreted code stops at its next step, and waits on channels
// and sleeps return. Eval waits until the cell's goroutines have ended before it restores the run
// number by which yaegi distinguishes live code from abandoned code. So closures made before remain
// usable, and no code of the interrupted cell goes on. The goroutines of earlier cells end too,
// except for those in a blocking compiled call. If a compiled call of the interrupted cell itself
// does not return, it goes on: the cell has ended and the next one runs, and the goroutine ends
// when the call returns, before any interpreted code runs (package run).
//
// # Help
//
// Completion, types and documentation come from the checker (package help). An error found by the
// check comes with a hint: a similar name, a signature, a conversion. If a cell uses a package
// without importing it and the name is unambiguous, the package is imported, with a note. The
// checked cell lists such imports, so that its text has the same meaning when it runs again.
//
// # Memory
//
// While code of cells runs, its use of memory is checked every few milliseconds. Endless recursion
// is stopped, earlier than in a Go program: about 100,000 calls of a function may be nested, and
// 15,000 of a function literal, method or callback. Endless recursion in compiled code, such as
// printing a map that contains itself, ends the process, as in Go; the session reports the reason.
// A cell is also stopped if its values take more than [Options].Memory or than the machine has. The
// builtin make, and Repeat of packages strings and bytes, panic for a value that does not fit.
// Other compiled code that allocates too much at once, such as an array of 1<<34 bytes, ends the
// process.
//
// Unreferenced values and functions are freed, and so are types whose names were defined again.
// Such a type leaves about 800 bytes in package reflect. If compiled code such as package fmt
// received its values as interfaces, the whole type stays. A cell takes as long in a session with
// thousands of definitions as in a new one.
//
// # Refused code
//
// The following code is refused, because yaegi cannot run it correctly: a slice, array or channel
// type that contains itself other than through a named struct or an interface; any other such type
// with methods or type parameters (function, map and pointer types without these are made for
// yaegi, see contract.Recursive); maps with keys of interface types of cells; the selection of a
// field if an embedded field of the same struct has a method with the same name; and reflection on
// interface types of cells. Arrays of more than 64 GiB are also refused.
package interp
