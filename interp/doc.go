// Package interp is one Go session on one rank: cells of Go are evaluated one after the other, and each sees what those before it
// defined.
//
// # A cell's life
//
// A cell is split into its top-level items and parsed twice with positions kept: imports, functions, types and constants as a file
// (decls), everything else as the body of one function (stmts). Both are checked by go/types in a scope that holds what earlier
// cells defined; the packages that may be imported are built by reflection from the interpreter's own symbol tables. A cell that does
// not check has no effect at all.
//
// What checks is lowered: rewritten, as a syntax tree, into the part of Go that yaegi runs correctly. Variables of the cell's top level
// become package-level variables of yaegi's package main under names that no source can spell (x#1); a variable keeps its storage for
// as long as its type stays. Constants are folded. Everything that yaegi would compute wrongly or cannot run at all is
// rewritten, one file of this package for each rewrite, or refused with a sentence that names a way round.
//
// Then yaegi compiles the tree and runs it. Calling a function defined in a cell costs what it costs in yaegi; when a function or
// method is defined again with the same signature, its earlier callers get the new one.
//
// # Interrupts
//
// When the context of a cell ends, yaegi's interpreted code stops at its next step, waits on channels and sleeps return, and
// Eval waits for the cell's goroutines to leave before it restores the run number by which yaegi tells live code from
// abandoned code: closures made before stay usable and nothing of the interrupted cell goes on.
package interp
