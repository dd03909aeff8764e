// Package interp is one Go session on one rank: cells of Go are evaluated one after the other, and each sees what those before it
// defined.
//
// # A cell's life
//
// [Interp.Eval] takes a cell through the packages below this one, each of which knows only those after it:
//
//	interp         Interp puts the layers together: evaluate, inspect, print
//	  help         completion, documentation, hints at what was meant
//	  lower        rewrites checked cells into the part of Go that yaegi runs correctly
//	  run          runs them: what lowered code calls; starting, stopping, limits
//	  check        parses cells and says what they mean, by go/types
//	  generics     the standard library's generic functions and types, as source
//	  symbols      tables of all else that cells may import
//
// Package check parses the cell and checks it in the scope of what earlier cells defined. A cell that does not check has no effect at all.
//
// Package lower rewrites its syntax: what yaegi would compute wrongly or cannot run at all becomes something else, or is refused with a sentence that
// says a way round. Then yaegi compiles the result (compile.go). If it refuses what go/types accepted, that is an error of the cell, too, and the cell has no
// effect. From here on its definitions are those of the session, whether it runs to its end or not.
//
// The packages of a module that a cell is the first to import go the same way before it, each in a scope of its own, and are initialised when it runs.
//
// Package run runs the compiled cell, and stops it when its context ends. Calling a function defined in a cell costs what it costs in yaegi; when a function
// or method is defined again with the same signature, its earlier callers get the new one; when the signature of a function is another, a note says who goes on
// calling the one before. The value of the cell's last expression is printed (result.go), or the error is given its place in the text of the cell that caused it (failure.go). The text of a cell is kept as long as code of it may run (texts.go).
//
// Beside it, package docs holds the documentation of the packages that cells import, and package export writes the cells of a session as a Go program.
//
// # Values in compiled code
//
// A value of a cell's type that becomes an interface of compiled code, any included, has the type there that Go would give it: its name, its
// fields, its methods. Interfaces of cells that have methods are printed, encoded and compared as what they hold wherever they are, but two
// things remain. Package reflect, which would see structs, refuses values and types with such interfaces in them; and such a value is printed as
// the interpreter stores it where a field that is not exported holds it as an any, as payload does in struct{ payload any }.
//
// When a type gets a method after values of it became interfaces, those are asserted to the type as before and equal to new ones, but they are
// other keys of a map[any]T, and other values to compiled code. If that makes a promotion of another method ambiguous, later cells are told so; code of earlier
// ones, and values that are in interfaces already, keep the method that they had.
//
// A struct type without a name does not promote methods to values of type any in compiled code, such as those that are printed.
//
// The error of a panic says what Go prints, also of panics in whose deferred calls it began, but for a struct, pointer, slice or map that is no
// error and no Stringer, of which Go prints the address: it is written as the value of a cell is. Its position is that of the statement that code
// of cells began last, which is one of another goroutine if that ran on meanwhile. If that is in a function which another statement of the cell
// called, the detail says at which the cell was.
//
// runtime.Caller, Callers, CallersFrames, FuncForPC and Stack of one goroutine, and debug.Stack, tell of the functions of cells, with the panic under which a deferred
// call runs, from the cell on that is the first to use one of them: functions defined before are not in the stacks, and what later ones call costs more. Compiled
// functions are not in them either, those of package runtime have no lines. The method Pointer of a reflect.Value tells function values apart, and FuncForPC names
// their functions, from the first cell on that calls it; FuncForPC of a value that was made before panics.
// Profiles and counts of allocations are of the interpreter, and values may be collected later than in a compiled program. Memory that is not mapped panics when it
// is read, where a program ends.
//
// A negative zero that is an argument of a function declared in a cell arrives there as zero if the function has interfaces or a variadic parameter
// among its parameters and results, as do those in a struct or array that has nothing but zeros.
//
// # Interrupts
//
// When the context of a cell ends, yaegi's interpreted code stops at its next step, waits on channels and sleeps return, and
// Eval waits for the cell's goroutines to leave before it restores the run number by which yaegi tells live code from
// abandoned code: closures made before stay usable and nothing of the interrupted cell goes on. The goroutines of earlier cells
// end too, but for those that a compiled call blocks. A compiled call of the interrupted cell itself that does not return is
// left alone: the cell has ended, the next one runs, and the goroutine ends when the call returns, before interpreted code
// goes on (package run).
//
// # Help
//
// Completion, types and documentation come from the checker (package help). What a check refuses comes with a hint: what may have been meant, a signature, a conversion. A package that a
// cell uses without importing it is imported, with a note, if no other can be meant; such imports are among those of the checked cell, so
// that its text does the same when it runs again.
//
// # Memory
//
// While code of cells runs, the memory that it takes is looked at every few milliseconds. Recursion without end is stopped, earlier than
// in a Go program: some 100,000 calls of a function may be nested, and 15,000 of a function literal, method or callback. That of compiled
// code, such as printing a map that contains itself, ends the process, as in Go; the session says why. A cell whose
// values take more than [Options].Memory is stopped too, or what memory the machine has; so is make, and Repeat of strings and bytes, of a single value for which
// there is no room. What other compiled code allocates at once, such as an array of 1<<34 bytes, ends the process.
//
// What nothing refers to any more is freed: values, functions, and types whose name means something else now. Of such a type stays what package reflect
// keeps, some 800 bytes; of one whose values became interfaces of compiled code, as those that are printed by package fmt do, all stays. A cell takes as long
// in a session that has defined thousands of names as in a new one.
//
// # What is refused
//
// A slice, array or channel type that contains itself, if not through a named struct or an interface, is refused, and so is any other type that does and has methods,
// or type parameters: yaegi has no such types, but for functions, maps and pointers, which are made for it (run.Recursive). So are maps with
// keys of interface types of cells, the selection of a field that has a method of its name in a field embedded beside it, and what reflection would show of
// interface types of cells. So are arrays of more than 64 GiB.
package interp
