// Package native makes the native types of a session. Yaegi's values do not know the names and methods
// of their types. When such a value is converted to an interface for compiled code, it gets a type made
// at run time, with the name, the fields and the methods that Go would give it (native.go). Yaegi
// represents an interface type with methods that a cell declares as a struct, called a box; boxes.go
// prints, encodes and compares a box as the value in it.
//
// The package runs no code of cells but their methods, and knows nothing of executions.
//
// In reading order: a file depends mostly on those before it.
//
//	equal.go             == of structs with blank fields
//	native.go            the types of a session, and the methods that they have
//	typenames.go, types.go, boxes.go, oldtypes.go   from a type of cells to a native one
//	values.go, assertions.go, reflection.go         conversions of values; assertions, ==, package reflect
//	recursion.go, recursivetypes.go                 types that contain themselves
package native
