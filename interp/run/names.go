package run

import "regexp"

// TypeVersion stands before the number of a type that was declared again: a letter that nobody types.
const TypeVersion = "\u01c3"

var versionSuffix = regexp.MustCompile(`(#t?|` + TypeVersion + `)\d+`)

// PlainNames takes the marks out of a text that make the names of yaegi's symbols unique.
func PlainNames(s string) string { return versionSuffix.ReplaceAllString(s, "") }

// Import paths that lowered code uses and no cell can spell.
const (
	RuntimePath = "symmrepl#runtime"
	HiddenPath  = "symmrepl#hidden"
)

// Variables of yaegi's that no cell sees.
const (
	MarkVar = "position#" // the position of the statement that runs, for the position of a panic
	CallVar = "call#"     // that of the cell's own statement, which differs while a function runs that it has called
	BoxVar  = "box#"      // of an interface type, which shows what yaegi stores in those
	// How many deferred calls run because of a panic: only then a function that calls another in its place says so.
	PanickingVar = "panicking#"
)

// TypeTag is the key of the tag by which the structs of cells carry the names of their types in yaegi.
const TypeTag = "cell"
