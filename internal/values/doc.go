// Package values writes Go values as a session shows them: in Go syntax, with the names that the session has for types, long ones shortened and
// broken into lines, values of compiled types in their own words.
//
// Those who have values know their types in different ways: a session by its checker, because yaegi's values do not know what their types are called; a
// program that a session was exported to by reflection. A [Printer] walks a value together with what its owner knows of the value's type, which it asks
// for by an implementation of [Types].
//
// What belongs to compiled code may be used by it on other threads meanwhile. It is shown by its own String or Error method; without one, by its exported
// fields. Fields that are not exported, and what pointers to such types lead to, are never read.
package values
