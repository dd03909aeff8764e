// Package check says what a cell means: it parses cells, type-checks them and keeps what they define. It does not know how cells run; the interpreter, its help and
// package export all use its [Checker].
//
// # A cell
//
// Parse splits the source of a cell into its top-level items and parses it twice, with positions kept: imports, functions, types and constants as a file, everything
// else as the body of one function. A list of expressions at the end is parsed as the arguments of a call. Variable declarations with which a cell begins are put in
// the order of initialisation, as those of a package are, and init functions after them.
//
// Check checks declarations without the bodies of functions first, then the statements, then the bodies: so functions may use the variables that statements define.
// What a prompt permits and a compiler does not (unused variables, imports and labels, defining a variable again) is no error. A package that a cell uses without
// importing it is imported, if no other can be meant. A cell that fails leaves no trace; its [Failure] has what package help needs for a hint.
//
// Define makes what a checked cell defines part of the session. All cells are one package to go/types, so that they may use each other's fields and methods; the
// scope of that package is set anew for each check.
//
// # Packages
//
// The packages that cells import are built by reflection from the symbol tables that the interpreter runs with, see [Packages]. Tables have no generic functions and
// types; those of the standard library come from the sources of package generics. Generic declarations, of cells and of these sources, are kept as syntax together
// with what the names in them mean; Instantiate checks a copy of one for type arguments.
//
// A package of the module that a cell's file is in is read when go/types asks for it (load.go), as are those that it imports. It becomes a cell of a kind of its own, with
// a [types.Package] of its own, which [Cell.Packages] of the cell that imports it lists; the program of several files of which a cell calls the function main is another.
package check
