// Package lower rewrites checked cells, as syntax trees, into the part of Go that yaegi runs correctly.
//
// Variables of a cell's top level become package-level variables of yaegi's package main under names that no source can spell (x#1); a variable keeps its storage
// for as long as its type stays. Functions that are defined again take the place of the old ones. Types whose name means something else now are dropped when nothing of the session refers to them. Constants are folded. Each use of a generic function or type with
// other type arguments becomes a function or type of its own. What yaegi computes wrongly or cannot run at all is rewritten, one file for each construct of Go, or
// refused with a sentence that says a way round.
//
// A [Program] is what yaegi has of the session. Lower adds a cell to it in two steps: the names and the storage of what the cell defines are chosen (definitions.go),
// then its syntax is rewritten by a lowerer (cell.go), which changes it in place. The result is what yaegi compiles. When that succeeds the cell is committed, and the
// checker and the program know its definitions; otherwise it is rolled back.
//
// Packages of modules are lowered as cells are, and are in yaegi's package main too: pkg.Name becomes Name before anything else is done (unqualify.go), and no names of
// the session mean what they declare.
//
// Where yaegi needs help while a cell runs, lowered code calls the helpers of package run by their names there. Before a statement that may panic it stores the
// statement's position, by which an error finds its place in the cell. Values that become interfaces of compiled code are converted to native ones (conversions.go).
package lower
