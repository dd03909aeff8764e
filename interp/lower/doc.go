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
//
// # Rooms
//
// A lowerer is built in rooms: each is a struct with the state that it owns, and holds the one below it. The receiver of a method says which room it is in, and the
// compiler that it uses its own room and those below only.
//
//	lowerer    rewrites statements and expressions, which contain each other
//	marker     the function that is lowered: positions, stacks, deferred calls
//	declarer   what yaegi gets declared besides: converters, types for structs without a name, methods
//	builder    syntax: names, types, calls of helpers; notes what the cell needs for it
//	namer      what objects and types are called in yaegi
//	facts      what the checker knows of the cell; answers, and changes nothing
//
// Above the lowerer are instances.go, definitions.go and cell.go, which drive it. Below are the Program, which changes only when a cell is committed, but for the names that
// it gives out, and package typed, which knows types of Go and nothing else. A question that one construct alone asks is beside it, in the file of the construct.
//
// # Files
//
// In the order to read them in. Each uses those before it, but that what is in a statement or expression leads to the statements and expressions in it.
//
//	facts.go, faults.go, variableuse.go, kinds.go, evaluation.go, latecalls.go, promotion.go   questions: what may panic, in which order, what is kept
//	program.go           what yaegi has of the session
//	namer.go, recursivetypes.go, owntypes.go, typekeys.go    names, those of types, and keys that no two types share
//	builder.go, types.go     syntax, and that of types
//	constants.go, unqualify.go, forwarders.go
//	declarer.go, typedecls.go, typeorder.go, unnamedstructs.go, converters.go, implementations.go   declarations
//	marker.go, callstack.go, finish.go, uses.go     functions, and the names that they use
//	lowerer.go
//
// Expressions:
//
//	typesyntax.go, conversions.go, functions.go, methodvalues.go, shifts.go, conditions.go, comparisons.go
//	calls.go, loggers.go, builtins.go, unsafe.go, assertions.go
//	expressions.go       which leads to all of these
//
// Statements:
//
//	callorder.go, typespecs.go, assignments.go, variables.go, returns.go, switches.go, selects.go, for.go, rangefunc.go, range.go, labels.go, defers.go
//	statements.go        which leads to all of these
//
// What drives them:
//
//	instances.go         generic declarations, once for each list of type arguments
//	show.go              the value of the last expression
//	oldtypes.go, callers.go, definitions.go, cell.go, prelude.go   a cell from its names to its commit
package lower
