// Package interp is one Go session on one rank: cells of Go are evaluated one after the other, and each sees what those before it
// defined.
//
// # A cell's life
//
// A cell is split into its top-level items and parsed twice with positions kept: imports, functions, types and constants as a file
// (decls), everything else as the body of one function (stmts). Both are checked by go/types in a scope that holds what earlier
// cells defined; the packages that may be imported are built by reflection from the interpreter's own symbol tables (package symbols),
// and their generic functions and types, which no table can hold, from sources (package generics). A cell that does not check has no
// effect at all.
//
// What checks is lowered: rewritten, as a syntax tree, into the part of Go that yaegi runs correctly. Variables of the cell's top level
// become package-level variables of yaegi's package main under names that no source can spell (x#1); a variable keeps its storage for
// as long as its type stays. Constants are folded. Everything that yaegi would compute wrongly or cannot run at all is
// rewritten, one file of this package for each rewrite, or refused with a sentence that names a way round.
//
// Then yaegi compiles the tree and runs it. Calling a function defined in a cell costs what it costs in yaegi; when a function or
// method is defined again with the same signature, its earlier callers get the new one.
//
// # Values in compiled code
//
// A value of a cell's type that becomes an interface of compiled code, any included, has the type there that Go would give it: its name, its
// fields, its methods. Interfaces of cells that have methods are printed, encoded and compared as what they hold wherever they are, but two
// things remain. Package reflect, which would see structs, refuses values and types with such interfaces in them; and such a value is printed as
// the interpreter stores it where a field that is not exported holds it as an any, as payload does in struct{ payload any }.
//
// When a type gets a method after values of it became interfaces, those are asserted to the type as before and equal to new ones, but they are
// other keys of a map[any]T, and other values to compiled code.
//
// The error of a panic says what Go prints, also of panics in whose deferred calls it began, but for a struct, pointer, slice or map that is no
// error and no Stringer, of which Go prints the address: it is written as the value of a cell is. Its position is that of the statement that code
// of cells began last, which is one of another goroutine if that ran on meanwhile. If that is in a function which another statement of the cell
// called, the detail says at which the cell was. In a loop an index out of range is told without its value, unless it is in an argument of compiled
// code.
//
// A negative zero that is an argument of a function declared in a cell arrives there as zero, as do those in a struct or array that has nothing but
// zeros. Methods, function literals and compiled functions get it as it is.
//
// # Interrupts
//
// When the context of a cell ends, yaegi's interpreted code stops at its next step, waits on channels and sleeps return, and
// Eval waits for the cell's goroutines to leave before it restores the run number by which yaegi tells live code from
// abandoned code: closures made before stay usable and nothing of the interrupted cell goes on. The goroutines of earlier cells
// end too, but for those that a compiled call blocks.
//
// # Help
//
// Completion, types and documentation come from the checker. Source that ends in the middle is completed so that it parses, and checked as
// a cell is, errors or not. What a check refuses comes with a hint: what may have been meant, a signature, a conversion. A package that a
// cell uses without importing it is imported, with a note, if no other can be meant; such imports are among those of the checked cell, so
// that its text does the same when it runs again.
//
// # Memory
//
// While code of cells runs, the memory that it takes is looked at every few milliseconds. Recursion without end is stopped where a Go
// program would be ended: some 100,000 calls of a function may be nested, and 15,000 of a function literal, method or callback. A cell that
// takes what memory the machine has is stopped too, if it takes it step by step; a single value that is too large ends the process.
package interp
