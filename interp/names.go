package interp

import "regexp"

// typeVersion stands before the number of a type that was declared again: a letter that nobody types.
const typeVersion = "\u01c3"

var versionSuffix = regexp.MustCompile(`(#t?|` + typeVersion + `)\d+`)

// plainNames takes the marks out of a text that make the names of yaegi's symbols unique.
func plainNames(s string) string { return versionSuffix.ReplaceAllString(s, "") }
