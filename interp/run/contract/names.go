package contract

import (
	"regexp"

	"github.com/traefik/yaegi/interp"
)

// Exports are symbol tables: by "import/path/name", then by identifier.
type Exports = interp.Exports

// TypeVersion precedes the number in the name of a type that was declared again. Package reflect
// requires a letter; no source uses this one.
const TypeVersion = "\u01c3"

// BlankField precedes the number in the name of a blank field.
const BlankField = "_" + TypeVersion

var versionSuffix = regexp.MustCompile(`(#t?|` + TypeVersion + `)\d+`)

// PlainNames removes from a text the additions that make names unique in yaegi.
func PlainNames(s string) string { return versionSuffix.ReplaceAllString(s, "") }

// Import paths that lowered code uses and no cell can spell.
const (
	RuntimePath = "symmrepl#runtime"
	HiddenPath  = "symmrepl#hidden"
)

// Yaegi's variables that no cell sees.
const (
	MarkVar = "position#" // the position of the statement that runs, for the position of a panic
	// the position of the cell's own statement, which differs from MarkVar while a function runs
	// that the statement has called
	CallVar = "call#"
	// a variable of an interface type; its type is the one that yaegi stores values in
	BoxVar = "box#"
	// The number of deferred calls that run because of a panic. Lowered code calls Forward only if
	// it is not 0.
	PanickingVar = "panicking#"
)

// TypeTag is the key of the field tag that holds the name in yaegi of a cell's struct type.
const TypeTag = "cell"

// UnnamedStruct is the name of the types that stand for an unnamed struct type.
const UnnamedStruct = "struct"
