// Package trees compiles and executes programs, and changes the trees that yaegi compiles. It guards
// them: after each call, and at the beginning of each function of a cell, the code checks whether its
// execution was abandoned (guard.go).
//
// It also replaces yaegi's steps that store positions, compare, compute and assign numbers, index
// elements, and call functions. A case that such a step does not support runs yaegi's step. The walk of
// a compiled tree decides which nodes get one (guard.go, steps.go); the steps that touch memory are in
// package yaegi, those that record calls in package stacks, and those of the debugger in standing.
//
// The steps of a declared function are made when the function is first called (bodies.go). Yaegi
// has compiled it by then, so yaegi still rejects an invalid cell as a whole.
//
// In reading order: a file depends mostly on those before it.
//
//	trees.go             Trees, and what it needs of the runtime
//	entries.go           calls of helpers with which functions begin
//	functioncode.go      the functions behind function values
//	printing.go          the order of output of compiled functions
//	nilreceivers.go      panics of calls of methods of nil
//	elements.go          panics of x[i] and x[i:j]
//	steps.go             which nodes have steps of ours
//	guard.go             the walk
//	bodies.go            compiling and executing; bodies whose steps are made at their first call
package trees
