// Package lower rewrites checked cells, as syntax trees, into the part of Go that yaegi runs
// correctly.
//
// Variables of a cell's top level become package-level variables of yaegi's package main under
// names that no source can spell (x#1). A variable that is defined again with the same type keeps
// its storage, and a function that is defined again replaces the old one. When a type's name is
// defined again, the old type is dropped once nothing in the session refers to it. Constants are
// folded. Each use of a generic function or type with other type arguments becomes a function or
// type of its own. Code that yaegi computes wrongly or cannot run is rewritten, with one file for
// each construct of Go, or refused with a message that suggests an alternative.
//
// A [Program] holds the session's objects, with their names in yaegi. Lower adds a cell to it in
// two steps: it chooses names and storage for the cell's definitions (definitions.go), and then a
// lowerer rewrites the syntax in place (cell.go). Yaegi compiles the result. If that succeeds, the
// cell is committed, and the checker and the program know its definitions; otherwise it is rolled
// back.
//
// Packages of modules are lowered like cells, and their declarations also become part of yaegi's
// package main: pkg.Name becomes Name before anything else is done (unqualify.go). Names of the
// session never refer to these declarations.
//
// Where yaegi needs help while a cell runs, lowered code calls the helpers of package run by name.
// Before a statement that may panic, it stores the statement's position, so that an error can
// report its place in the cell. Values that are converted to interfaces of compiled code become
// native values (conversions.go).
//
// # Parts
//
// A lowerer is built of parts. Each part is a struct that owns some state and embeds the part
// below. The receiver of a method says which part the method belongs to, so the compiler checks
// that it uses only its own part and those below. All methods of a file have one receiver.
//
//	lowerer    rewrites statements and expressions, which contain each other
//	marker     state of the function that is being lowered: positions, stacks, deferred calls
//	declarer   additional declarations for yaegi: converters, types for unnamed structs, methods
//	builder    makes syntax: names, types, calls of helpers; records what the cell needs for it
//	namer      the names of objects and types in yaegi
//	facts      questions that the checker's results answer; changes nothing
//
// Above the lowerer are instances.go, definitions.go and cell.go, which drive it. Below it are the
// Program, which (except for its counters of names) changes only when a cell is committed, and
// package typed, which knows only types of Go.
//
// # Files
//
// In reading order. A file uses those before it; the exception is that statements and expressions
// contain each other.
//
//	facts.go, faults.go, variableuse.go, kinds.go, evaluation.go, constructs.go, latecalls.go, promotion.go   facts: questions
//	program.go           what yaegi knows about the session
//	namer.go, recursivetypes.go, owntypes.go, typekeys.go    namer: names of objects and types, and a unique key for each type
//	builder.go, types.go     builder: making syntax, also for types
//	constants.go, unqualify.go, instantiate.go, signatures.go, forwarders.go, loops.go, loggers.go   builder: for single constructs
//	declarer.go, typedecls.go, typeorder.go, unnamedstructs.go, converters.go, implementations.go, branches.go   declarer: declarations
//	function.go          a function body that is being lowered
//	marker.go, callstack.go, finish.go, uses.go, counters.go, stops.go    marker: functions, and uses of names
//	lowerer.go
//
// Expressions:
//
//	typesyntax.go, conversions.go, functions.go, methodvalues.go, shifts.go, conditions.go, comparisons.go
//	calls.go, elements.go, builtins.go, unsafe.go, assertions.go
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
//	toplevel.go          the statements and declarations of a cell
//	references.go, oldtypes.go, callers.go, definitions.go, cell.go, prelude.go   a cell from its names to its commit
package lower
