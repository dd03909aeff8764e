// Package values writes Go values as a session shows them: in Go syntax, with the names that the
// session has for types, long ones shortened and broken into lines, values of compiled types
// described by their own methods.
//
// The types of values are known in different ways: a session knows them from its checker, because
// yaegi's values do not know the names of their types; an exported program knows them by
// reflection. A [Printer] walks a value together with its type, which it inspects through an
// implementation of [Types].
//
// Compiled code may use its values on other threads meanwhile. They are shown by their own String
// or Error method if [Types] permits to call it, or else by their exported fields. Unexported fields,
// and the targets of pointers to such types, are never read.
package values
