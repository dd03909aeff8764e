// Package check parses and type-checks cells, and keeps their definitions. It does not know how
// cells run. The interpreter, its help and package export all use its [Checker].
//
// # A cell
//
// Parse splits the source of a cell into its top-level items and parses it twice, with positions
// kept: imports, functions, types and constants as a file, everything else as the body of one
// function. A list of expressions at the end is parsed as the arguments of a call. Variable
// declarations at the beginning of a cell are put in the order of initialisation, like those of a
// package, followed by init functions.
//
// Check checks declarations without the bodies of functions first, then the statements, then the
// bodies. So functions may use the variables that statements define. Some errors of a compiler are
// permitted at a prompt: unused variables, imports and labels, and defining a variable again. If a
// cell uses a package without importing it and the name is unambiguous, the package is imported. A
// cell that fails leaves no trace; its [Failure] has the data that package help needs for a hint.
//
// Define adds the definitions of a checked cell to the session. For go/types, all cells are one
// package, so that they may use each other's fields and methods; the scope of that package changes
// for each check.
//
// # Packages
//
// The packages that cells import are built by reflection from the symbol tables that the
// interpreter runs with, see [Packages]. Tables have no generic functions and types; those of the
// standard library come from the sources of package generics. Generic declarations, of cells and of
// these sources, are kept as syntax together with the objects that the names in them refer to.
// Instantiate checks a copy of a declaration for type arguments.
//
// If a cell's file is in a module, packages of the module are read when go/types asks for them
// (load.go), including packages that these import. Such a package becomes a [Cell] with a separate
// [types.Package], which is listed in [Cell.Packages] of the importing cell. A program of several
// files, whose function main a cell calls, is also such a package.
package check
