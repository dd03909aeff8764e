package run

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/named"
)

// TypeVersion precedes the number in the name of a type that was declared again. It is a letter, for reflection, that no source has.
const TypeVersion = "\u01c3"

// BlankField precedes the number in the name of a blank field.
const BlankField = "_" + TypeVersion

// isBlankField reports whether a field is blank, by its name in yaegi's types, which exports all.
func isBlankField(name string) bool { return strings.HasPrefix(name, "X"+BlankField) }

// mendEqual makes == of a struct type with blank fields, or of one that has such in it, leave them out.
func mendEqual(t reflect.Type) { named.MendEqual(t, isBlankField) }

var versionSuffix = regexp.MustCompile(`(#t?|` + TypeVersion + `)\d+`)

// PlainNames removes from a text what makes names unique in yaegi.
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
	// The number of deferred calls that run because of a panic: only while there are any, lowered code calls Forward.
	PanickingVar = "panicking#"
)

// TypeTag is the key of the field tag that holds the name in yaegi of a cell's struct type.
const TypeTag = "cell"
